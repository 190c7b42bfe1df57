// The part of the audit of the broker core that watches connections: deliveries only between the answers to Subscribe and Unsubscribe and
// only while the connection is writable, first deliveries in the order of acceptance, no more in flight than the window allows.

import { ok } from 'node:assert/strict';
import type { DeliverEffect } from '../broker/interface/effect.ts';
import type { ConnectionId, Input } from '../broker/interface/input.ts';
import { type Principal, QueueOperation } from '../model/access.ts';
import type { AuditedMessage, AuditedQueue } from './audited-store.ts';
import { describeEffect } from './broker-describers.ts';
import { may } from './naive/rights.ts';

type Command = Extract<Input, { readonly token: unknown }>;

/** One subscription from its subscribe answer on. */
type AuditedSubscription = {
  /** The maximum of deliveries in flight; it grows with acks unless `fixed`. */
  limit: number;
  readonly fixed: boolean;
};

type AuditedConnection = {
  writable: boolean;
  readonly username: string | undefined;
  readonly subscriptions: Map<string, AuditedSubscription>;
};

/** The subscriber that certainly has the message, in modes with one subscriber at a time. */
type Holding = {
  readonly message: AuditedMessage;
  readonly connection: ConnectionId;
  readonly subscription: AuditedSubscription;
};

const FIRST_WINDOW = 8;

export class AuditedConnections {
  readonly #max: number;
  readonly #connections = new Map<ConnectionId, AuditedConnection>();
  #holdings: Holding[] = [];
  /** The latest first delivery, for each key within which order is required. */
  readonly #youngest = new Map<string, number>();
  /** FanOutWithAck messages that lost a member: they may be delivered after younger ones. */
  readonly #returned = new Set<AuditedMessage>();
  readonly #receivers = new Map<AuditedMessage, Set<ConnectionId>>();

  /** `max`: the largest window of any subscription. */
  constructor(max: number) {
    this.#max = max;
  }

  isOpen(id: ConnectionId): boolean {
    return this.#connections.has(id);
  }

  takeInput(input: Input): void {
    switch (input.kind) {
      case 'connected':
        this.#connections.set(input.connection, {
          writable: true,
          username: input.principal?.username,
          subscriptions: new Map(),
        });
        break;
      case 'rightsChanged':
        this.#endLost(input.principal);
        break;
      case 'disconnected':
        this.#connections.delete(input.connection);
        this.#forgetHoldings(input.connection);
        break;
      case 'writable':
        this.#of(input.connection).writable = input.writable;
        this.#forgetHoldings(input.connection);
        break;
      case 'acknowledge':
      case 'negativeAcknowledge':
        this.#takeAck(input.connection, input.id);
        break;
    }
  }

  /** An input that takes effect at some time in this step: what its connection has may come back from then on. */
  mayReturn(input: Input): void {
    if ('connection' in input) this.#markReturned(input.connection);
    if (input.kind !== 'rightsChanged') return;
    for (const [id, { username }] of this.#connections) {
      if (username === input.principal.username) this.#markReturned(id);
    }
  }

  takeAnswered(command: Command): void {
    const { subscriptions } = this.#of(command.connection);
    if (command.kind === 'unsubscribe') {
      subscriptions.delete(command.queue);
      this.#markReturned(command.connection);
    }
    if (command.kind !== 'subscribe' || subscriptions.has(command.queue)) return;
    const asked = command.maxInFlight ?? FIRST_WINDOW;
    const limit = Math.max(1, Math.min(asked, this.#max));
    subscriptions.set(command.queue, { limit, fixed: command.maxInFlight !== undefined });
  }

  takeDelivery(effect: DeliverEffect, queue: AuditedQueue, message: AuditedMessage): void {
    const what = describeEffect(effect);
    const connection = this.#of(effect.connection);
    const subscription = connection.subscriptions.get(effect.queue);
    ok(subscription !== undefined, `${what}: not subscribed`);
    ok(connection.writable, `${what}: the connection takes no frames`);
    if (effect.attempt === 1) this.#checkOrder(effect, queue, message);
    this.#checkWindow(what, { message, connection: effect.connection, subscription }, queue);
    this.#receivers.set(message, (this.#receivers.get(message) ?? new Set()).add(effect.connection));
  }

  /** First deliveries follow acceptance: over the whole queue, or within a priority, or to one subscriber. */
  #checkOrder(effect: DeliverEffect, queue: AuditedQueue, message: AuditedMessage): void {
    if (queue.options.mode === 1 && this.#returned.has(message)) return;
    const { sequence, priority } = message.stored;
    const within = queue.options.mode === 3 ? `priority ${priority}` : '';
    const to = queue.options.mode === 1 || queue.options.mode === 2 ? `to ${effect.connection}` : '';
    const key = `${queue.generation} ${within} ${to}`;
    ok(sequence > (this.#youngest.get(key) ?? 0), `${describeEffect(effect)}: out of order`);
    this.#youngest.set(key, sequence);
  }

  #checkWindow(what: string, holding: Holding, queue: AuditedQueue): void {
    if (queue.options.mode === 1 || queue.options.mode === 2) return;
    this.#holdings = this.#holdings.filter(({ message }) => message !== holding.message);
    this.#holdings.push(holding);
    const held = this.#holdings.filter(
      ({ subscription, message }) =>
        subscription === holding.subscription && queue.messages.get(message.stored.sequence) === message,
    );
    ok(held.length <= holding.subscription.limit, `${what}: ${held.length} in flight is over the window`);
  }

  #takeAck(id: ConnectionId, messageId: string): void {
    const acked = (holding: Holding) => holding.connection === id && holding.message.stored.id === messageId;
    this.#holdings = this.#holdings.filter((holding) => !acked(holding));
    for (const subscription of this.#of(id).subscriptions.values()) {
      if (!subscription.fixed) subscription.limit = Math.min(subscription.limit + 1, this.#max);
    }
  }

  /** Subscriptions that the user has lost the right for have ended, and what they had in flight comes back. */
  #endLost(principal: Principal): void {
    for (const [id, { username, subscriptions }] of this.#connections) {
      if (username !== principal.username) continue;
      for (const queue of subscriptions.keys()) {
        if (!may(principal, QueueOperation.Subscribe, queue)) subscriptions.delete(queue);
      }
      this.#markReturned(id);
    }
  }

  #forgetHoldings(id: ConnectionId): void {
    this.#holdings = this.#holdings.filter(({ connection }) => connection !== id);
    this.#markReturned(id);
  }

  #markReturned(id: ConnectionId): void {
    for (const [message, receivers] of this.#receivers) if (receivers.has(id)) this.#returned.add(message);
  }

  #of(id: ConnectionId): AuditedConnection {
    const connection = this.#connections.get(id);
    ok(connection !== undefined, `connection ${id} is not open`);
    return connection;
  }
}
