// Random scenarios for the broker core: the moves, their frequencies, and the inputs of each move. A move refers to connections, queues and
// deliveries by index, modulo their number, so that any part of a scenario is a scenario too and failing ones shrink well.

import fc from 'fast-check';
import type { DeliverEffect } from '../broker/interface/effect.ts';
import type { ConnectionId } from '../broker/interface/input.ts';
import type { BrokerSettings } from '../broker/interface/settings.ts';
import { type Principal, QueueOperation } from '../model/access.ts';
import type { DeliveryMode } from '../model/delivery-mode.ts';
import type { OverflowStrategy } from '../model/overflow-strategy.ts';
import type { Priority } from '../model/priority.ts';
import type { QueueOptions } from '../model/queue-options.ts';
import { BrokerHarness, type SteppedBroker, testSettings } from './broker-harness.ts';

/** The parameters of the scenarios of one property. */
export type ScenarioParameters = {
  readonly modes: readonly DeliveryMode[];
  readonly strategies: readonly OverflowStrategy[];
  /** Queue sizes to choose from. */
  readonly sizes: readonly number[];
  /** Times to live to choose from, in milliseconds. */
  readonly ttls: readonly (number | undefined)[];
  readonly deadLetters: boolean;
  /** Names of dead letter queues to choose from; undefined is the generated one. */
  readonly deadLetterNames: readonly (string | undefined)[];
  readonly settings: Partial<BrokerSettings>;
  readonly drains: boolean;
  /** Whether the core is sometimes called after its deadline. */
  readonly oversleeps: boolean;
  /** Whether some connections are those of users, whose rights change. */
  readonly users: boolean;
};

export const calmParameters: ScenarioParameters = {
  modes: [0],
  strategies: [0],
  sizes: [100],
  ttls: [undefined],
  deadLetters: false,
  deadLetterNames: [undefined],
  settings: {},
  drains: false,
  oversleeps: false,
  users: false,
};

/** All moves, with small numbers. */
export const wildParameters: ScenarioParameters = {
  modes: [0, 1, 2, 3],
  strategies: [0, 1, 2, 3],
  sizes: [1, 2, 3, 100],
  ttls: [undefined, undefined, 600, 1700],
  deadLetters: true,
  deadLetterNames: [undefined],
  settings: { maxBlockedPublishes: 3, maxBlockedBytes: 450, maxQueuedBytes: 4000, maxQueues: 5 },
  drains: true,
  oversleeps: false,
  users: false,
};

/** Short times and small windows, so that few moves cover much. */
const scenarioSettings: BrokerSettings = {
  ...testSettings,
  ackTimeoutMs: 1000,
  retryDelayMs: 100,
  maxRetryDelayMs: 350,
  maxInFlightPerSubscriber: 10,
  maxSubscriptionsPerConnection: 3,
  maxStructureBytes: 1_073_741_824,
  maxBurstBytes: 1_073_741_824,
  maxTotalBurstBytes: 1_073_741_824,
  maxContentBytes: 300,
};

export function settingsOf(parameters: ScenarioParameters): BrokerSettings {
  return { ...scenarioSettings, ...parameters.settings };
}

type Who = { readonly who: number };

export type Move =
  | { readonly kind: 'connect'; readonly username: string | undefined }
  | { readonly kind: 'changeRights'; readonly principal: Principal }
  | (Who & { readonly kind: 'disconnect' })
  | (Who & { readonly kind: 'writable'; readonly writable: boolean })
  | (Who & {
      readonly kind: 'publish';
      readonly queue: string;
      readonly number: number;
      readonly priority: Priority;
      readonly byteLength: number;
      readonly invalid: boolean;
    })
  | (Who & { readonly kind: 'subscribe'; readonly queue: string; readonly window: number | undefined })
  | (Who & {
      readonly kind: 'unsubscribe' | 'deleteQueue' | 'purgeQueue' | 'queueInfo';
      readonly queue: string;
    })
  | (Who & {
      readonly kind: 'listMessages';
      readonly queue: string;
      readonly page: { readonly offset: number; readonly limit: number; readonly maxBytes: number };
    })
  | (Who & {
      readonly kind: 'readMessage' | 'removeMessage' | 'requeueMessage';
      readonly queue: string;
      readonly id: string;
      readonly source: string | undefined;
    })
  | (Who & { readonly kind: 'createQueue'; readonly queue: string; readonly options?: Partial<QueueOptions> })
  | (Who & { readonly kind: 'createUnreadable'; readonly queue: string })
  | (Who & { readonly kind: 'listQueues' | 'barrier' })
  /** `stray`: from connection `who` instead of the one that has the delivery. `named`: with the queue's name. */
  | (Who & Ack & { readonly kind: 'ack' })
  | (Who & Ack & { readonly kind: 'nack'; readonly reason: 'HandlerException' | 'DeserializationError' })
  | { readonly kind: 'advance' | 'oversleep'; readonly ms: number }
  | { readonly kind: 'drain' };

