// The books of what is in flight: which delivery is whose, when its ack is overdue, and when its pause is over. Every
// delivery passes through `send` and `remove`, so that windows, counters and timers cannot disagree.
// Implements DELIVERY (in flight, acks by id) and METRICS (deliveries).

import { AckDeadlines } from './ack-deadlines.ts';
import type { Connection } from './connection.ts';
import { Delivery } from './delivery.ts';
import type { BrokerSettings } from './interface/settings.ts';
import type { QueuedMessage } from './message.ts';
import type { Queue } from './queue.ts';
import type { StepContext } from './step-context.ts';
import type { Subscription } from './subscription.ts';
import type { Timers } from './timers.ts';

export class Deliveries {
  readonly #step: StepContext;
  readonly #timers: Timers;
  readonly #settings: BrokerSettings;
  readonly #deadlines = new AckDeadlines();

  constructor(step: StepContext, timers: Timers, settings: BrokerSettings) {
    this.#step = step;
    this.#timers = timers;
    this.#settings = settings;
  }

  /** When the next attempt will have failed for want of an ack. */
  nextTimeoutAt(): number | undefined {
    return this.#deadlines.first()?.ackDeadlineAt;
  }

  /** Takes the first delivery whose ack is overdue; it stays in flight, without a deadline. */
  takeTimedOut(): Delivery | undefined {
    const first = this.#deadlines.first();
    if (first === undefined || first.ackDeadlineAt > this.#step.now) return undefined;
    this.#deadlines.remove(first);
    return first;
  }

  /** Sends a message to a subscription that has room, and takes one place of its window until the delivery ends. */
  send(
    queue: Queue,
    message: QueuedMessage,
    subscription: Subscription,
    earlier: { readonly attempts: number; readonly failedAttempts: number },
  ): Delivery {
    const delivery = new Delivery(queue, message, subscription, earlier);
    subscription.inFlightCount += 1;
    subscription.connection.inFlightCount += 1;
    queue.inFlightCount += 1;
    this.#step.stats.inFlightCount += 1;
    register(subscription.connection, delivery);
    this.#attempt(delivery);
    queue.ready.refresh(subscription);
    return delivery;
  }

  /** The next attempt of a delivery whose pause is over, to the same subscriber. */
  resend(delivery: Delivery): void {
    delivery.resume = undefined;
    this.#attempt(delivery);
  }

  /**
   * Sends a message that asks for no ack: nothing is in flight afterwards. No window bounds how much goes out at once, so a
   * connection that was sent its fill takes no more until it says so.
   */
  sendUnconfirmed(queue: Queue, message: QueuedMessage, subscription: Subscription): void {
    this.#emit(queue, message, subscription, 1);
    message.sentCount += 1;
    const { connection } = subscription;
    if (connection.burst !== this.#step.burst) {
      connection.burst = this.#step.burst;
      connection.burstBytes = 0;
    }
    connection.burstBytes += message.heldBytes;
    if (connection.burstBytes < this.#settings.maxBurstBytes || !connection.writable) return;
    connection.writable = false;
    connection.isSaturated = true;
    this.#step.effect({ kind: 'saturated', connection: connection.id });
    this.#step.saturated.push(connection);
  }

  /** Waits until `resumeAt` before the next attempt. The place in the window stays taken. */
  pause(delivery: Delivery, resumeAt: number): void {
    this.#deadlines.remove(delivery);
    delivery.resume = this.#timers.set(resumeAt, { kind: 'resume', delivery });
  }

  /** Ends a delivery and frees its place in the window. */
  remove(delivery: Delivery): void {
    this.forget(delivery);
    const { subscription, queue } = delivery;
    subscription.inFlightCount -= 1;
    subscription.connection.inFlightCount -= 1;
    queue.inFlightCount -= 1;
    this.#step.stats.inFlightCount -= 1;
    if (subscription.active) this.refreshReady(queue, subscription);
    else if (subscription.inFlightCount === 0) queue.departed.delete(subscription);
  }

  /** Takes a delivery of a deleted queue out of the books; its places were freed with the queue. */
  forget(delivery: Delivery): void {
    this.#deadlines.remove(delivery);
    if (delivery.resume !== undefined) this.#timers.clear(delivery.resume);
    delivery.resume = undefined;
    delivery.subscription.connection.overdue.delete(delivery);
    unregister(delivery.subscription.connection, delivery);
  }

  /** The queue is being deleted: attempts at it that wait for a connection to take frames will not be made. */
  forgetOverdue(queue: Queue): void {
    for (const subscriptions of [queue.subscriptions, queue.departed]) {
      for (const { connection } of subscriptions) {
        for (const delivery of connection.overdue) if (delivery.queue === queue) this.forget(delivery);
      }
    }
  }

  /** To be called when anything has changed that decides whether the subscription has room. */
  refreshReady(queue: Queue, subscription: Subscription): void {
    if (!queue.ready.refresh(subscription)) return;
    if (queue.owedCopies.isOwed(subscription)) queue.owed.push(subscription);
    this.#step.touch(queue);
  }

  /** The oldest delivery of that id on the connection, in the named queue if one is named. */
  find(connection: Connection, id: string, queueName: string | undefined): Delivery | undefined {
    let delivery = connection.inFlight.get(id);
    while (delivery !== undefined && !isMeant(delivery, queueName)) delivery = delivery.youngerOfSameId;
    return delivery;
  }

  #attempt(delivery: Delivery): void {
    const { now } = this.#step;
    delivery.attempt += 1;
    delivery.sentAt = now;
    delivery.ackDeadlineAt = now + this.#settings.ackTimeoutMs;
    this.#deadlines.append(delivery);
    this.#emit(delivery.queue, delivery.message, delivery.subscription, delivery.attempt);
    delivery.message.sentCount += 1;
  }

  #emit(queue: Queue, message: QueuedMessage, subscription: Subscription, attempt: number): void {
    const { stats, now } = this.#step;
    stats.deliveredCount += 1;
    if (attempt > 1) stats.retryCount += 1;
    if (message.sentCount === 0) {
      stats.firstDeliveryCount += 1;
      stats.firstDeliveryLatencySumMs += now - message.acceptedAt;
    }
    this.#step.effect({
      kind: 'deliver',
      connection: subscription.connection.id,
      queue: queue.name,
      id: message.id,
      content: message.content,
      attempt,
      deadLetter: message.deadLetter,
    });
  }
}

function isMeant(delivery: Delivery, queueName: string | undefined): boolean {
  return !delivery.queue.deleted && (queueName === undefined || delivery.queue.name === queueName);
}

function register(connection: Connection, delivery: Delivery): void {
  const oldest = connection.inFlight.get(delivery.message.id);
  if (oldest === undefined) {
    connection.inFlight.set(delivery.message.id, delivery);
    return;
  }
  let youngest = oldest;
  while (youngest.youngerOfSameId !== undefined) youngest = youngest.youngerOfSameId;
  youngest.youngerOfSameId = delivery;
}

function unregister(connection: Connection, delivery: Delivery): void {
  const { id } = delivery.message;
  const oldest = connection.inFlight.get(id);
  if (oldest === delivery) {
    if (delivery.youngerOfSameId === undefined) connection.inFlight.delete(id);
    else connection.inFlight.set(id, delivery.youngerOfSameId);
  } else {
    let older = oldest;
    while (older !== undefined && older.youngerOfSameId !== delivery) older = older.youngerOfSameId;
    if (older !== undefined) older.youngerOfSameId = delivery.youngerOfSameId;
  }
  delivery.youngerOfSameId = undefined;
}
