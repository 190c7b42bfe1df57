// The commands that wait against a plain list, in whatever order they are answered, forgotten and given up; and the order in which they expire.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Command } from '../protocol/command.ts';
import { type Message, noHeaders, noPayload } from '../protocol/message.ts';
import { ConnectionError } from './errors.ts';
import { PendingCommands } from './pending-commands.ts';

const TIMEOUT_MS = 100;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

function message(id: string, fields: Partial<Message> = {}): Message {
  return {
    version: 1,
    command: Command.PublishAck,
    id,
    queue: '',
    payload: noPayload,
    headers: noHeaders,
    errorCode: '',
    errorMessage: '',
    endAt: 0,
    ...fields,
  };
}

/** Notes what becomes of each command. */
class Waiting {
  readonly commands = new PendingCommands(TIMEOUT_MS);
  readonly outcomes: string[] = [];

  add(id: string, hasChosenId = false): void {
    this.commands.add({
      id,
      hasChosenId,
      command: Command.Publish,
      queue: 'orders',
      answer: Command.PublishAck,
      handleAnswer: (answer) => void this.outcomes.push(`answered ${answer.id}`),
      handleFailure: ({ code }) => void this.outcomes.push(`failed ${id} ${code}`),
    });
  }
}

type Move = { readonly kind: 'add' | 'answer' | 'forget' | 'give up'; readonly which: number };

const moves = fc.array(
  fc.record<Move>({
    kind: fc.constantFrom('add', 'add', 'answer', 'answer', 'forget', 'give up'),
    // Mostly the oldest, as brokers answer.
    which: fc.oneof({ weight: 2, arbitrary: fc.constant(0) }, fc.nat(9)),
  }),
  { maxLength: 60, size: 'max' },
);

describe('the commands that wait for an answer', () => {
  it('are settled by the answer with their id, whatever its order, and fail in theirs [CLIENT-036]', () => {
    fc.assert(
      fc.property(moves, (sequence) => {
        const waiting = new Waiting();
        let pending: string[] = [];
        const expected: string[] = [];
        for (const [index, { kind, which }] of sequence.entries()) {
          const id = pending[which % Math.max(1, pending.length)];
          if (kind === 'add') {
            waiting.add(`c${index}`);
            pending.push(`c${index}`);
          } else if (id !== undefined) {
            if (kind === 'forget') waiting.commands.remove(id);
            else if (kind === 'give up') waiting.commands.giveUp(id);
            else {
              expected.push(`answered ${id}`);
              expect(waiting.commands.settle(message(id))).toBe(true);
            }
            pending = pending.filter((other) => other !== id);
          }
          expect(waiting.outcomes).toEqual(expected);
        }
        waiting.commands.failAll(new ConnectionError('CONNECTION_ENDED', 'it ended'));
        expect(waiting.outcomes.slice(expected.length)).toEqual(
          pending.map((id) => `failed ${id} CONNECTION_ENDED`),
        );
        expect(vi.getTimerCount()).toBe(0);
      }),
    );
  });

  it('expire in the order in which they were sent, each after its time [CLIENT-009]', () => {
    const waiting = new Waiting();
    for (const id of ['a', 'b', 'c']) {
      waiting.add(id);
      vi.advanceTimersByTime(30);
    }
    expect(waiting.commands.settle(message('b'))).toBe(true);
    waiting.add('d');
    vi.advanceTimersByTime(10);
    expect(waiting.outcomes).toEqual(['answered b', 'failed a COMMAND_TIMEOUT']);
    vi.advanceTimersByTime(60);
    expect(waiting.outcomes.slice(2)).toEqual(['failed c COMMAND_TIMEOUT']);
    vi.advanceTimersByTime(30);
    expect(waiting.outcomes.slice(3)).toEqual(['failed d COMMAND_TIMEOUT']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('take a late answer once, and no answer to what nobody sent', () => {
    const waiting = new Waiting();
    waiting.add('a');
    waiting.add('b');
    waiting.commands.giveUp('b');
    const late = ['b', 'b', 'other'].map((id) => waiting.commands.settle(message(id)));
    expect({ late, outcomes: waiting.outcomes }).toEqual({ late: [true, false, false], outcomes: [] });
  });

  it('are not settled by an answer of another kind, but fail by an Error [CLIENT-036]', () => {
    const waiting = new Waiting();
    waiting.add('a');
    expect(waiting.commands.settle(message('a', { command: Command.Pong }))).toBe(false);
    const refusal = message('a', { command: Command.Error, errorCode: 'QUEUE_FULL', errorMessage: 'it is' });
    expect(waiting.commands.settle(refusal)).toBe(true);
    expect(waiting.outcomes).toEqual(['failed a QUEUE_FULL']);
  });

  it('have no chosen id twice, but may have it again', () => {
    const waiting = new Waiting();
    waiting.add('other');
    waiting.add('mine', true);
    expect(() => waiting.add('mine', true)).toThrow('a command with the id "mine" is under way');
    waiting.commands.settle(message('mine'));
    waiting.add('mine', true);
    waiting.commands.settle(message('mine'));
    expect(waiting.outcomes).toEqual(['answered mine', 'answered mine']);
  });
});
