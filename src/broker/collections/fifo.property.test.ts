// The fifo against an array, and what it keeps.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../testing/property-runs.ts';
import { Fifo } from './fifo.ts';

describe('Fifo', () => {
  it('does what an array does, however many are pushed and taken', () => {
    const step = fc.record({ pushed: fc.nat(1500), taken: fc.nat(1500) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
        const fifo = new Fifo<number>();
        const expected: number[] = [];
        let next = 0;
        for (const { pushed, taken } of steps) {
          for (let count = 0; count < pushed; count += 1) {
            fifo.push(next);
            expected.push(next);
            next += 1;
          }
          expect(Array.from({ length: taken }, () => fifo.shift())).toEqual(
            Array.from({ length: taken }, () => expected.shift()),
          );
          expect([fifo.size, fifo.first()]).toEqual([expected.length, expected[0]]);
        }
      }),
      { numRuns: runsOf(40) },
    );
  });

  it('has nothing to give when it is empty, and goes on afterwards', () => {
    const fifo = new Fifo<string>();
    expect([fifo.shift(), fifo.first(), fifo.size]).toEqual([undefined, undefined, 0]);
    fifo.push('a');
    expect([fifo.shift(), fifo.shift(), fifo.size]).toEqual(['a', undefined, 0]);
  });
});
