// The plan of one schedule, drawn from the seed: the broker's limits and timeouts, the queues, the behaviour of the clients, the quality of
// the lines, and the end. Small numbers and short times, so that few actions cover much.

import type { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { defaultQueueOptions, type QueueOptions } from '../../model/queue-options.ts';
import type { Algorithm } from '../../protocol/compression.ts';
import { defaultLimits } from '../../protocol/limits.ts';
import type { BrokerOptions } from '../composed-broker.ts';
import type { Random } from './random.ts';
import type { StoreHabits } from './simulated-disk.ts';
import type { LineHabits } from './simulated-socket.ts';

export type QueuePlan = { readonly name: string; readonly options: QueueOptions };

/** How a client acknowledges, by weight. */
export type AckHabits = Readonly<
  Record<
    'atOnce' | 'soon' | 'justInTime' | 'tooLate' | 'never' | 'twice' | 'stray' | 'fails' | 'notUnderstood',
    number
  >
>;

export type ActionName =
  | 'publish'
  | 'repeat'
  | 'subscribe'
  | 'unsubscribe'
  | 'createQueue'
  | 'deleteQueue'
  | 'purgeQueue'
  | 'queueInfo'
  | 'listQueues'
  | 'ping'
  | 'ackNothing'
  | 'stall'
  | 'breakLine'
  | 'endSide'
  | 'disconnect'
  | 'breakBody'
  | 'breakFrame';

export type ClientPlan = {
  readonly subscribesTo: readonly string[];
  readonly maxInFlight: number | undefined;
  readonly acks: AckHabits;
  readonly actions: Readonly<Record<ActionName, number>>;
  readonly maxPauseMs: number;
  readonly maxBurst: number;
  readonly compression: Algorithm | undefined;
};

export type Plan = {
  readonly options: BrokerOptions;
  /** No client leaves and nothing is deleted, so that all statistics can be compared exactly. */
  readonly isCalm: boolean;
  readonly maxDelayOfSoonMs: number;
  readonly store: StoreHabits;
  readonly lateCompressionChance: number;
  readonly line: LineHabits;
  readonly queues: readonly QueuePlan[];
  readonly clients: readonly ClientPlan[];
  readonly silentClientCount: number;
  readonly wallClockJumps: boolean;
  /** Moves of clients before the faults stop. */
  readonly actionCount: number;
  /** All clients are disconnected for this long before the calm; 0: none. */
  readonly desertedMs: number;
  readonly shutdown: 'never' | 'amid' | 'atRest';
};

export function drawPlan(random: Random): Plan {
  const isCalm = random.chance(0.3);
  const queues = drawQueues(random);
  const names = queues.flatMap(({ name, options }) =>
    options.enableDeadLetterQueue ? [name, name, deadLetterNameOf(name, options)] : [name, name],
  );
  const clientCount = random.whole(3, 5);
  const compressions = random.pick(compressionsOfClients);
  return {
    options: drawOptions(random, queues),
    isCalm,
    maxDelayOfSoonMs: random.pick([0, 0, 1, 3]),
    store: { lateChance: random.pick([0, 0, 0.3, 0.9]), maxDelayMs: random.pick([1, 5, 20]) },
    lateCompressionChance: random.chance(0.1) ? 0.5 : 0,
    line: { maxLatencyMs: random.pick([0, 1, 4]), splitChance: random.pick([0, 0.1, 0.5]) },
    queues,
    clients: Array.from({ length: clientCount }, () => drawClient(random, names, isCalm, compressions)),
    silentClientCount: isCalm ? 0 : random.whole(0, 1),
    wallClockJumps: random.chance(0.2),
    actionCount: random.whole(55, 120),
    desertedMs: isCalm || random.chance(0.7) ? 0 : random.pick([100, 800, 3500]),
    shutdown: random.pick(['never', 'amid', 'atRest', 'atRest']),
  };
}

/** Compressing costs more than everything else, so most runs do not use it. */
const compressionsOfClients: readonly (readonly (Algorithm | undefined)[])[] = [
  [undefined],
  [undefined],
  [undefined],
  [undefined],
  [undefined, 'gzip', 'brotli'],
];

export function deadLetterNameOf(name: string, options: QueueOptions): string {
  return options.deadLetterQueueName ?? `${name}.dlq`;
}

/** Half of the runs have each message with one subscriber at a time: their figures add up exactly. */
const modesOfRuns: readonly (readonly DeliveryMode[])[] = [
  [0, 3],
  [0, 3],
  [0, 3],
  [0, 1, 2, 3],
  [0, 1, 2, 3],
  [1],
];

function drawQueues(random: Random): readonly QueuePlan[] {
  const modes: readonly DeliveryMode[] = random.pick(modesOfRuns);
  const sizes = random.pick([
    [1, 2, 3],
    [2, 5, 8],
    [3, 100],
  ]);
  return Array.from({ length: random.whole(1, 3) }, (_, index) => {
    const name = `q${index}`;
    return { name, options: drawQueueOptions(random, random.pick(modes), sizes) };
  });
}

/** Any valid options. */
export function drawQueueOptions(random: Random, mode: DeliveryMode, sizes: readonly number[]): QueueOptions {
  const overflowStrategy = random.pick(Object.values(OverflowStrategy));
  const enableDeadLetterQueue = overflowStrategy === OverflowStrategy.RedirectToDlq || random.chance(0.5);
  return {
    ...defaultQueueOptions,
    mode,
    overflowStrategy,
    maxQueueSize: random.pick(sizes),
    maxRetryAttempts: random.whole(1, 4),
    enableDeadLetterQueue,
    ...(random.chance(mode === 1 ? 0.7 : 0.4) ? { messageTtlMs: random.pick([120, 600, 1500, 3000]) } : {}),
    ...(enableDeadLetterQueue && random.chance(0.3) ? { deadLetterQueueName: 'graveyard' } : {}),
  };
}

/** More than any run ever sends. */
const UNBOUNDED_BYTES = 1_000_000;

function drawOptions(random: Random, queues: readonly QueuePlan[]): BrokerOptions {
  const ackTimeoutMs = random.pick([300, 1000]);
  const maxOutboundBytes = random.pick([300, 1500, UNBOUNDED_BYTES]);
  return {
    broker: {
      defaultDeliveryMode: queues[0]?.options.mode ?? 0,
      defaultMaxQueueSize: random.pick([4, 50]),
      enableAutoCreate: random.chance(0.9),
      ackTimeoutMs,
      retryDelayMs: random.pick([50, 200]),
      maxRetryDelayMs: random.pick([150, 800]),
      maxInFlightPerSubscriber: random.pick([4, 12]),
      maxBlockedPublishes: random.pick([2, 50]),
      maxBlockedBytes: random.pick([700, 100_000]),
      maxQueuedBytes: random.pick([6_000, 1_000_000, 1_000_000]),
      maxQueues: random.pick([4, 20, 20]),
      maxSubscriptionsPerConnection: 8,
      maxStructureBytes: UNBOUNDED_BYTES * 1000,
      maxBurstBytes: maxOutboundBytes,
      maxTotalBurstBytes: UNBOUNDED_BYTES * 1000,
      maxContentBytes: 4096,
    },
    maxBufferedBytes: UNBOUNDED_BYTES * 1000,
    limits: { ...defaultLimits, maxMessageSizeBytes: 4096, maxDecompressedSizeBytes: 4096 },
    timeouts: { handshakeTimeoutMs: 1500, frameTimeoutMs: 60_000, idleTimeoutMs: 10_000_000 },
    supportedCompressions: ['brotli', 'gzip'],
    compressionThresholdBytes: 150,
    validatePayload: true,
    maxConnections: 1000,
    maxOutboundBytes,
    maxPendingInputBytes: random.pick([600, 1_000_000]),
    shutdownTimeoutMs: random.pick([400, 3000]),
    serverVersion: 'simulated',
    ...(random.chance(0.15)
      ? {
          rateLimit: {
            maxConnectionsPerIpPerWindow: 100_000,
            connectionWindowMs: 1000,
            maxMessagesPerClientPerSecond: 25,
          },
        }
      : {}),
  };
}

function drawClient(
  random: Random,
  names: readonly string[],
  isCalm: boolean,
  compressions: readonly (Algorithm | undefined)[],
): ClientPlan {
  const publishes = random.chance(0.7);
  const isTidy = random.chance(0.3);
  const rare = (weight: number): number => (isCalm || isTidy ? 0 : weight * random.pick([0, 1, 2]));
  return {
    subscribesTo: random.chance(0.8)
      ? Array.from({ length: random.whole(1, 3) }, () => random.pick(names))
      : [],
    maxInFlight: random.chance(0.5) ? random.whole(1, 6) : undefined,
    acks: drawAcks(random),
    actions: {
      publish: publishes ? 30 : 3,
      repeat: random.pick([0, 0, 3]),
      subscribe: 4,
      unsubscribe: rare(1),
      createQueue: 0.5,
      deleteQueue: rare(0.5),
      purgeQueue: rare(0.5),
      queueInfo: 1,
      listQueues: 0.5,
      ping: 1,
      ackNothing: random.pick([0, 1]),
      stall: rare(1.5),
      breakLine: rare(0.6),
      endSide: rare(0.4),
      disconnect: rare(0.4),
      breakBody: random.pick([0, 0.5]),
      breakFrame: rare(0.2),
    },
    maxPauseMs: random.pick([10, 60, 250]),
    maxBurst: random.pick([1, 3, 8]),
    compression: random.pick(compressions),
  };
}

function drawAcks(random: Random): AckHabits {
  const atOnce = {
    atOnce: 1,
    soon: 0,
    justInTime: 0,
    tooLate: 0,
    never: 0,
    twice: 0,
    stray: 0,
    fails: 0,
    notUnderstood: 0,
  };
  return random.pick([
    atOnce,
    { ...atOnce, soon: 3 },
    {
      ...atOnce,
      atOnce: 8,
      soon: 8,
      justInTime: 2,
      tooLate: 3,
      never: 3,
      twice: 2,
      stray: 2,
      fails: 4,
      notUnderstood: 1,
    },
    { ...atOnce, justInTime: 1, tooLate: 2, never: 2, fails: 2, notUnderstood: 0.5 },
  ]);
}
