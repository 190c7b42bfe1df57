// What the naive broker remembers, and the questions it asks about it. Everything is a list, every answer is counted
// afresh: this is the second, slower mind that the real core is compared with, so it shares nothing but types with it.

import type { Effect } from '../../broker/interface/effect.ts';
import type { ConnectionId, Token } from '../../broker/interface/input.ts';
import type { DeadLetterFacts, MessageContent } from '../../broker/interface/message-content.ts';
import type { BrokerSettings } from '../../broker/interface/settings.ts';
import type { Principal } from '../../model/access.ts';
import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';
import type { Priority } from '../../model/priority.ts';
import type { QueueFigures, QueueInfo, SubscriberFigures } from '../../model/queue-info.ts';
import type { QueueOptions } from '../../model/queue-options.ts';

export type NaiveConnection = {
  readonly id: ConnectionId;
  writable: boolean;
  closeAsked: boolean;
  /** Undefined: no user, and all rights. */
  principal: Principal | undefined;
};

export type NaiveSubscription = {
  /** Greater than the places of all that subscribed before. */
  readonly place: number;
  readonly connection: NaiveConnection;
  readonly queueName: string;
  /** How many deliveries may be in flight on it. */
  window: number;
  /** Asked for by the subscriber: it neither grows nor shrinks. */
  readonly fixed: boolean;
};

/** One message's way to one subscriber. RoundRobin and PriorityBased have at most one at a time. */
export type NaiveCopy = {
  readonly subscription: NaiveSubscription;
  /** FanOutWithAck: how often the message was sent before it had these copies. */
  readonly sentBefore: number;
  state: 'unsent' | 'sent' | 'paused' | 'acknowledged' | 'failed' | 'ended';
  sentCount: number;
  failedCount: number;
  /** It ended with its connection. */
  cutShort: boolean;
  sentAt: number;
  /** Place in the order of first sendings to a subscriber; 0: never sent. */
  sendOrder: number;
  /** While sent: the ack timeout. While paused: when the next attempt is due. */
  timerAt: number;
  /** The next attempt fell due while the subscriber did not read. */
  overdue: boolean;
  timerOrder: number;
};

export type NaiveMessage = {
  readonly order: number;
  readonly id: string;
  readonly priority: Priority;
  readonly content: MessageContent;
  readonly acceptedAt: number;
  readonly acceptedWallAt: number;
  readonly deadLetter: DeadLetterFacts | undefined;
  /** How often it was sent, to whomever. */
  sendings: number;
  /** What it has behind it while nobody has it; in FanOutWithAck always 0, there each copy counts for itself. */
  sentCount: number;
  failedCount: number;
  /** FanOutWithAck: its unsent copies were pushed out. */
  pushedOut: boolean;
  /** Times in a row that a delivery was cut short by the end of its connection. */
  cutShortCount: number;
  /** Not offered before this instant. */
  heldUntil: number;
  copies: NaiveCopy[];
  /** FanOutWithAck: place in the order in which messages got their members. */
  activationOrder: number;
  firstFailure: NaiveFailure | undefined;
};

/** A publish that waits for room, with everybody who waits for its answer; the first of them holds its place. */
export type NaiveBlocked = {
  readonly id: string;
  readonly priority: Priority;
  readonly content: MessageContent;
  askers: { readonly connection: NaiveConnection; readonly token: Token }[];
};

export type NaiveDeadLetter = {
  readonly source: NaiveQueue;
  readonly message: Pick<NaiveMessage, 'id' | 'priority' | 'content'>;
  readonly failure: NaiveFailure;
};

export type NaiveFailure = { readonly reason: DeadLetterReason; readonly attempts: number };

export type NaiveQueue = {
  /** How many queues were created before it, and one. */
  readonly id: number;
  readonly name: string;
  readonly options: QueueOptions;
  readonly createdWallAt: number;
  messages: NaiveMessage[];
  blocked: NaiveBlocked[];
  /** The place of the subscription whose turn was last (RoundRobin, PriorityBased). */
  lastPlace: number;
  /** What has happened in it, each a word, in order. */
  readonly history: ('entered' | 'delivered' | 'acknowledged')[];
};

export type NaiveCounters = {
  publishedCount: number;
  deliveredCount: number;
  acknowledgedCount: number;
  retryCount: number;
  deadLetteredCount: number;
  discardedCount: number;
  purgedCount: number;
  requeuedCount: number;
  firstDeliveryCount: number;
};

export type NaiveState = {
  readonly settings: BrokerSettings;
  readonly counters: NaiveCounters;
  now: number;
  wallNow: number;
  draining: boolean;
  /** Hands out places in all orders. */
  lastOrder: number;
  connections: NaiveConnection[];
  /** In the order of subscribing; also those of deleted queues. */
  subscriptions: NaiveSubscription[];
  queues: NaiveQueue[];
  /** Queues in which something has changed in this step, in the order in which it did: their messages are offered before those of the others. */
  changed: Set<NaiveQueue>;
  /** Queues created so far, deleted ones included. */
  createdCount: number;
  /** Given up, and on the way to a dead letter queue. */
  deadLetters: NaiveDeadLetter[];
  effects: Effect[];
};

export function newState(settings: BrokerSettings): NaiveState {
  return {
    settings,
    counters: {
      publishedCount: 0,
      deliveredCount: 0,
      acknowledgedCount: 0,
      retryCount: 0,
      deadLetteredCount: 0,
      discardedCount: 0,
      purgedCount: 0,
      requeuedCount: 0,
      firstDeliveryCount: 0,
    },
    now: 0,
    wallNow: 0,
    draining: false,
    lastOrder: 0,
    connections: [],
    subscriptions: [],
    queues: [],
    changed: new Set(),
    createdCount: 0,
    deadLetters: [],
    effects: [],
  };
}