type Ack = { readonly delivery: number; readonly stray: boolean; readonly named: boolean };

const QUEUES = ['a', 'b', 'a.dlq'] as const;
const MAX_MOVES = 90;
const USERNAMES = ['ann', 'bob'] as const;
const EVERYTHING = [{ queuePattern: '*', operations: Object.values(QueueOperation) }];

/** Sequences of moves with these parameters. */
export function scenarios(parameters: ScenarioParameters): fc.Arbitrary<Move[]> {
  const end = parameters.drains
    ? fc.option(fc.constant<Move>({ kind: 'drain' }), { freq: 5 })
    : fc.constant(null);
  const before = fc.array(move(parameters), { maxLength: MAX_MOVES, size: 'max' });
  const after = fc.array(move(parameters), { maxLength: 15, size: 'max' });
  return fc
    .tuple(openings(parameters), before, end, after)
    .map(([opening, moves, drain, rest]) => [
      ...opening,
      ...moves,
      ...(drain === null ? [] : [drain, ...rest]),
    ]);
}

/** Queues with options first, because most scenarios need them, and a connection of each user. */
function openings(parameters: ScenarioParameters): fc.Arbitrary<Move[]> {
  const users = parameters.users ? USERNAMES : [];
  const connects = users.map((username): Move => ({ kind: 'connect', username }));
  return fc.tuple(creation('a', parameters), creation('b', parameters)).map(([a, b]) => [a, b, ...connects]);
}

function creation(queue: string, parameters: ScenarioParameters): fc.Arbitrary<Move> {
  return options(parameters).map((chosen) => ({ kind: 'createQueue', who: 0, queue, options: chosen }));
}

function options(parameters: ScenarioParameters): fc.Arbitrary<Partial<QueueOptions>> {
  return fc
    .record({
      mode: fc.constantFrom(...parameters.modes),
      overflowStrategy: fc.constantFrom(...parameters.strategies),
      maxQueueSize: fc.constantFrom(...parameters.sizes),
      ttl: fc.constantFrom(...parameters.ttls),
      maxRetryAttempts: fc.constantFrom(1, 2, 3),
      enableDeadLetterQueue: parameters.deadLetters ? fc.boolean() : fc.constant(false),
      name: fc.constantFrom(...parameters.deadLetterNames),
    })
    .map(({ ttl, name, ...rest }) => ({
      ...rest,
      ...(ttl === undefined ? {} : { messageTtlMs: ttl }),
      ...(name === undefined ? {} : { deadLetterQueueName: name }),
    }));
}

