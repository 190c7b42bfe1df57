// The process that judges plans: it is given a range of seeds, and sends back the verdicts. Started by the pool of the simulation, as a bundle.

import type { Verdict } from '../simulation/schedule.ts';
import type { Delivered, Order } from '../simulation/worker.ts';
import { judgePlan } from './judge-plan.ts';

async function carryOut({ firstSeed, count, stopsAtFailure }: Order): Promise<Delivered> {
  const inputCounts: number[] = [];
  const failures: Verdict[] = [];
  for (let seed = firstSeed; seed < firstSeed + count; seed += 1) {
    inputCounts.push(1);
    const verdict = await judgePlan(seed);
    if (verdict.complaints.length > 0) failures.push(verdict);
    if (stopsAtFailure && failures.length > 0) break;
  }
  return { inputCounts, counts: {}, failures };
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
