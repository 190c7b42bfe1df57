// The broker's core as a function of state, input and time: an input goes in, outcomes come out. No sockets, no clock, no
// randomness, no promises. Every command is answered by exactly one effect with its token, in its own step or a later one.
//
// This file takes inputs apart and gives each command its answer; what becomes of messages is in settlement.ts and in the
// delivery modes. Implements QUEUE, PUBLISH, DELIVERY, RETRY and SHUTDOWN where commands meet them.

import type { QueueInfo } from '../model/queue-info.ts';
import {
  defaultQueueOptions,
  impossibleOption,
  type QueueOptions,
  sameOptions,
} from '../model/queue-options.ts';
import { Attempts } from './attempts.ts';
import { Connection } from './connection.ts';
import { Deliveries } from './deliveries.ts';
import type { Effect } from './interface/effect.ts';
import type {
  AcknowledgeInput,
  ConnectionId,
  Input,
  NegativeAcknowledgeInput,
  SubscribeInput,
  Token,
} from './interface/input.ts';
import type { MessageContent } from './interface/message-content.ts';
import type { BrokerSettings } from './interface/settings.ts';
import { type BrokerStats, emptyStats } from './interface/stats.ts';
import type { RecoveredRecord, StoreRecord } from './interface/store-record.ts';
import type { Time } from './interface/time.ts';
import { Publishing } from './publishing.ts';
import { Purging } from './purging.ts';
import type { Queue } from './queue.ts';
import { Queues } from './queues.ts';
import { Recovery } from './recovery.ts';
import { Settlement } from './settlement.ts';
import { StepContext } from './step-context.ts';
import { Subscription } from './subscription.ts';
import { type Timer, Timers } from './timers.ts';
import { Window } from './window.ts';

/** Most messages that one step changes on its own account; the rest goes on at the next tick. */
const MOST_CHANGES = 1000;

type Command<Kind extends Input['kind']> = Extract<Input, { readonly kind: Kind }>;

export class Broker {
  readonly #settings: BrokerSettings;
  readonly #step: StepContext;
  readonly #timers = new Timers();
  readonly #connections = new Map<ConnectionId, Connection>();
  readonly #queues: Queues;
  readonly #deliveries: Deliveries;
  readonly #settlement: Settlement;
  readonly #publishing: Publishing;
  readonly #purging: Purging;
  readonly #attempts: Attempts;
  /** There until the first input: what a store had kept comes before it. */
  #recovery: Recovery | undefined;
  /** Of all subscriptions that ever were. */
  #subscriptionCount = 0;
  /** For which instant what was due has been done, as far as one step may. */
  #doneUntil = Number.NEGATIVE_INFINITY;