function move(parameters: ScenarioParameters): fc.Arbitrary<Move> {
  const who = fc.nat(parameters.users ? 5 : 3);
  const queue = fc.constantFrom(...QUEUES.slice(0, parameters.deadLetters ? 3 : 2));
  const source = fc.constantFrom(undefined, undefined, 'a', 'b');
  const kind = <Kind extends Move['kind']>(name: Kind) => fc.constant(name);
  const ack = { who, delivery: fc.nat(9), stray: fc.nat(9).map((n) => n === 0), named: fc.boolean() };
  const reason = fc.constantFrom(
    'HandlerException',
    'HandlerException',
    'DeserializationError',
  ) as fc.Arbitrary<'HandlerException' | 'DeserializationError'>;
  return fc.oneof(
    { weight: 2, arbitrary: fc.record({ kind: kind('connect'), username: usernames(parameters) }) },
    {
      weight: parameters.users ? 3 : 0,
      arbitrary: fc.record({ kind: kind('changeRights'), principal: principals() }),
    },
    { weight: 2, arbitrary: fc.record({ kind: kind('disconnect'), who }) },
    { weight: 2, arbitrary: fc.record({ kind: kind('writable'), who, writable: fc.boolean() }) },
    { weight: 16, arbitrary: publishing(queue, who) },
    { weight: 6, arbitrary: fc.record({ kind: kind('subscribe'), who, queue, window: windows() }) },
    { weight: 2, arbitrary: fc.record({ kind: kind('unsubscribe'), who, queue }) },
    { weight: 10, arbitrary: fc.record({ kind: kind('ack'), ...ack }) },
    { weight: 4, arbitrary: fc.record({ kind: kind('nack'), ...ack, reason }) },
    { weight: 8, arbitrary: fc.record({ kind: kind('advance'), ms: durations() }) },
    {
      weight: parameters.oversleeps ? 4 : 0,
      arbitrary: fc.record({ kind: kind('oversleep'), ms: durations() }),
    },
    { weight: 1, arbitrary: creations(queue, parameters) },
    { weight: 1, arbitrary: fc.record({ kind: kind('deleteQueue'), who, queue }) },
    { weight: 1, arbitrary: fc.record({ kind: kind('purgeQueue'), who, queue }) },
    { weight: 1, arbitrary: fc.record({ kind: kind('listMessages'), who, queue, page: pages() }) },
    { weight: 1, arbitrary: fc.record({ kind: kind('readMessage'), who, queue, id: ids(), source }) },
    { weight: 1, arbitrary: fc.record({ kind: kind('removeMessage'), who, queue, id: ids(), source }) },
    {
      weight: parameters.deadLetters ? 2 : 0,
      arbitrary: fc.record({
        kind: kind('requeueMessage'),
        who,
        queue: fc.constant('a.dlq'),
        id: ids(),
        source,
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: kind('queueInfo'), who, queue }) },
    { weight: 1, arbitrary: fc.record({ kind: kind('listQueues'), who }) },
    { weight: 1, arbitrary: fc.record({ kind: kind('barrier'), who }) },
  );
}

function usernames({ users }: ScenarioParameters): fc.Arbitrary<string | undefined> {
  return users ? fc.constantFrom(undefined, ...USERNAMES) : fc.constant(undefined);
}

function principals(): fc.Arbitrary<Principal> {
  return fc.record({
    username: fc.constantFrom(...USERNAMES),
    isSuperuser: fc.nat(9).map((n) => n === 0),
    accessList: fc.array(
      fc.record({
        queuePattern: fc.constantFrom('*', 'a', 'B', 'A*', '*.dlq'),
        operations: fc.uniqueArray(fc.constantFrom(...Object.values(QueueOperation))),
      }),
      { maxLength: 3 },
    ),
  });
}

function publishing(queue: fc.Arbitrary<string>, who: fc.Arbitrary<number>): fc.Arbitrary<Move> {
  return fc.record({
    kind: fc.constant('publish'),
    who,
    queue,
    number: fc.nat(7),
    priority: fc.constantFrom(0, 1, 2, 3),
    byteLength: fc.constantFrom(100, 100, 100, 200, 298, 301),
    invalid: fc.nat(19).map((n) => n === 0),
  });
}

function creations(queue: fc.Arbitrary<string>, parameters: ScenarioParameters): fc.Arbitrary<Move> {
  return fc.oneof(
    fc.record({ kind: fc.constant('createQueue' as const), who: fc.nat(3), queue }),
    fc.record({ kind: fc.constant('createUnreadable' as const), who: fc.nat(3), queue }),
    queue.chain((name) => creation(name, parameters)),
  );
}

/** Those that are published. */
function ids(): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...QUEUES), fc.nat(7)).map(([queue, number]) => `${queue}${number}`);
}

function pages(): fc.Arbitrary<{ offset: number; limit: number; maxBytes: number }> {
  return fc.record({
    offset: fc.constantFrom(0, 0, 1, 3),
    limit: fc.constantFrom(1, 2, 100),
    maxBytes: fc.constantFrom(0, 250, 1_048_576),
  });
}

function windows(): fc.Arbitrary<number | undefined> {
  return fc.constantFrom(undefined, undefined, 1, 2, 99);
}

/** Each instant at which something can happen, and one millisecond before and after it. */
function durations(): fc.Arbitrary<number> {
  return fc.constantFrom(
    1,
    49,
    100,
    101,
    200,
    249,
    250,
    251,
    400,
    600,
    700,
    899,
    900,
    1000,
    1001,
    1700,
    5000,
  );
}

