// Turns among connections, the order within each, and that no input is lost.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ConnectionId, Input } from '../../broker/interface/input.ts';
import { InputQueue } from './input-queue.ts';

function ping(connection: ConnectionId, number: number): Input {
  return { kind: 'queueInfo', connection, token: number, queue: 'q' };
}

function filled(...inputs: readonly Input[]): InputQueue {
  const queue = new InputQueue();
  for (const input of inputs) queue.push(input);
  return queue;
}

function series(connection: ConnectionId, count: number): readonly Input[] {
  return Array.from({ length: count }, (_, number) => ping(connection, number));
}

describe('the inputs that wait', () => {
  it('are taken in the order of their arrival within a connection, and none is lost or taken twice', () => {
    const step = fc.oneof(
      fc.record({ push: fc.integer({ min: 1, max: 4 }), count: fc.integer({ min: 1, max: 80 }) }),
      fc.record({ take: fc.integer({ min: 1, max: 120 }) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const queue = new InputQueue();
        const pushed = new Map<number, Input[]>();
        const taken = new Map<number, Input[]>();
        const keep = (all: Map<number, Input[]>, input: Input | undefined) => {
          if (input?.kind === 'queueInfo')
            all.set(input.connection, [...(all.get(input.connection) ?? []), input]);
        };
        let number = 0;
        for (const one of steps) {
          if ('take' in one) for (let left = one.take; left > 0; left -= 1) keep(taken, queue.take());
          else
            for (let left = one.count; left > 0; left -= 1) {
              const input = ping(one.push, number++);
              queue.push(input);
              keep(pushed, input);
            }
        }
        for (const input of queue.takeAll()) keep(taken, input);
        expect(queue.length).toBe(0);
        expect(queue.take()).toBeUndefined();
        for (const [connection, inputs] of pushed) expect(taken.get(connection)).toEqual(inputs);
      }),
    );
  });

  it('keep the order of their arrival while no connection has many of them', () => {
    const inputs = [
      ping(1, 0),
      ping(2, 0),
      ping(1, 1),
      { kind: 'tick' } as const,
      ...series(3, 32),
      ping(2, 1),
    ];
    expect(filled(...inputs).takeAll()).toEqual(inputs);
    const queue = filled(...inputs);
    expect(inputs.map(() => queue.take())).toEqual(inputs);
  });

  it('of one connection wait for 32 of each other, and not for all that the others have sent', () => {
    const queue = filled(...series(1, 10_000), ...series(2, 10_000), ping(3, 0));
    const before = queue.takeAll().findIndex((input) => 'connection' in input && input.connection === 3);
    expect(before).toBe(64);
  });

  it('of the broker itself wait for no later round', () => {
    const queue = filled(...series(1, 100), { kind: 'drain' });
    expect(queue.takeAll()[32]).toEqual({ kind: 'drain' });
  });

  it('are taken in turns from 1000 connections', () => {
    const queue = new InputQueue();
    const all = Array.from({ length: 1000 }, (_, index) => index + 1);
    for (const connection of all) for (const input of series(connection, 33)) queue.push(input);
    const first = Array.from({ length: 32_000 }, () => queue.take());
    expect(first.every((input) => input?.kind === 'queueInfo' && input.token !== 32)).toBe(true);
    expect(queue.takeAll()).toEqual(all.map((connection) => ping(connection, 32)));
  });
});
