// What befalls the store and the process of a run, drawn from the seed on a stream of its own: how often commits fail, when the process
// dies, how long it stays away. Half of the runs are spared but for the restart at their end.

import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import type { Plan } from './plan.ts';
import { Random } from './random.ts';

export type Faults = {
  /** Crashes and failed commits before the faults stop; 0: none. */
  readonly maxCount: number;
  /** How often a commit fails, and how often the process does not live to see the end of one, 0 to 1. */
  readonly failChance: number;
  readonly crashChance: number;
  /** Between two crashes at any other moment, at most; undefined: there are none. */
  readonly crashAfterMs: number | undefined;
  /** How long the process stays away, or the store stays broken, at most. */
  readonly maxDownMs: number;
  /** How often opening, probing, reading and closing a store take their time, and how often they fail, 0 to 1. */
  readonly slowChance: number;
  readonly brokenChance: number;
};

const none: Faults = {
  maxCount: 0,
  failChance: 0,
  crashChance: 0,
  crashAfterMs: undefined,
  maxDownMs: 0,
  slowChance: 0,
  brokenChance: 0,
};

/** Seeds of the faults lie far from those of the plans. */
const STREAM = 2 ** 46;

export function faultRandom(seed: number): Random {
  return new Random(STREAM + seed);
}

export function drawFaults(random: Random, { isCalm }: Plan): Faults {
  if (!random.chance(isCalm ? 0.3 : 0.6)) return none;
  return {
    maxCount: random.whole(1, 4),
    failChance: random.pick([0, 0.01, 0.04]),
    crashChance: random.pick([0.005, 0.02]),
    crashAfterMs: random.pick([undefined, 600, 2500]),
    maxDownMs: random.pick([5, 100, 700]),
    slowChance: random.pick([0, 0.4, 0.9]),
    brokenChance: random.pick([0, 0.3, 0.6]),
  };
}

/** The same plan for a run with faults: with more to do, since much comes to nothing. */
export function planWithFaults(plan: Plan, random: Random): Plan {
  const actionCount = Math.round(plan.actionCount * 1.3);
  return { ...(random.chance(0.5) ? withSturdyQueues(plan) : plan), actionCount };
}

/** With queues that let go of nothing by themselves: whatever is missing from them then was lost. */
function withSturdyQueues(plan: Plan): Plan {
  const queues = plan.queues.map(({ name, options }) => ({ name, options: sturdy(options) }));
  return { ...plan, queues };
}

function sturdy({ messageTtlMs: _, ...options }: QueueOptions): QueueOptions {
  const drops = options.overflowStrategy === OverflowStrategy.DropOldest;
  const overflowStrategy = drops ? OverflowStrategy.DropNewest : options.overflowStrategy;
  return { ...options, overflowStrategy, maxQueueSize: 100, maxRetryAttempts: 4 };
}
