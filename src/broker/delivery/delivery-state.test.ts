// The life of a delivery as a table: the transitions that must be there, that an ended one stays so, and that any other throws.

import { describe, expect, it } from 'vitest';
import {
  type DeliveryEvent,
  type DeliveryState,
  deliveryTransition,
  deliveryTransitions,
} from './delivery-state.ts';

const states = Object.keys(deliveryTransitions) as DeliveryState[];
const events: readonly DeliveryEvent[] = ['pause', 'hold', 'resend', 'end'];

function reached(from: DeliveryState, ...path: DeliveryEvent[]): DeliveryState {
  return path.reduce(deliveryTransition, from);
}

describe('the life of a delivery', () => {
  it('goes through the pause to the next attempt', () => {
    expect(reached('sent', 'pause', 'resend')).toBe('sent');
  });

  it('waits for a connection that takes no frames', () => {
    expect(reached('sent', 'pause', 'hold')).toBe('overdue');
    expect(reached('overdue', 'resend', 'pause')).toBe('paused');
  });

  it('can end at any time, and once', () => {
    for (const state of states) {
      if (state !== 'ended') expect(deliveryTransition(state, 'end')).toBe('ended');
    }
    expect(deliveryTransitions.ended).toEqual({});
  });

  it.each(states)('throws for what cannot happen to a delivery that is %s', (state) => {
    for (const event of events) {
      const next = deliveryTransitions[state][event];
      if (next === undefined) {
        expect(() => deliveryTransition(state, event)).toThrow(`that is ${state} cannot ${event}`);
      } else expect(deliveryTransition(state, event)).toBe(next);
    }
  });
});