  /** `stats`: those of the core before this one, whose counters go on; the gauges begin at 0. */
  constructor(settings: BrokerSettings, stats: BrokerStats = emptyStats()) {
    this.#settings = settings;
    this.#step = new StepContext({ ...stats, inFlightCount: 0, queuedBytes: 0 });
    this.#queues = new Queues(this.#step);
    this.#deliveries = new Deliveries(this.#step, this.#timers, settings);
    this.#settlement = new Settlement(this.#step, this.#queues, this.#timers, this.#deliveries, settings);
    const tools = { deliveries: this.#deliveries, settlement: this.#settlement };
    this.#attempts = new Attempts(this.#step, tools, settings);
    this.#publishing = new Publishing(this.#step, this.#settlement, settings);
    this.#purging = new Purging(this.#step, this.#queues, this.#timers, this.#settlement);
    this.#recovery = new Recovery(this.#step, this.#queues, this.#settlement);
  }

  /**
   * Takes up what a store had kept, one record after the other, before the first input. No outputs come of it; what is due by
   * then happens with the first input, so look at `nextDeadline()` afterwards. Throws for records that contradict each other.
   */
  recover(record: RecoveredRecord<MessageContent>, time: Time): void {
    if (this.#recovery === undefined) throw new Error('The broker has begun: nothing can be recovered now.');
    this.#step.begin(time);
    this.#recovery.take(record);
  }

  /** Takes one input. Times never go back from one call to the next; `takeOutputs` has what came of it. */
  step(input: Input, time: Time): void {
    this.#recovery = undefined;
    this.#step.begin(time);
    if (time.now > this.#doneUntil || input.kind === 'tick') this.#doWhatIsDue();
    if (!this.#refuses(input)) this.#take(input);
    this.#moveMessages();
  }

  /** What has come of the steps since the last call: carry out the effects after the records are committed. */
  takeOutputs(): { readonly records: readonly StoreRecord[]; readonly effects: readonly Effect[] } {
    return this.#step.takeOutputs();
  }

  /** Everything that was taken out so far has been written: what may be sent at once counts anew. */
  written(): void {
    this.#step.burst += 1;
  }

  /** When a tick is due, in milliseconds on the monotonic clock; undefined: not before another input. */
  nextDeadline(): number | undefined {
    if (this.#step.isDraining) return undefined;
    const timerAt = this.#timers.nextAt();
    const timeoutAt = this.#deliveries.nextTimeoutAt();
    if (timerAt === undefined || timeoutAt === undefined) return timerAt ?? timeoutAt;
    return Math.min(timerAt, timeoutAt);
  }

  /** A picture of the queue of that name, or undefined when there is none. */
  queueInfo(name: string): QueueInfo | undefined {
    return this.#queues.get(name)?.info();
  }

  /** The names of all queues, in the order of their creation. */
  queueNames(): readonly string[] {
    return this.#queues.names();
  }

  get queueCount(): number {
    return this.#queues.size;
  }

  stats(): Readonly<BrokerStats> {
    return this.#step.stats;
  }

  #take(input: Input): void {
    switch (input.kind) {
      case 'publish':
        return this.#publish(input);
      case 'acknowledge':
      case 'negativeAcknowledge':
        return this.#settle(input);
      case 'subscribe':
        return this.#subscribe(input);
      case 'unsubscribe':
        return this.#unsubscribe(input);
      case 'createQueue':
        return this.#createQueue(input);
      case 'deleteQueue':
        return this.#deleteQueue(input);
      case 'purgeQueue':
        return this.#purging.begin(input, MOST_CHANGES);
      case 'queueInfo':
        return this.#answer(input, this.queueInfo(input.queue) ?? null);
      case 'listQueues':
        return this.#answer(input, this.queueNames());
      case 'connected':
        return this.#connected(input.connection);
      case 'disconnected':
        return this.#disconnected(input.connection);
      case 'writable':
        return this.#writable(input.connection, input.writable);
      case 'barrier':
        return this.#answer(input);
      case 'tick':
        return;
      case 'drain':
        return this.#drain();
    }
  }

  #publish(input: Command<'publish'>): void {
    const { connection, token, invalid } = input;
    if (invalid !== undefined && (this.#settings.enableAutoCreate || this.#queues.get(input.queue))) {
      return this.#step.refuse(connection, token, 'INVALID_PAYLOAD', invalid);
    }
    const queue = this.#queueFor(input);
    if (queue !== undefined) this.#publishing.publish(queue, this.#connection(connection), input);
  }

  #subscribe(input: SubscribeInput): void {
    const connection = this.#connection(input.connection);
    if (connection.subscriptions.has(input.queue)) return this.#answer(input);
    if (connection.subscriptions.size >= this.#settings.maxSubscriptionsPerConnection) {
      const text = `This connection has ${connection.subscriptions.size} subscriptions, which is the limit.`;
      return this.#step.refuse(input.connection, input.token, 'LIMIT_EXCEEDED', text);
    }
    const queue = this.#queueFor(input);
    if (queue === undefined) return;
    const window = new Window(this.#settings.maxInFlightPerSubscriber, input.maxInFlight);
    this.#subscriptionCount += 1;
    const subscription = new Subscription(connection, input.queue, window, this.#subscriptionCount);
    connection.subscriptions.set(input.queue, subscription);
    queue.subscriptions.add(subscription);
    this.#answer(input);
    this.#deliveries.refreshReady(queue, subscription);
  }

  #unsubscribe(input: Command<'unsubscribe'>): void {
    const connection = this.#connection(input.connection);
    const subscription = connection.subscriptions.get(input.queue);
    if (subscription !== undefined) this.#endSubscription(subscription, MOST_CHANGES);
    this.#answer(input);
  }

  /** Tells how many messages it changed, at most `most`; the rest goes on at the next tick. */
  #endSubscription(subscription: Subscription, most: number): number {
    subscription.active = false;
    subscription.connection.subscriptions.delete(subscription.queueName);
    const queue = this.#queues.get(subscription.queueName);
    if (queue === undefined) {
      this.#queues.forgetDormant(subscription);
      return 0;
    }
    queue.subscriptions.delete(subscription);
    queue.ready.remove(subscription);
    if (subscription.inFlightCount > 0) queue.departed.add(subscription);
    this.#step.touch(queue);
    return this.#letGo(queue, subscription, most);
  }

  #letGo(queue: Queue, subscription: Subscription, most: number): number {
    const tools = { deliveries: this.#deliveries, settlement: this.#settlement };
    const count = queue.mode.left(queue, subscription, most, tools);
    if (queue.owedCopies.isOwed(subscription))
      this.#timers.set(this.#step.now, { kind: 'leave', queue, subscription });
    return count;
  }

  #settle(input: AcknowledgeInput | NegativeAcknowledgeInput): void {
    const connection = this.#connections.get(input.connection);
    if (connection === undefined) return;
    const delivery = this.#deliveries.find(connection, input.id, input.queue);
    if (delivery === undefined) return;
    if (input.kind === 'acknowledge') this.#attempts.acknowledged(delivery);
    else this.#attempts.refused(delivery, input.reason);
    if (this.#step.isDraining) this.#closeWhenIdle(connection);
  }

  #createQueue(input: Command<'createQueue'>): void {
    const { connection, token, queue: name, options, invalid } = input;
    const live = this.#queues.get(name);
    if (live !== undefined) {
      const same = options === undefined ? invalid === undefined : sameOptions(name, options, live.options);
      if (same) return this.#answer(input);
      return this.#step.refuse(connection, token, 'QUEUE_EXISTS', `Queue ${name} exists with other options.`);
    }
    const wanted = options ?? this.#defaultOptions();
    const impossible = invalid ?? impossibleOption(name, wanted);
    if (impossible !== undefined) {
      return this.#step.refuse(connection, token, 'INVALID_PAYLOAD', `Queue ${name}: ${impossible}.`);
    }
    if (this.#create(input, name, wanted) !== undefined) this.#answer(input);
  }

  #deleteQueue(input: Command<'deleteQueue'>): void {
    const queue = this.#queues.get(input.queue);
    if (queue !== undefined) {
      this.#publishing.withdrawAll(queue, 'QUEUE_NOT_FOUND', `Queue ${queue.name} was deleted.`);
      this.#settlement.clearTimers(queue);
      this.#deliveries.forgetOverdue(queue);
      this.#queues.delete(queue);
    }
    this.#answer(input);
  }

  #connected(id: ConnectionId): void {
    const connection = new Connection(id);
    this.#connections.set(id, connection);
    if (this.#step.isDraining) this.#closeWhenIdle(connection);
  }

  #disconnected(id: ConnectionId): void {
    const connection = this.#connections.get(id);
    if (connection === undefined) return;
    this.#connections.delete(id);
    this.#publishing.withdrawOf(connection);
    // Attempts that are due and not made end with the connection, like all that it has in flight.
    connection.overdue.clear();
    let left = MOST_CHANGES;
    for (const subscription of [...connection.subscriptions.values()]) {
      left -= this.#endSubscription(subscription, left);
    }
    this.#attempts.cutShort(connection);
  }

  #writable(id: ConnectionId, writable: boolean): void {
    const connection = this.#connections.get(id);
    if (connection === undefined) return;
    if (connection.writable === writable && !connection.isSaturated) return;
    connection.writable = writable;
    if (connection.isSaturated) this.#endWaitFor(connection);
    this.#refreshReady(connection);
    if (writable && !this.#step.isDraining) this.#attempts.catchUp(connection);
  }

  /** Queues that sent nothing until it was known whether the connection takes more go on, with it or without it. */
  #endWaitFor(connection: Connection): void {
    connection.isSaturated = false;
    connection.burstBytes = 0;
    for (const name of connection.subscriptions.keys()) {
      const queue = this.#queues.get(name);
      if (queue !== undefined) this.#step.touch(queue);
    }
  }

