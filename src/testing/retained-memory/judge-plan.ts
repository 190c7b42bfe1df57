// One run of the retained-memory judge: from a seed to a verdict.

import type { Verdict } from '../simulation/schedule.ts';
import { describePlan, drawPlan } from './plan.ts';
import { playCrowd } from './play-crowd.ts';
import { playQueue } from './play-queue.ts';

export async function judgePlan(seed: number): Promise<Verdict> {
  const plan = drawPlan(seed);
  const verdict = { seed, inputCount: 1, counts: {} };
  try {
    const scales = plan.kind === 'queue' ? await playQueue(plan) : await playCrowd(plan);
    return { ...verdict, complaints: scales.complaints, trace: [describePlan(plan), ...scales.readings] };
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { ...verdict, complaints: [text], trace: [describePlan(plan)] };
  }
}