export function nextOrder(state: NaiveState): number {
  state.lastOrder += 1;
  return state.lastOrder;
}

export function findQueue(state: NaiveState, name: string): NaiveQueue | undefined {
  return state.queues.find((queue) => queue.name === name);
}

export function connectionOf(state: NaiveState, id: ConnectionId): NaiveConnection {
  const found = state.connections.find((connection) => connection.id === id);
  if (found === undefined) throw new Error(`connection ${id} is not open`);
  return found;
}

export function subscriptionsOf(state: NaiveState, queue: NaiveQueue): NaiveSubscription[] {
  return state.subscriptions.filter((subscription) => subscription.queueName === queue.name);
}

export function isInFlight(copy: NaiveCopy): boolean {
  return copy.state === 'sent' || copy.state === 'paused';
}

/** Due for its next attempt, which cannot be made while its subscriber does not read. */
export function isOverdue(copy: NaiveCopy): boolean {
  return copy.state === 'paused' && copy.overdue;
}

export function isWaiting(message: NaiveMessage): boolean {
  return message.copies.length === 0 || message.copies.some((copy) => copy.state === 'unsent');
}

export function waitingMessages(queue: NaiveQueue): NaiveMessage[] {
  return queue.messages.filter(isWaiting);
}

/** Waiting, without members yet, and not held back: what a subscriber could be given, the first to go first. */
export function offerableMessages(state: NaiveState, queue: NaiveQueue): NaiveMessage[] {
  const offerable = queue.messages.filter((one) => one.copies.length === 0 && one.heldUntil <= state.now);
  return offerable.sort((a, b) => {
    const byPriority = queue.options.mode === 3 ? b.priority - a.priority : 0;
    return byPriority !== 0 ? byPriority : a.order - b.order;
  });
}

export function inFlightOf(queue: NaiveQueue, subscription: NaiveSubscription): number {
  const copies = queue.messages.flatMap((message) => message.copies);
  return copies.filter((copy) => copy.subscription === subscription && isInFlight(copy)).length;
}

export function isSubscribed(state: NaiveState, subscription: NaiveSubscription): boolean {
  return state.subscriptions.includes(subscription);
}

export function hasRoom(state: NaiveState, queue: NaiveQueue, subscription: NaiveSubscription): boolean {
  return (
    isSubscribed(state, subscription) &&
    subscription.connection.writable &&
    inFlightOf(queue, subscription) < subscription.window
  );
}

/** Who can take a message, in subscribe order from behind the one whose turn was last: the next one first. */
export function rotationOf(state: NaiveState, queue: NaiveQueue): readonly NaiveSubscription[] {
  const able = subscriptionsOf(state, queue).filter((one) => hasRoom(state, queue, one));
  const isBehind = (one: NaiveSubscription): boolean => one.place > queue.lastPlace;
  return [...able.filter(isBehind), ...able.filter((one) => !isBehind(one))];
}

/** Ends the turn of who is served, if it is its turn. */
export function endTurn(state: NaiveState, queue: NaiveQueue, served: NaiveSubscription): void {
  if (rotationOf(state, queue)[0] === served) queue.lastPlace = served.place;
}

export function isTooOld(state: NaiveState, queue: NaiveQueue, message: NaiveMessage): boolean {
  const ttl = queue.options.messageTtlMs;
  return ttl !== undefined && state.now - message.acceptedAt >= ttl;
}

/** The pause after the `failedCount`th failed attempt, in milliseconds. */
export function retryDelay(state: NaiveState, failedCount: number): number {
  return Math.min(state.settings.retryDelayMs * 2 ** (failedCount - 1), state.settings.maxRetryDelayMs);
}

/** Every message held, waiting, in flight and blocked, at its weight. */
export function queuedBytes(state: NaiveState): number {
  const held = state.queues.flatMap((queue) => [...queue.messages, ...queue.blocked]);
  return held.reduce((sum, one) => sum + weightOf(one.content), 0);
}

export function weightOf(content: MessageContent): number {
  return content.byteLength + 384;
}

export function infoOf(state: NaiveState, name: string): QueueInfo | undefined {
  const queue = findQueue(state, name);
  if (queue === undefined) return undefined;
  return {
    name,
    messageCount: waitingMessages(queue).length,
    subscriberCount: subscriptionsOf(state, queue).length,
    createdWallAt: queue.createdWallAt,
    options: queue.options,
  };
}

export function figuresOf(state: NaiveState, queue: NaiveQueue): QueueFigures | undefined {
  const info = infoOf(state, queue.name);
  if (info === undefined) return undefined;
  const happened = (what: string): number => queue.history.filter((one) => one === what).length;
  const copies = queue.messages.flatMap((message) => message.copies);
  const [oldest] = waitingMessages(queue).sort((a, b) => a.order - b.order);
  return {
    ...info,
    id: queue.id,
    inFlightCount: copies.filter(isInFlight).length,
    enteredCount: happened('entered'),
    deliveredCount: happened('delivered'),
    acknowledgedCount: happened('acknowledged'),
    deadLetterCount: queue.messages.filter(({ deadLetter }) => deadLetter !== undefined).length,
    oldestWallAt: oldest && Math.round(state.wallNow - (state.now - oldest.acceptedAt)),
  };
}

export function subscriberFiguresOf(state: NaiveState, queue: NaiveQueue): readonly SubscriberFigures[] {
  return subscriptionsOf(state, queue).map((subscription) => ({
    connection: subscription.connection.id,
    inFlightCount: inFlightOf(queue, subscription),
    window: queue.options.mode === 2 ? undefined : subscription.window,
  }));
}
