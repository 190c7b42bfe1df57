// The deliveries in flight: whose they are, when an ack is overdue, and when a pause is over. Every delivery begins in `send` and ends in
// `remove` or `forget`. Implements DELIVERY-042, RETRY-001, METRICS-009, METRICS-011, METRICS-014 and METRICS-015.

import { LinkedList } from '../collections/linked-list.ts';
import type { TimerCallback, TimerQueue } from '../collections/timer-queue.ts';
import type { BrokerSettings } from '../interface/settings.ts';
import type { QueuedMessage } from '../queue/message.ts';
import type { StepContext } from '../queue/step-context.ts';
import { DELIVERY_BYTES } from '../queue/structure-bytes.ts';
import { TimerRank } from '../queue/timer-rank.ts';
import { Delivery, type DeliveryOwner } from './delivery.ts';
import type { Member } from './members.ts';
import { sendMessage } from './send-message.ts';
import type { Subscriber } from './subscriber.ts';
import { SubscriberDeliveries } from './subscriber-deliveries.ts';

export class InFlight {
  readonly #step: StepContext;
  readonly #timers: TimerQueue;
  readonly #settings: BrokerSettings;
  readonly #bySubscriber = new Map<Subscriber, SubscriberDeliveries>();
  /** Deliveries that wait for an ack. All wait equally long, so the order of sending is the order of their deadlines. */
  readonly #awaitingAck = new LinkedList<Delivery>();

  constructor(step: StepContext, timers: TimerQueue, settings: BrokerSettings) {
    this.#step = step;
    this.#timers = timers;
    this.#settings = settings;
  }

  /** When the next ack is overdue. */
  nextTimeoutAt(): number | undefined {
    return this.#awaitingAck.first()?.ackDeadlineAt;
  }

  /** Returns the first delivery whose ack is overdue; it stays in flight, without a deadline. */
  takeTimedOut(): Delivery | undefined {
    const first = this.#awaitingAck.first();
    if (first === undefined || first.ackDeadlineAt > this.#step.now) return undefined;
    this.#awaitingAck.remove(first);
    return first;
  }

  /** Everything in flight to the subscriber, in the order in which the ids came. */
  all(subscriber: Subscriber): readonly Delivery[] {
    return this.#bySubscriber.get(subscriber)?.all() ?? [];
  }

  /** The oldest delivery of that id to the subscriber, in the named queue if one is named. */
  find(subscriber: Subscriber, id: string, queueName: string | undefined): Delivery | undefined {
    return this.#bySubscriber.get(subscriber)?.find(id, queueName);
  }

  /** The deliveries that are held for the subscriber, in the order in which they were due. */
  overdueOf(subscriber: Subscriber): readonly Delivery[] {
    return [...(this.#bySubscriber.get(subscriber)?.overdue ?? [])];
  }

  /** Returns the deliveries that were held for the subscriber, and holds them no longer. */
  takeOverdue(subscriber: Subscriber): readonly Delivery[] {
    const overdue = this.overdueOf(subscriber);
    this.#bySubscriber.get(subscriber)?.overdue.clear();
    return overdue;
  }

  /** The subscriber has disconnected and has nothing in flight any more. */
  deleteSubscriber(subscriber: Subscriber): void {
    this.#bySubscriber.delete(subscriber);
  }

  /** Sends a message to a member with room, and occupies one place of its window until the delivery ends. `earlier`: attempts before. */
  send(
    owner: DeliveryOwner,
    message: QueuedMessage,
    member: Member,
    earlier: { readonly sentCount: number; readonly failedAttempts: number },
  ): void {
    const siblings = this.#of(member.subscriber);
    const delivery = new Delivery(owner, message, member, siblings, earlier);
    this.#step.stats.inFlightCount += 1;
    this.#step.stats.structureBytes += DELIVERY_BYTES;
    siblings.add(delivery);
    this.#attempt(delivery);
    member.takePlace();
  }

  /** Makes the next attempt of a delivery whose pause is over, to the same subscriber. */
  resend(delivery: Delivery): void {
    delivery.move('resend');
    this.#attempt(delivery);
  }

  /** Calls back at `resumeAt`, when the next attempt is due. The place in the window stays occupied (DELIVERY-004). */
  pause(delivery: Delivery, resumeAt: number, resume: TimerCallback): void {
    delivery.move('pause');
    this.#awaitingAck.remove(delivery);
    delivery.retryTimer = this.#timers.set(resumeAt, resume, TimerRank.Attempt);
  }

  /** The next attempt is due, but the connection takes no frames: it is made as soon as the connection does. */
  hold(delivery: Delivery): void {
    delivery.move('hold');
    delivery.siblings.overdue.add(delivery);
  }

  /** Ends a delivery and frees its place in the window. */
  remove(delivery: Delivery): void {
    this.forget(delivery);
    this.#step.stats.inFlightCount -= 1;
    delivery.member.freePlace();
  }

  /** Ends a delivery of a deleted queue; its place was freed with the queue. */
  forget(delivery: Delivery): void {
    delivery.move('end');
    this.#step.stats.structureBytes -= DELIVERY_BYTES;
    this.#awaitingAck.remove(delivery);
    if (delivery.retryTimer !== undefined) this.#timers.clear(delivery.retryTimer);
    delivery.retryTimer = undefined;
    delivery.siblings.delete(delivery);
  }

  #of(subscriber: Subscriber): SubscriberDeliveries {
    let deliveries = this.#bySubscriber.get(subscriber);
    if (deliveries === undefined) {
      deliveries = new SubscriberDeliveries();
      this.#bySubscriber.set(subscriber, deliveries);
    }
    return deliveries;
  }

  #attempt(delivery: Delivery): void {
    const { now } = this.#step;
    delivery.attempt += 1;
    delivery.sentAt = now;
    delivery.ackDeadlineAt = now + this.#settings.ackTimeoutMs;
    this.#awaitingAck.append(delivery);
    sendMessage(this.#step, delivery.queue, delivery.message, delivery, delivery.owner.sentBefore);
  }
}
