// One run of the retained-memory judge: from a seed to a verdict.

import type { Verdict } from '../simulation/schedule.ts';
import { describePlan, drawRetainedPlan, type RetainedPlan } from './plan.ts';
import { playCrowd } from './play-crowd.ts';
import { playHeld } from './play-held.ts';
import { playQueue } from './play-queue.ts';
import type { Scales } from './scales.ts';

export async function judgePlan(seed: number): Promise<Verdict> {
  const plan = drawRetainedPlan(seed);
  const verdict = { seed, inputCount: 1, counts: {} };
  try {
    const scales = await play(plan);
    return { ...verdict, complaints: scales.complaints, trace: [describePlan(plan), ...scales.readings] };
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { ...verdict, complaints: [text], trace: [describePlan(plan)] };
  }
}

function play(plan: RetainedPlan): Promise<Scales> {
  switch (plan.kind) {
    case 'queue':
      return playQueue(plan);
    case 'crowd':
      return playCrowd(plan);
    case 'held':
      return playHeld(plan);
  }
}
