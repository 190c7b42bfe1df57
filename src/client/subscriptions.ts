// The subscriptions of a client, by queue, across all its connections: passes deliveries on, renews the subscriptions on each new connection,
// and stops reading while too many messages wait for handlers and no answer is awaited. Implements CLIENT-014.

import { ErrorCode } from '../model/error-code.ts';
import { Command } from '../protocol/command.ts';
import type { Message } from '../protocol/message.ts';
import type { CallOptions } from './abort.ts';
import type { RequestFunction } from './broker-commands.ts';
import type { ClientConnection, CommandRequest } from './client-connection.ts';
import type { EventListeners } from './client-events.ts';
import type { ClientSubscription } from './client-subscription.ts';
import {
  type ClientError,
  CommandError,
  CommandTimeoutError,
  ConnectionError,
  SubscriptionReplacedError,
} from './errors.ts';
import { warn } from './process-warning.ts';
import { ReceivedMessage } from './received-message.ts';
import type { Renewable } from './supervisor.ts';

/** Messages that may wait for handlers before the client stops reading: a queue without acks has no other limit. */
const MAX_BACKLOG_COUNT = 1_024;
/** Bytes of their payloads, for the same reason: 1,024 messages of the largest size would be a gigabyte. */
const MAX_BACKLOG_BYTES = 67_108_864;

/** Refusals that end a subscription. After others, which may pass, the client tries to connect again. */
const LASTING_REFUSALS: readonly string[] = [
  ErrorCode.QueueNotFound,
  ErrorCode.NotAuthorized,
  ErrorCode.LimitExceeded,
];

export type SubscriptionsOptions = {
  readonly events: EventListeners;
  /** Sends a command on the current connection, or on the next one. */
  readonly request: RequestFunction;
  readonly isConnected: () => boolean;
};