  #refreshReady(connection: Connection): void {
    for (const subscription of connection.subscriptions.values()) {
      const queue = this.#queues.get(subscription.queueName);
      if (queue !== undefined) this.#deliveries.refreshReady(queue, subscription);
    }
  }

  /** Everything that has fallen due by now takes effect before what comes now, and before younger messages move. */
  #doWhatIsDue(): void {
    if (this.#step.isDraining) return;
    this.#doneUntil = this.#step.now;
    let left = MOST_CHANGES - this.#attempts.timeOut(MOST_CHANGES);
    while (left > 0) {
      const timer = this.#timers.takeDue(this.#step.now);
      if (timer === undefined) break;
      left -= 1 + this.#fire(timer, left);
    }
    this.#moveMessages();
  }

  /** Does what a timer stands for; tells how many messages it changed beyond the one that every timer may. */
  #fire(timer: Timer, most: number): number {
    if (timer.kind === 'purge') return this.#purging.goOn(timer.purge, most);
    if (timer.kind === 'resume') this.#attempts.resume(timer.delivery);
    else if (timer.queue.deleted) return 0;
    else if (timer.kind === 'expire') return this.#settlement.expireOldest(timer.queue, most);
    else if (timer.kind === 'leave') return this.#letGo(timer.queue, timer.subscription, most);
    else return this.#settlement.offerAgain(timer.queue, most);
    return 0;
  }

  #drain(): void {
    if (this.#step.isDraining) return;
    this.#step.isDraining = true;
    this.#purging.giveUp(SHUTTING_DOWN);
    for (const name of this.#queues.names()) {
      const queue = this.#queues.get(name);
      if (queue !== undefined) this.#publishing.withdrawAll(queue, 'SHUTTING_DOWN', SHUTTING_DOWN);
    }
    for (const connection of this.#connections.values()) this.#closeWhenIdle(connection);
  }

  /** Lets messages move wherever something has changed, until nothing moves any more. */
  #moveMessages(): void {
    if (this.#step.isDraining) return;
    for (let queue = this.#step.takeTouched(); queue !== undefined; queue = this.#step.takeTouched()) {
      if (queue.deleted) continue;
      this.#settlement.dispatch(queue);
      while (this.#publishing.admitNext(queue)) this.#settlement.dispatch(queue);
      for (let full = this.#step.saturated.pop(); full !== undefined; full = this.#step.saturated.pop()) {
        this.#refreshReady(full);
      }
    }
  }

  /** The queue that a publish or subscribe names, created when that is allowed; otherwise the command is refused. */
  #queueFor(input: Command<'publish'> | SubscribeInput): Queue | undefined {
    const queue = this.#queues.get(input.queue);
    if (queue !== undefined) return queue;
    if (this.#settings.enableAutoCreate) return this.#create(input, input.queue, this.#defaultOptions());
    const text = `Queue ${input.queue} does not exist and is not created on its own here.`;
    this.#step.refuse(input.connection, input.token, 'QUEUE_NOT_FOUND', text);
    return undefined;
  }

  #create(
    { connection, token }: { readonly connection: ConnectionId; readonly token: Token },
    name: string,
    options: QueueOptions,
  ): Queue | undefined {
    if (this.#queues.size + this.#queues.missing(name, options) <= this.#settings.maxQueues) {
      const queue = this.#queues.create(name, options);
      this.#step.touch(queue);
      return queue;
    }
    const text = `The broker has ${this.#queues.size} queues, which is the limit.`;
    this.#step.refuse(connection, token, 'LIMIT_EXCEEDED', text);
    return undefined;
  }

  #defaultOptions(): QueueOptions {
    const { defaultDeliveryMode, defaultMaxQueueSize } = this.#settings;
    return { ...defaultQueueOptions, mode: defaultDeliveryMode, maxQueueSize: defaultMaxQueueSize };
  }

  #answer(
    { connection, token }: { readonly connection: ConnectionId; readonly token: Token },
    result?: QueueInfo | null | readonly string[],
  ): void {
    this.#step.effect(
      result === undefined
        ? { kind: 'answered', connection, token }
        : { kind: 'answered', connection, token, result },
    );
  }

  /** The gate before all commands: refuses every one of them while the broker drains. */
  #refuses(input: Input): boolean {
    if (!this.#step.isDraining || !('token' in input) || input.kind === 'barrier') return false;
    this.#step.refuse(input.connection, input.token, 'SHUTTING_DOWN', SHUTTING_DOWN);
    return true;
  }

  #closeWhenIdle(connection: Connection): void {
    if (connection.inFlightCount === 0) this.#step.effect({ kind: 'close', connection: connection.id });
  }

  #connection(id: ConnectionId): Connection {
    const connection = this.#connections.get(id);
    if (connection === undefined) throw new Error(`Connection ${id} is not known to the broker.`);
    return connection;
  }
}

const SHUTTING_DOWN = 'The broker is shutting down.';
