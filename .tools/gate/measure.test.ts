// A measurement with sides of the test's own: in which order they work, and what becomes of a side that fails.
import { describe, expect, it } from 'vitest';
import { type Measurement, measureRows, type StartSide, withKept, withoutKept } from './measure.ts';
import type { GateRow } from './rows.ts';
import { SideFault, type SideName } from './side-process.ts';

const row = (name: string, payloadBytes: number): GateRow => ({
  ...{ name, payloadBytes, subscriberCount: 1, windowCount: 8 },
  ...{ brokerTurnCount: 1, skeletonTurnCount: 3 },
});

type Log = { readonly started: string[]; readonly asked: string[]; stoppedCount: number };

const turnMs: Record<SideName, number> = { broker: 4, kept: 3.2, skeleton: 1 };

/** At the payload 13 the broker fails, and at 14 the kept broker does nothing. */
function sides(log: Log): StartSide {
  return async (name) => {
    log.started.push(name);
    return {
      ask: async ({ payloadBytes, turnCount, windowCount }) => {
        log.asked.push(name);
        if (payloadBytes === 13 && name === 'broker') throw new SideFault('it ended');
        if (payloadBytes === 14 && name === 'kept') return { messageCount: 0, turnsMs: [] };
        const turnsMs = Array.from({ length: turnCount }, () => turnMs[name]);
        return { messageCount: turnCount * windowCount, turnsMs };
      },
      stop: () => {
        log.stoppedCount += 1;
      },
    };
  };
}

const measure = (log: Log, rows: readonly GateRow[], more: Partial<Measurement> = {}) =>
  measureRows({ rows, startSide: sides(log), sides: withoutKept, ...more });

const emptyLog = (): Log => ({ started: [], asked: [], stoppedCount: 0 });

describe('a measurement', () => {
  it('lets broker and skeleton work in turns, in new processes for each round and row, and ends them', async () => {
    const log = emptyLog();
    const [measured] = await measure(log, [row('a', 1)]);
    expect(measured).toMatchObject({ name: 'a', ratio: 4 });
    expect(measured?.messageCount).toBe(6 * 24 * 8);
    expect(log.asked.slice(0, 4)).toEqual(['broker', 'skeleton', 'skeleton', 'broker']);
    expect(log.started).toHaveLength(12);
    expect(log.stoppedCount).toBe(12);
  });

  it('compares with the kept broker if there is one', async () => {
    const log = emptyLog();
    const [measured] = await measure(log, [row('a', 1)], { sides: withKept });
    expect(measured).toMatchObject({ ratio: 4, change: 0.25 });
    expect(log.asked.slice(0, 6)).toEqual(['broker', 'kept', 'skeleton', 'skeleton', 'kept', 'broker']);
    expect(log.stoppedCount).toBe(18);
  });

  it('gives no ratio to a row of which the kept broker did nothing', async () => {
    const [measured] = await measure(emptyLog(), [row('a', 14)], { sides: withKept });
    expect(measured).toEqual({ name: 'a', messageCount: 6 * 24 * 8 });
  });

  it('gives no ratio to a row whose side fails, and measures the others', async () => {
    const log = emptyLog();
    const measured = await measure(log, [row('a', 1), row('b', 13), row('c', 2)]);
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
    await measure(log, [row('a', 1)], {
      nowMs: () => {
        nowMs += 60_000;
        return nowMs;
      },
    });
    expect(log.started).toHaveLength(8);
  });

  it('ends with a fault that is of the gate itself', async () => {
    const broken: StartSide = () => Promise.reject(new TypeError('not a side'));
    await expect(measure(emptyLog(), [row('a', 1)], { startSide: broken })).rejects.toThrow('not a side');
  });
});
