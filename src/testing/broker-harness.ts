// Drives a broker core, the real one or the naive one, in virtual time: short calls for inputs, one readable line per effect. It ticks
// whenever the core asks to be called, as the backend would, and reads no clock.

import type { Effect } from '../broker/interface/effect.ts';
import type { ConnectionId, Input, ListMessagesInput } from '../broker/interface/input.ts';
import type { BrokerSettings } from '../broker/interface/settings.ts';
import type { BrokerStats } from '../broker/interface/stats.ts';
import type { StoreRecord } from '../broker/interface/store-record.ts';
import type { Time } from '../broker/interface/time.ts';
import type { Principal } from '../model/access.ts';
import { Priority } from '../model/priority.ts';
import type { LargestQueues, QueueFigures, QueueInfo, SubscriberFigures } from '../model/queue-info.ts';
import { defaultQueueOptions, type QueueOptions } from '../model/queue-options.ts';
import { describeEffect, describeInput, type HarnessToken } from './broker-describers.ts';
import { anyContent } from './test-content.ts';

/** What the real core and the naive one have in common. */
export type SteppedBroker = {
  step(input: Input, time: Time): void;
  takeOutputs(): { readonly records: readonly StoreRecord[]; readonly effects: readonly Effect[] };
  nextDeadline(): number | undefined;
  queueInfo(name: string): QueueInfo | undefined;
  queueNames(): readonly string[];
  largestQueues(limit: number): LargestQueues;
  queueFigures(): readonly QueueFigures[];
  subscriberFigures(queue: string, limit: number): readonly SubscriberFigures[];
  stats(): Readonly<BrokerStats>;
};

export const testSettings: BrokerSettings = {
  defaultDeliveryMode: 0,
  defaultMaxQueueSize: 10_000,
  enableAutoCreate: true,
  ackTimeoutMs: 30_000,
  retryDelayMs: 1000,
  maxRetryDelayMs: 120_000,
  maxInFlightPerSubscriber: 256,
  maxBlockedPublishes: 1024,
  maxBlockedBytes: 4_194_304,
  maxQueuedBytes: 1_073_741_824,
  maxQueues: 100_000,
  maxSubscriptionsPerConnection: 1000,
  maxStructureBytes: 1_073_741_824,
  maxBurstBytes: 1_073_741_824,
  maxTotalBurstBytes: 1_073_741_824,
  maxContentBytes: 1_048_576,
};

type MessagePage = Pick<ListMessagesInput, 'offset' | 'limit' | 'maxBytes'>;

/** Far from the monotonic clock, so that a confusion of the two is noticed. */
const WALL_START = Date.UTC(2026, 0, 1);
const CONTENT_BYTES = 100;
/** More ticks at one instant mean that the core returns the same deadline forever. */
const MAX_TICKS_AT_ONCE = 1000;

export type PublishExtras = {
  readonly priority?: Priority;
  readonly byteLength?: number;
  /** The payload is not valid. */
  readonly invalid?: true;
};

export class BrokerHarness {
  readonly broker: SteppedBroker;
  /** The monotonic clock: milliseconds since the core was created. */
  now = 0;
  /** How far the wall clock was set forward, in milliseconds. */
  wallShift = 0;
  /** All effects so far, in order. */
  readonly effects: Effect[] = [];
  readonly records: StoreRecord[] = [];
  /** The calls so far, as text for a test. */
  readonly script: string[] = [];
  #nextConnection: ConnectionId = 1;

  constructor(broker: SteppedBroker) {
    this.broker = broker;
  }

  get wallNow(): number {
    return WALL_START + this.now + this.wallShift;
  }

  /** Steps the core with one input now; returns one line per effect. */
  step(input: Input): string[] {
    if (input.kind !== 'tick') this.script.push(describeInput(input));
    return this.#step(input);
  }

