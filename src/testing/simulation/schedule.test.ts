// A seed determines a run: the same seed gives the same run to the byte, another seed another run. Exceptions, wrong output and hangs of a
// broken broker become complaints with the events before them.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { Broker } from '../../broker/broker.ts';
import { Random } from './random.ts';
import { runSchedule } from './schedule.ts';
import { addCounts, type Counts, expectedNames } from './tally.ts';

const noStrays = () => () => undefined;

describe('a schedule', () => {
  it('is the same for the same seed, and another for another', async () => {
    const [first, again, other] = [
      await runSchedule(7, noStrays),
      await runSchedule(7, noStrays),
      await runSchedule(8, noStrays),
    ];
    expect(first.inputCount).toBeGreaterThan(20);
    expect(again).toEqual(first);
    expect(other.counts).not.toEqual(first.counts);
  });

  it('of the broker as it is has no complaints', async () => {
    const seeds = Array.from({ length: 10 }, (_, index) => 1000 + index);
    for (const seed of seeds)
      expect(await runSchedule(seed, noStrays)).toMatchObject({ complaints: [], trace: [] });
  });

  it('has no complaints when a batch runs while the drained broker closes its store', async () => {
    expect(await runSchedule(32_579_279, noStrays)).toMatchObject({ complaints: [], trace: [] });
  });

  it('has no complaints when the last subscriber comes while a queue is deleted that is created anew', async () => {
    expect(await runSchedule(863_948_878, noStrays)).toMatchObject({ complaints: [], trace: [] });
  });

  it('has no complaints when a client acknowledges by chance what it is sent in the same batch, and leaves before', async () => {
    expect(await runSchedule(250_858_864, noStrays)).toMatchObject({ complaints: [], trace: [] });
  });

  it('goes through crashes and failures of its store without a loss [DURABLE-003, DURABLE-004, DURABLE-006, DURABLE-008, DURABLE-009, DURABLE-010, DURABLE-011, DURABLE-012, DURABLE-015, DURABLE-018, DURABLE-019, DURABLE-020, DURABLE-021]', async () => {
    const counts: Counts = {};
    for (let seed = 2001; seed <= 2030; seed += 1) {
      const verdict = await runSchedule(seed, noStrays);
      expect(verdict.complaints).toEqual([]);
      addCounts(counts, verdict.counts);
    }
    const crashes = ['crash tears the last write', 'crash after all is written', 'crash at rest'];
    for (const fault of [...crashes, 'commit fails at once', 'store does not open', 'restart at the end'])
      expect(counts[`fault: ${fault}`]).toBeGreaterThan(0);
  });
});

describe('a schedule of a broken broker', () => {
  afterEach(() => void vi.restoreAllMocks());

  it('complains, with the last events', async () => {
    vi.spyOn(Broker.prototype, 'step').mockImplementation(() => {
      throw new Error('no step');
    });
    const { complaints, trace } = await runSchedule(7, noStrays);
    expect(complaints[0]).toContain('no step');
    expect(trace.at(-1)).toMatch(/ms {2}#\d+/);
  });

  it('complains when the broker forgets its deadlines', async () => {
    vi.spyOn(Broker.prototype, 'nextDeadline').mockReturnValue(undefined);
    let complaints: readonly string[] = [];
    for (let seed = 1; seed <= 60 && complaints.length === 0; seed += 1)
      complaints = (await runSchedule(seed, noStrays)).complaints;
    expect(complaints).not.toEqual([]);
  });
});

describe('the random numbers', () => {
  it('repeat for a seed and differ for its neighbours', () => {
    const draws = (seed: number): readonly number[] => {
      const random = new Random(seed);
      return Array.from({ length: 8 }, () => random.whole(0, 1_000_000));
    };
    expect(draws(5)).toEqual(draws(5));
    expect(draws(5)).not.toEqual(draws(6));
    expect(draws(2 ** 40 + 5)).not.toEqual(draws(5));
  });

  it('stay in their range and reach both ends of it', () => {
    const random = new Random(1);
    const drawn = new Set(Array.from({ length: 200 }, () => random.whole(3, 5)));
    expect([...drawn].sort()).toEqual([3, 4, 5]);
  });

  it('keep to weights', () => {
    const random = new Random(1);
    const drawn = new Set(Array.from({ length: 200 }, () => random.weighted({ a: 1, b: 0, c: 2 })));
    expect([...drawn].sort()).toEqual(['a', 'c']);
  });
});

describe('what is counted', () => {
  it('names every way of the table, every pair and every fault once', () => {
    const names = expectedNames();
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => name.startsWith('pair: '))).toHaveLength(16);
  });
});
