// What is drawn for one run of the retained-memory judge: a queue, its members, a load, and what happens to it afterwards. From a seed, so
// that a run can be repeated. Says nothing about how it is carried out.

import { Random } from '../simulation/random.ts';

export type Acks =
  | { readonly kind: 'all' | 'none' | 'late' }
  /** All but one of `every` messages, which stay in flight between messages that have ended. */
  | { readonly kind: 'allBut'; readonly every: number };

export type MemberPlan = {
  readonly acks: Acks;
  readonly reads: boolean;
  /** Deliveries that it takes unacknowledged. */
  readonly window: number;
};

export type Action =
  | 'reload'
  | 'purge'
  | 'delete'
  | 'deleteAndCreate'
  | 'expire'
  | 'retry'
  | 'disconnectMember'
  | 'unsubscribeMember'
  | 'disconnectPublisher'
  | 'readAgain'
  | 'restart';

export type RetainedQueuePlan = {
  readonly kind: 'queue';
  readonly seed: number;
  readonly mode: 'RoundRobin' | 'FanOutWithAck' | 'FanOutWithoutAck' | 'PriorityBased';
  readonly overflowStrategy: 'DropOldest' | 'DropNewest' | 'BlockPublisher' | 'RedirectToDlq';
  readonly maxQueueSize: number;
  readonly hasTtl: boolean;
  readonly hasDeadLetterQueue: boolean;
  /** Bytes of a content; several are taken in turn. */
  readonly contentBytes: readonly number[];
  readonly idBytes: number;
  readonly messageCount: number;
  readonly members: readonly MemberPlan[];
  /** Recoverable, and compressed deliveries. */
  readonly storage: 'memory' | 'sqlite';
  readonly compresses: boolean;
  readonly actions: readonly Action[];
};

/** Many of what is not a message; `count` of them come and go. */
export type CrowdPlan = { readonly kind: 'crowd'; readonly seed: number; readonly count: number } & {
  readonly of: 'connections' | 'subscriptions' | 'queues';
};

/** Many of what is not a waiting message; `count` of them are there together, and then no more. */
export type HeldPlan = {
  readonly kind: 'held';
  readonly seed: number;
  readonly of: (typeof heldThings)[number];
  readonly count: number;
};

export type RetainedPlan = RetainedQueuePlan | CrowdPlan | HeldPlan;

const MIB = 1024 * 1024;
/** Contents of one load. */
const LOAD_BYTES = 10 * MIB;
const MAX_MESSAGES = 30_000;
const sizes = [[100], [164], [1024], [4096], [20_480], [100, 20_480], [200, 4096]] as const;
const crowds = ['connections', 'subscriptions', 'queues'] as const;
const heldThings = [
  'queues',
  'subscriptions',
  'copies',
  'smallSurvivors',
  'longIds',
  'repeats',
  'smallWrites',
  'deletedInFlight',
  'pendingCommands',
] as const;
/** The seeds from here on are about things held, one after the other. */
const FIRST_HELD_SEED = 46;
/** One for each kind of queue plan and crowd, and all things held. */
export const PLAN_COUNT = FIRST_HELD_SEED - 1 + heldThings.length;
/** Of so many plans one is about a crowd. */
const CROWD_EVERY = 7;

export function drawRetainedPlan(seed: number): RetainedPlan {
  const random = new Random(seed);
  const held = seed < FIRST_HELD_SEED ? undefined : heldThings[(seed - FIRST_HELD_SEED) % heldThings.length];
  if (held !== undefined) return { kind: 'held', seed, of: held, count: random.whole(20_000, 30_000) };
  if (seed % CROWD_EVERY === 0) {
    const of = crowds[(seed / CROWD_EVERY) % crowds.length] ?? 'connections';
    return { kind: 'crowd', seed, of, count: random.whole(12_000, 16_000) };
  }
  return drawRetainedQueuePlan(seed, random);
}

function drawRetainedQueuePlan(seed: number, random: Random): RetainedQueuePlan {
  const mode = random.pick([
    'RoundRobin',
    'FanOutWithAck',
    'FanOutWithAck',
    'FanOutWithoutAck',
    'PriorityBased',
  ] as const);
  const contentBytes = random.pick(sizes);
  const mean = contentBytes.reduce((sum, bytes) => sum + bytes, 0) / contentBytes.length;
  const messageCount = Math.min(MAX_MESSAGES, Math.floor(LOAD_BYTES / mean));
  const overflowStrategy = random.pick([
    'DropOldest',
    'DropOldest',
    'DropNewest',
    'BlockPublisher',
    'RedirectToDlq',
  ] as const);
  const hasTtl = random.chance(0.5);
  const storage = random.chance(0.3) ? 'sqlite' : 'memory';
  return {
    kind: 'queue',
    seed,
    mode,
    overflowStrategy,
    maxQueueSize: random.chance(0.5)
      ? messageCount * 2
      : random.pick([10, 100, Math.floor(messageCount / 2)]),
    hasTtl,
    hasDeadLetterQueue: overflowStrategy === 'RedirectToDlq' || random.chance(0.3),
    contentBytes,
    idBytes: 16,
    messageCount,
    members: Array.from({ length: random.pick([0, 1, 1, 2, 3]) }, () => drawMember(random, messageCount)),
    storage,
    compresses: random.chance(0.3),
    actions: drawActions(random, { hasTtl, storage }),
  };
}

function drawMember(random: Random, messageCount: number): MemberPlan {
  const kind = random.pick(['all', 'all', 'none', 'late', 'allBut'] as const);
  const acks: Acks = kind === 'allBut' ? { kind, every: random.pick([2, 50]) } : { kind };
  const window = kind === 'allBut' ? messageCount * 2 : random.pick([1, 8, 64]);
  return { acks, window, reads: random.chance(0.8) };
}

function drawActions(
  random: Random,
  { hasTtl, storage }: Pick<RetainedQueuePlan, 'hasTtl' | 'storage'>,
): readonly Action[] {
  const possible: readonly Action[] = [
    'reload',
    'purge',
    'delete',
    'deleteAndCreate',
    'retry',
    'disconnectMember',
    'unsubscribeMember',
    'disconnectPublisher',
    'readAgain',
    ...(hasTtl ? (['expire'] as const) : []),
    ...(storage === 'sqlite' ? (['restart', 'restart', 'restart'] as const) : []),
  ];
  return Array.from({ length: random.whole(2, 4) }, () => random.pick(possible));
}

export function describePlan(plan: RetainedPlan): string {
  return JSON.stringify(plan);
}