/** Runs a scenario. Rethrows a failure with the calls that led to it, as text for a test. */
export function play(moves: readonly Move[], broker: SteppedBroker, settings: BrokerSettings): BrokerHarness {
  const harness = new BrokerHarness(broker);
  try {
    const stage: Stage = { harness, players: harness.connectAll(3), principals: new Map() };
    for (const one of moves) playMove(one, stage);
  } catch (error) {
    const calls = harness.script.join('\n');
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}\nAfter these calls, with ${JSON.stringify(settings)}:\n${calls}\n`, {
      cause: error,
    });
  }
  return harness;
}

type Stage = {
  readonly harness: BrokerHarness;
  /** Connections that are open. */
  readonly players: ConnectionId[];
  /** The rights of each user that is not as it was at the beginning, when it might do everything. */
  readonly principals: Map<string, Principal>;
};

function playMove(one: Move, { harness, players, principals }: Stage): void {
  switch (one.kind) {
    case 'connect':
      players.push(
        harness.connect(one.username === undefined ? undefined : principalOf(one.username, principals)),
      );
      break;
    case 'changeRights':
      principals.set(one.principal.username, one.principal);
      harness.changeRights(one.principal);
      break;
    case 'advance':
    case 'oversleep':
      harness[one.kind](one.ms);
      break;
    case 'drain':
      harness.drain();
      break;
    default:
      playAs(players[one.who % players.length], one, harness, players);
  }
}

function principalOf(username: string, principals: Stage['principals']): Principal {
  return principals.get(username) ?? { username, isSuperuser: false, accessList: EVERYTHING };
}

function playAs(
  who: ConnectionId | undefined,
  one: Extract<Move, Who>,
  harness: BrokerHarness,
  players: ConnectionId[],
): void {
  if (who === undefined) return;
  switch (one.kind) {
    case 'disconnect':
      players.splice(players.indexOf(who), 1);
      harness.disconnect(who);
      break;
    case 'publish': {
      const { priority, byteLength } = one;
      const extras = { priority, byteLength, ...(one.invalid ? { invalid: true as const } : {}) };
      harness.publish(who, one.queue, publishedId(one), extras);
      break;
    }
    case 'ack':
    case 'nack':
      playAck(who, one, harness, players);
      break;
    case 'writable':
      harness.writable(who, one.writable);
      break;
    case 'subscribe':
      harness.subscribe(who, one.queue, one.window);
      break;
    case 'createQueue':
      harness.createQueue(who, one.queue, one.options);
      break;
    case 'listMessages':
      harness.listMessages(who, one.queue, one.page);
      break;
    case 'readMessage':
    case 'removeMessage':
    case 'requeueMessage':
      harness[one.kind](who, one.queue, one.id, one.source);
      break;
    case 'listQueues':
      harness.listQueues(who);
      break;
    case 'barrier':
      harness.barrier(who);
      break;
    case 'createUnreadable':
    case 'unsubscribe':
    case 'deleteQueue':
    case 'purgeQueue':
    case 'queueInfo':
      harness[one.kind](who, one.queue);
      break;
  }
}

/** In the dead letter queue also ids of its source: a dead letter and a message that was published may have the same one. */
function publishedId({ queue, number }: Extract<Move, { readonly kind: 'publish' }>): string {
  return queue === 'a.dlq' && number % 2 === 0 ? `a${number}` : `${queue}${number}`;
}

/** Acknowledges one of the latest deliveries, which may have been acknowledged before. */
function playAck(
  who: ConnectionId,
  one: Extract<Move, Ack>,
  harness: BrokerHarness,
  players: readonly ConnectionId[],
): void {
  const delivered = harness.effects.filter((effect): effect is DeliverEffect => effect.kind === 'deliver');
  const delivery = delivered[delivered.length - 1 - (one.delivery % Math.max(1, delivered.length))];
  if (delivery === undefined) return;
  const from = one.stray ? who : delivery.connection;
  if (!players.includes(from)) return;
  const queue = one.named ? delivery.queue : undefined;
  if (one.kind === 'ack') harness.ack(from, delivery.id, queue);
  else harness.nack(from, delivery.id, one.reason, queue);
}
