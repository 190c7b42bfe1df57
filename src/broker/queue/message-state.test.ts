// The life of a message as a table: the ways that must be there, that final states are final, and that any other way throws.

import { describe, expect, it } from 'vitest';
import { type MessageEvent, type MessageState, transition, transitions } from './message-state.ts';

const states = Object.keys(transitions) as MessageState[];
const finalStates = states.filter((state) => Object.keys(transitions[state]).length === 0);
const events = [...new Set(states.flatMap((state) => Object.keys(transitions[state])))] as MessageEvent[];

/** Where these events lead to, one after the other, from a state. */
function reached(from: MessageState, ...path: MessageEvent[]): MessageState {
  return path.reduce(transition, from);
}

describe('the life of a message', () => {
  it('goes from publish to ack', () => {
    expect(reached('blocked', 'admit', 'deliver', 'acknowledge')).toBe('acknowledged');
  });

  it('goes through the pause to the next attempt, or to an ack', () => {
    expect(reached('waiting', 'deliver', 'pause', 'resend')).toBe('inFlight');
    expect(reached('waiting', 'deliver', 'pause', 'acknowledge')).toBe('acknowledged');
  });

  it('goes back to waiting from a connection that ends', () => {
    expect(reached('waiting', 'deliver', 'release')).toBe('waiting');
    expect(reached('waiting', 'deliver', 'pause', 'release')).toBe('waiting');
  });

  it('goes through a backoff when its deliveries are interrupted repeatedly', () => {
    expect(reached('waiting', 'deliver', 'release', 'backOff')).toBe('backingOff');
    expect(reached('backingOff', 'endBackoff', 'deliver')).toBe('inFlight');
  });

  it('is partly sent until no copy is unsent', () => {
    expect(reached('waiting', 'deliverPartly', 'deliverRest', 'acknowledge')).toBe('acknowledged');
    expect(reached('waiting', 'deliverPartly', 'cancelRest', 'drop')).toBe('dropped');
  });

  it('can end from every state that is not final, in two events at most', () => {
    for (const state of states) {
      if (finalStates.includes(state)) continue;
      const next = Object.values(transitions[state]).flatMap((one) => [
        one,
        ...Object.values(transitions[one]),
      ]);
      expect(next.some((one) => finalStates.includes(one))).toBe(true);
    }
  });

  it.each(states)('throws for what cannot happen to a message that is %s', (state) => {
    for (const event of events) {
      const next = transitions[state][event];
      if (next === undefined)
        expect(() => transition(state, event)).toThrow(`that is ${state} cannot ${event}`);
      else expect(transition(state, event)).toBe(next);
    }
  });
});
