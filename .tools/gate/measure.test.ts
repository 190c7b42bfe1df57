// A measurement with sides of the test's own: in which order they work, and what becomes of a side that fails.
import { describe, expect, it } from 'vitest';
import { measureRows, type StartSide } from './measure.ts';
import type { GateRow } from './rows.ts';
import { SideFault } from './side-process.ts';

const row = (name: string, payloadBytes: number): GateRow => ({
  ...{ name, payloadBytes, subscriberCount: 1, windowCount: 8 },
  ...{ brokerTurnCount: 1, skeletonTurnCount: 3 },
});

type Log = { readonly started: string[]; readonly asked: string[]; stoppedCount: number };

/** A broker takes 4 ms for a turn and a skeleton 1 ms. At the payload 13 the broker fails. */
function sides(log: Log): StartSide {
  return async (name) => {
    log.started.push(name);
    return {
      ask: async ({ payloadBytes, turnCount, windowCount }) => {
        log.asked.push(name);
        if (payloadBytes === 13 && name === 'broker') throw new SideFault('it ended');
        const turnsMs = Array.from({ length: turnCount }, () => (name === 'broker' ? 4 : 1));
        return { messageCount: turnCount * windowCount, turnsMs };
      },
      stop: () => {
        log.stoppedCount += 1;
      },
    };
  };
}

const emptyLog = (): Log => ({ started: [], asked: [], stoppedCount: 0 });

describe('a measurement', () => {
  it('lets broker and skeleton work in turns, in new processes for each round and row, and ends them', async () => {
    const log = emptyLog();
    const [measured] = await measureRows([row('a', 1)], sides(log));
    expect(measured).toMatchObject({ name: 'a', ratio: 4 });
    expect(measured?.messageCount).toBe(6 * 24 * 8);
    expect(log.asked.slice(0, 4)).toEqual(['broker', 'skeleton', 'broker', 'skeleton']);
    expect(log.started).toHaveLength(12);
    expect(log.stoppedCount).toBe(12);
  });

  it('gives no ratio to a row whose side fails, and measures the others', async () => {
    const log = emptyLog();
    const measured = await measureRows([row('a', 1), row('b', 13), row('c', 2)], sides(log));
    expect(measured.map(({ name, ratio, fault }) => [name, ratio, fault])).toEqual([
      ['a', 4, undefined],
      ['b', undefined, 'it ended'],
      ['c', 4, undefined],
    ]);
    expect(log.stoppedCount).toBe(log.started.length);
  });

  it('makes fewer rounds on a slow machine, and not too few', async () => {
    const log = emptyLog();
    let nowMs = 0;
    await measureRows([row('a', 1)], sides(log), () => {
      nowMs += 60_000;
      return nowMs;
    });
    expect(log.started).toHaveLength(8);
  });

  it('ends with a fault that is of the gate itself', async () => {
    const broken: StartSide = () => Promise.reject(new TypeError('not a side'));
    await expect(measureRows([row('a', 1)], broken)).rejects.toThrow('not a side');
  });
});