export class Subscriptions implements Renewable {
  readonly #options: SubscriptionsOptions;
  readonly #byQueue = new Map<string, ClientSubscription>();
  /** The connection that messages arrive on. */
  #connection: ClientConnection | undefined;

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Subscribes. The subscription takes the messages of the queue in place of the one before, which still handles what it has received. */
  async open(queue: string, subscription: ClientSubscription, call: CallOptions): Promise<void> {
    subscription.replaced = this.#byQueue.get(queue);
    // Registered before the answer: the first Deliver may be in the same chunk.
    this.#byQueue.set(queue, subscription);
    try {
      await this.#options.request(subscribeRequest(queue, subscription), call);
    } catch (error) {
      const mayBeSubscribed = error instanceof CommandTimeoutError || call.signal?.aborted === true;
      this.#withdraw(queue, subscription, mayBeSubscribed);
      throw error;
    }
    subscription.accept(new SubscriptionReplacedError(queue));
    // What waits for the handlers before may wait for ever, and does not count any more.
    this.balanceReading();
    // Unsubscribed in a break, when the Subscribe waited for the next connection.
    if (!this.#byQueue.has(queue) && this.#options.isConnected()) await this.#unsubscribe(queue, {});
  }

  /** Unsubscribes; without a connection there is nothing to end but the wish. Received messages are still handled. */
  async close(queue: string, call: CallOptions): Promise<void> {
    const subscription = this.#byQueue.get(queue);
    if (this.#options.isConnected()) await this.#unsubscribe(queue, call);
    if (subscription !== undefined) this.#remove(queue, subscription)?.retire();
    this.balanceReading();
  }

  /** Ends a subscription that hands over no more messages, unless another one has taken its place. */
  async drop(queue: string, subscription: ClientSubscription): Promise<void> {
    subscription.stop();
    if (this.#remove(queue, subscription) === undefined)
      // One that waits for its answer may have taken its place: it must not give it back.
      this.#replacing(queue, subscription)?.inherit(subscription.replaced, subscription.isAccepted);
    else if (this.#options.isConnected()) await this.#unsubscribe(queue, {});
  }

  deliver(message: Message, connection: ClientConnection): void {
    if (!connection.isOpen) return;
    this.#connection = connection;
    this.#byQueue.get(message.queue)?.deliver(new ReceivedMessage(message, connection));
  }

  async renew(connection: ClientConnection): Promise<void> {
    const renewals = [...this.#byQueue].map(async ([queue, { accepted }]) =>
      accepted !== undefined && (await this.#renewOne(connection, queue, accepted)) ? [queue] : [],
    );
    const renewed = (await Promise.all(renewals)).flat();
    // Unsubscribed meanwhile.
    const unwanted = renewed.filter((queue) => !this.#byQueue.has(queue));
    await Promise.all(unwanted.map((queue) => connection.request(unsubscribeRequest(queue))));
  }

  suspend(): void {
    this.#connection = undefined;
    for (const subscription of this.#byQueue.values()) subscription.discardBacklog();
  }

  end(error: ClientError): void {
    this.stopAll(error);
    this.#byQueue.clear();
  }

  /** Hands no more messages to handlers. */
  stopAll(error?: ClientError): void {
    for (const subscription of this.#byQueue.values()) subscription.stop(error);
  }

  /** Stops or continues reading, according to the number and the bytes of waiting messages. */
  balanceReading(): void {
    const connection = this.#connection;
    if (connection === undefined) return;
    let backlogCount = 0;
    let backlogBytes = 0;
    for (const subscription of this.#byQueue.values()) {
      backlogCount += subscription.backlogCount;
      backlogBytes += subscription.backlogBytes;
    }
    const load = Math.max(backlogCount / MAX_BACKLOG_COUNT, backlogBytes / MAX_BACKLOG_BYTES);
    if (load >= 1) connection.pause();
    else if (load <= 0.5) connection.resume();
  }

  /** Whether the broker has accepted; false: the subscription is lost. */
  async #renewOne(
    connection: ClientConnection,
    queue: string,
    subscription: ClientSubscription,
  ): Promise<boolean> {
    try {
      await connection.request(subscribeRequest(queue, subscription));
      return true;
    } catch (error) {
      if (!(error instanceof CommandError) || !LASTING_REFUSALS.includes(error.code)) throw error;
      this.#loseOne(queue, subscription, error);
      return false;
    }
  }

  /** Ends the subscription to a queue, and tells the user; without one it does nothing. */
  lose(queue: string, error: ClientError): void {
    const subscription = this.#byQueue.get(queue);
    if (subscription !== undefined) this.#loseOne(queue, subscription, error);
  }

  /** The same for one that another may be about to replace; nothing if the user has ended it. */
  #loseOne(queue: string, subscription: ClientSubscription, error: ClientError): void {
    const replacing = this.#replacing(queue, subscription);
    if (this.#remove(queue, subscription) === undefined && replacing === undefined) return;
    replacing?.inherit(subscription.replaced, false);
    subscription.stop(error);
    const isHeard = this.#options.events.emit('subscriptionLost', { queue, error });
    if (!isHeard) warn(`the subscription to queue ${JSON.stringify(queue)} is lost`, error);
  }

  /** An unsubscription that fails because the connection ended has reached its aim. */
  async #unsubscribe(queue: string, call: CallOptions): Promise<void> {
    try {
      await this.#options.request(unsubscribeRequest(queue), call);
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error;
    }
  }

  /** Without an answer the broker may have subscribed the client, and would wait for acks that nobody sends. */
  #withdraw(queue: string, subscription: ClientSubscription, mayBeSubscribed: boolean): void {
    const { replaced } = subscription;
    const isDoubtful = mayBeSubscribed || subscription.isDoubtful;
    subscription.replaced = undefined;
    if (this.#byQueue.get(queue) !== subscription) {
      this.#replacing(queue, subscription)?.inherit(replaced, isDoubtful);
    } else if (replaced !== undefined) this.#byQueue.set(queue, replaced);
    else {
      this.#byQueue.delete(queue);
      // The caller has the failure of the Subscribe: that of the Unsubscribe says nothing new.
      if (isDoubtful && this.#options.isConnected()) this.#unsubscribe(queue, {}).catch(() => undefined);
    }
  }

  /** The subscription that has taken the place of this one. */
  #replacing(queue: string, subscription: ClientSubscription): ClientSubscription | undefined {
    let other = this.#byQueue.get(queue);
    while (other !== undefined && other.replaced !== subscription) other = other.replaced;
    return other;
  }

  /** The subscription, if it was the one of this queue. */
  #remove(queue: string, subscription: ClientSubscription): ClientSubscription | undefined {
    if (this.#byQueue.get(queue) !== subscription) return undefined;
    this.#byQueue.delete(queue);
    return subscription;
  }
}

function subscribeRequest(queue: string, { headers }: ClientSubscription): CommandRequest {
  return { command: Command.Subscribe, answer: Command.SubscribeAck, queue, headers };
}

function unsubscribeRequest(queue: string): CommandRequest {
  return { command: Command.Unsubscribe, answer: Command.UnsubscribeAck, queue };
}