  #step(input: Input): string[] {
    this.broker.step(input, { now: this.now, wallNow: this.wallNow });
    const { records, effects } = this.broker.takeOutputs();
    this.records.push(...records);
    this.effects.push(...effects);
    return effects.map(describeEffect);
  }

  /** Advances the time. Calls the core at each of its deadlines, and at the end. */
  advance(ms: number): string[] {
    this.script.push(`h.advance(${ms});`);
    const end = this.now + ms;
    const lines: string[] = [];
    let ticksAtOnce = 0;
    for (;;) {
      const deadline = this.broker.nextDeadline();
      if (deadline === undefined || deadline > end) break;
      ticksAtOnce = deadline > this.now ? 0 : ticksAtOnce + 1;
      if (ticksAtOnce > MAX_TICKS_AT_ONCE) throw new Error(`The core asks for ${deadline} without end.`);
      this.now = Math.max(this.now, deadline);
      lines.push(...this.#step({ kind: 'tick' }));
    }
    this.now = end;
    lines.push(...this.#step({ kind: 'tick' }));
    return lines;
  }

  /** Advances the time without calling the core, as on a busy machine. */
  oversleep(ms: number): void {
    this.script.push(`h.oversleep(${ms});`);
    this.now += ms;
  }

  /** `principal`: the user; absent: a connection with all rights. */
  connect(principal?: Principal): ConnectionId {
    const connection = this.#nextConnection;
    this.#nextConnection += 1;
    const input = { kind: 'connected', connection } as const;
    this.step(principal === undefined ? input : { ...input, principal });
    return connection;
  }

  /** The user of this principal has its rights from now on. */
  changeRights(principal: Principal): string[] {
    return this.step({ kind: 'rightsChanged', principal });
  }

  /** Connects several connections. */
  connectAll(count: 2): [ConnectionId, ConnectionId];
  connectAll(count: 3): [ConnectionId, ConnectionId, ConnectionId];
  connectAll(count: 4): [ConnectionId, ConnectionId, ConnectionId, ConnectionId];
  connectAll(count: number): ConnectionId[] {
    return Array.from({ length: count }, () => this.connect());
  }

  disconnect(connection: ConnectionId): string[] {
    return this.step({ kind: 'disconnected', connection });
  }

  writable(connection: ConnectionId, writable: boolean): string[] {
    return this.step({ kind: 'writable', connection, writable });
  }

  publish(connection: ConnectionId, queue: string, id: string, extras: PublishExtras = {}): string[] {
    const content = anyContent(extras.byteLength ?? CONTENT_BYTES);
    const priority = extras.priority ?? Priority.Normal;
    const token = harnessToken(`publish ${queue} ${id}`, queue);
    const command = { kind: 'publish', connection, token, queue, id, priority, content } as const;
    return this.step(extras.invalid ? { ...command, invalid: 'no JSON' } : command);
  }

  /** One publish after the other, from one connection. */
  publishAll(connection: ConnectionId, queue: string, ids: readonly string[]): string[] {
    return ids.flatMap((id) => this.publish(connection, queue, id));
  }

  subscribe(connection: ConnectionId, queue: string, maxInFlight?: number): string[] {
    const token = harnessToken(`subscribe ${queue}`, queue);
    const command = { kind: 'subscribe', connection, token, queue } as const;
    return this.step(maxInFlight === undefined ? command : { ...command, maxInFlight });
  }

  unsubscribe(connection: ConnectionId, queue: string): string[] {
    return this.step(queueCommand('unsubscribe', connection, queue));
  }

  ack(connection: ConnectionId, id: string, queue?: string): string[] {
    const ack = { kind: 'acknowledge', connection, id } as const;
    return this.step(queue === undefined ? ack : { ...ack, queue });
  }

  nack(
    connection: ConnectionId,
    id: string,
    reason: 'HandlerException' | 'DeserializationError' = 'HandlerException',
    queue?: string,
  ): string[] {
    const nack = { kind: 'negativeAcknowledge', connection, id, reason } as const;
    return this.step(queue === undefined ? nack : { ...nack, queue });
  }

  /** Creates a queue with the given options and defaults for the others; without options the server's defaults apply. */
  createQueue(connection: ConnectionId, queue: string, options?: Partial<QueueOptions>): string[] {
    const command = queueCommand('createQueue', connection, queue);
    return this.step(
      options === undefined ? command : { ...command, options: { ...defaultQueueOptions, ...options } },
    );
  }

  /** Sends a CreateQueue with invalid options. */
  createUnreadable(connection: ConnectionId, queue: string): string[] {
    return this.step({ ...queueCommand('createQueue', connection, queue), invalid: 'no JSON' });
  }

  deleteQueue(connection: ConnectionId, queue: string): string[] {
    return this.step(queueCommand('deleteQueue', connection, queue));
  }

  purgeQueue(connection: ConnectionId, queue: string): string[] {
    return this.step(queueCommand('purgeQueue', connection, queue));
  }

  listMessages(connection: ConnectionId, queue: string, page: Partial<MessagePage> = {}): string[] {
    const whole = { offset: 0, limit: 100, maxBytes: 1_048_576 };
    return this.step({ ...queueCommand('listMessages', connection, queue), ...whole, ...page });
  }

  readMessage(connection: ConnectionId, queue: string, id: string, source?: string): string[] {
    return this.step(messageCommand('readMessage', connection, queue, { id, source }));
  }

  removeMessage(connection: ConnectionId, queue: string, id: string, source?: string): string[] {
    return this.step(messageCommand('removeMessage', connection, queue, { id, source }));
  }

  requeueMessage(connection: ConnectionId, queue: string, id: string, source?: string): string[] {
    return this.step(messageCommand('requeueMessage', connection, queue, { id, source }));
  }

  queueInfo(connection: ConnectionId, queue: string): string[] {
    return this.step(queueCommand('queueInfo', connection, queue));
  }

  listQueues(connection: ConnectionId): string[] {
    return this.step({ kind: 'listQueues', connection, token: harnessToken('listQueues', '') });
  }

  barrier(connection: ConnectionId): string[] {
    return this.step({ kind: 'barrier', connection, token: harnessToken('barrier', '') });
  }

  tick(): string[] {
    return this.step({ kind: 'tick' });
  }

  drain(): string[] {
    return this.step({ kind: 'drain' });
  }

  /** The number of waiting messages. Throws if the queue does not exist. */
  waiting(queue: string): number {
    const info = this.broker.queueInfo(queue);
    if (info === undefined) throw new Error(`There is no queue ${queue}.`);
    return info.messageCount;
  }
}

function harnessToken(words: string, queue: string): HarnessToken {
  return { words, queue };
}

function messageCommand<Kind extends string>(
  kind: Kind,
  connection: ConnectionId,
  queue: string,
  { id, source }: { readonly id: string; readonly source: string | undefined },
) {
  const token = harnessToken(`${kind} ${queue} ${id}`, queue);
  return { kind, connection, token, queue, id, ...(source !== undefined && { source }) } as const;
}

function queueCommand<Kind extends string>(kind: Kind, connection: ConnectionId, queue: string) {
  return { kind, connection, token: harnessToken(`${kind} ${queue}`, queue), queue } as const;
}
