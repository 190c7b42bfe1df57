// The faults of the store and the process in a run, drawn from the seed with a separate generator: how often commits fail, when the process
// crashes, how long it is down. Half of the runs have no faults except the restart at their end.

import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import type { Plan } from './plan.ts';
import { Random } from './random.ts';

export type Faults = {
  /** Crashes and failed commits before the faults stop; 0: none. */
  readonly maxCount: number;
  /** Probabilities, 0 to 1, that a commit fails and that the process crashes during one. */
  readonly failChance: number;
  readonly crashChance: number;
  /** Longest time between two crashes at other moments; undefined: there are none. */
  readonly crashAfterMs: number | undefined;
  /** Longest time that the process is down or the store is broken. */
  readonly maxDownMs: number;
  /** Probabilities, 0 to 1, that opening, probing, reading and closing a store are slow and that they fail. */
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

/** Seeds of the faults are far from those of the plans. */
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

/** The same plan for a run with faults: with more actions, because many have no effect. */
export function planWithFaults(plan: Plan, random: Random): Plan {
  const actionCount = Math.round(plan.actionCount * 1.3);
  return { ...(random.chance(0.5) ? withSturdyQueues(plan) : plan), actionCount };
}

/** With queues that discard nothing by themselves, so that a missing message is a lost one. */
function withSturdyQueues(plan: Plan): Plan {
  const queues = plan.queues.map(({ name, options }) => ({ name, options: sturdy(options) }));
  return { ...plan, queues };
}

function sturdy({ messageTtlMs: _, ...options }: QueueOptions): QueueOptions {
  const drops = options.overflowStrategy === OverflowStrategy.DropOldest;
  const overflowStrategy = drops ? OverflowStrategy.DropNewest : options.overflowStrategy;
  return { ...options, overflowStrategy, maxQueueSize: 100, maxRetryAttempts: 4 };
}
