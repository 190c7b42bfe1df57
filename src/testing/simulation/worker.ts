// The process that runs schedules: receives ranges of seeds, runs them one after the other, and returns their verdicts. Started by pool.ts
// as a bundle, since a fresh Node takes too long to read the sources one by one.

import { runSchedule, type Verdict } from './schedule.ts';
import { processErrors } from './stray-errors.ts';
import { addCounts, type Counts } from './tally.ts';

export type Order = { readonly firstSeed: number; readonly count: number; readonly stopsAtFailure: boolean };

export type Delivered = {
  readonly inputCounts: readonly number[];
  readonly counts: Counts;
  readonly failures: readonly Verdict[];
};

async function carryOut({ firstSeed, count, stopsAtFailure }: Order): Promise<Delivered> {
  const inputCounts: number[] = [];
  const counts: Counts = {};
  const failures: Verdict[] = [];
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    const verdict = await runSchedule(seed, processErrors);
    inputCounts.push(verdict.inputCount);
    addCounts(counts, verdict.counts);
    if (verdict.complaints.length > 0) failures.push(verdict);
    if (stopsAtFailure && failures.length > 0) break;
  }
  return { inputCounts, counts, failures };
}

process.on('message', (order: Order) => {
  carryOut(order).then(
    (delivered) => process.send?.(delivered),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
