// Watches a broker core from outside and throws when a rule is broken that holds for every sequence of inputs: one answer per command, each
// accepted message in exactly one place, no delivery after a message was settled or expired or after the answer to Unsubscribe, order,
// windows, consistent counters. Unlike the naive broker it knows no other rules of delivery, but checks the store records.

import { ok, strictEqual } from 'node:assert/strict';
import type { AnsweredEffect, DeliverEffect, Effect, RefusedEffect } from '../broker/interface/effect.ts';
import type { Input } from '../broker/interface/input.ts';
import type { BrokerSettings } from '../broker/interface/settings.ts';
import type { StoreRecord } from '../broker/interface/store-record.ts';
import type { Time } from '../broker/interface/time.ts';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { AuditedConnections } from './audited-connections.ts';
import { AuditedStore } from './audited-store.ts';
import { describeEffect } from './broker-describers.ts';
import type { SteppedBroker } from './broker-harness.ts';

export type ObservedStep = {
  readonly input: Input;
  readonly time: Time;
  readonly records: readonly StoreRecord[];
  readonly effects: readonly Effect[];
  /** A deadline was due before the input, and was handled first. */
  readonly late: boolean;
};

type Command = Extract<Input, { readonly token: unknown }>;

export class BrokerAudit {
  readonly #connections: AuditedConnections;
  readonly #store = new AuditedStore();
  /** Commands not answered yet, by token. */
  readonly #open = new Map<unknown, Command>();
  #deliveredCount = 0;
  #retryCount = 0;
  /** Of copies that say that the message was sent before: perhaps not the copy. */
  #perhapsRetryCount = 0;
  #ackCount = 0;
  #draining = false;

  constructor(settings: BrokerSettings) {
    this.#connections = new AuditedConnections(settings.maxInFlightPerSubscriber);
  }

  /** Checks one step and its outputs. Throws an assertion that names the broken rule. */
  observe(step: ObservedStep, broker: SteppedBroker): void {
    if ('token' in step.input) this.#open.set(step.input.token, step.input);
    const afterwards = step.late && endsDelivery(step.input);
    if (afterwards) this.#connections.mayReturn(step.input);
    else this.#takeInput(step.input);
    this.#store.take(step.records, step.time.now);
    for (const effect of step.effects) this.#takeEffect(effect, step.time.now);
    if (afterwards) this.#takeInput(step.input);
    this.#checkAnswers(step.input, broker);
    this.#checkCounts(broker);
    this.#draining ||= step.input.kind === 'drain';
  }

  #takeInput(input: Input): void {
    if (input.kind === 'acknowledge') this.#ackCount += 1;
    if (input.kind === 'disconnected') {
      for (const [token, command] of this.#open) {
        if (command.connection === input.connection) this.#open.delete(token);
      }
    }
    this.#connections.takeInput(input);
  }

  #takeEffect(effect: Effect, now: number): void {
    ok(this.#connections.isOpen(effect.connection), `${describeEffect(effect)}: the connection has ended`);
    if (effect.kind === 'deliver') this.#takeDelivery(effect, now);
    else if (effect.kind === 'answered' || effect.kind === 'refused') this.#takeAnswer(effect);
  }

  #takeAnswer(effect: AnsweredEffect | RefusedEffect): void {
    const command = this.#open.get(effect.token);
    ok(command !== undefined, `${describeEffect(effect)}: answered twice, or never asked`);
    strictEqual(effect.connection, command.connection, `${describeEffect(effect)}: not to who asked`);
    this.#open.delete(effect.token);
    if (effect.kind === 'answered') this.#connections.takeAnswered(command);
  }

  #takeDelivery(effect: DeliverEffect, now: number): void {
    const what = describeEffect(effect);
    this.#deliveredCount += 1;
    ok(!this.#draining, `${what}: delivered while draining`);
    const { queue, message } = this.#store.find(effect.queue, effect.content);
    ok(queue !== undefined && message !== undefined, `${what}: settled before`);
    if (effect.attempt > 1) this.#countRetry(queue.options.mode);
    const ttl = queue.options.messageTtlMs;
    ok(ttl === undefined || now - message.acceptedAt < ttl, `${what}: has expired`);
    strictEqual(effect.deadLetter, message.stored.deadLetter, `${what}: not the dead letter facts it has`);
    this.#connections.takeDelivery(effect, queue, message);
  }

  #countRetry(mode: DeliveryMode): void {
    if (mode === DeliveryMode.FanOutWithAck) this.#perhapsRetryCount += 1;
    else this.#retryCount += 1;
  }

  /** Only a publish to a queue that blocks its publishers may wait for its answer. */
  #checkAnswers(input: Input, broker: SteppedBroker): void {
    if (!('token' in input) || !this.#open.has(input.token)) return;
    const strategy = broker.queueInfo('queue' in input ? input.queue : '')?.options.overflowStrategy;
    ok(input.kind === 'publish' && strategy === 2, `${input.kind} has no answer`);
  }

  #checkCounts(broker: SteppedBroker): void {
    const stats = broker.stats();
    const store = this.#store;
    strictEqual(stats.deliveredCount, this.#deliveredCount, 'deliveredCount is not what was delivered');
    const { retryCount } = stats;
    ok(retryCount >= this.#retryCount, 'retryCount is less than was delivered again');
    const mostRetries = this.#retryCount + this.#perhapsRetryCount;
    ok(retryCount <= mostRetries, 'retryCount is more than was delivered again');
    const entered = stats.publishedCount + stats.requeuedCount;
    strictEqual(store.addedCount, entered, 'a message was added that was neither published nor requeued');
    strictEqual(stats.deadLetteredCount, store.deadLetteredCount, 'deadLetteredCount is not what was moved');
    ok(stats.acknowledgedCount <= this.#ackCount, 'more acknowledged than acks came');
    this.#checkPlaces(broker);
    if (store.everFannedOut) return;
    const { acknowledgedCount, discardedCount, purgedCount, requeuedCount } = stats;
    const gone = acknowledgedCount + discardedCount + purgedCount + requeuedCount;
    strictEqual(
      store.removedCount,
      gone,
      'a message left that was not acknowledged, discarded, purged or requeued',
    );
  }

  /** Each message held is waiting or in flight; with one copy per message the numbers are equal. */
  #checkPlaces(broker: SteppedBroker): void {
    const names = broker.queueNames();
    strictEqual(names.length, this.#store.queueCount, 'the queues are not those that were recorded');
    const waiting = names.reduce((sum, name) => sum + (broker.queueInfo(name)?.messageCount ?? 0), 0);
    const inFlight = this.#store.messageCount - waiting;
    const stats = broker.stats();
    ok(inFlight >= 0, 'more messages wait than are held');
    if (this.#store.everFannedOut) ok(inFlight <= stats.inFlightCount, 'a message is nowhere');
    else strictEqual(inFlight, stats.inFlightCount, 'a message is nowhere, or in two places');
    if (this.#open.size === 0) strictEqual(stats.queuedBytes, this.#store.heldBytes, 'queuedBytes is off');
    else ok(stats.queuedBytes >= this.#store.heldBytes, 'queuedBytes is less than what is held');
  }
}

/** Deadlines that are due are handled before such an input, so the connection may still get deliveries in this step. */
function endsDelivery(input: Input): boolean {
  if (input.kind === 'writable') return !input.writable;
  return input.kind === 'disconnected' || input.kind === 'rightsChanged';
}
