// What ends an attempt, and what follows: an ack, an ack that does not come, a negative ack, a connection that ends, and the pause before
// the next attempt. Implements RETRY-001 to RETRY-009, NACK-003 to NACK-010, DELIVERY-007, DELIVERY-008, DELIVERY-040 and DELIVERY-062.

import type { BrokerSettings } from '../interface/settings.ts';
import { retryDelayMs } from '../queue/retry-policy.ts';
import type { StepContext } from '../queue/step-context.ts';
import type { Delivery, Ending } from './delivery.ts';
import type { InFlight } from './in-flight.ts';
import type { Subscriber, Subscription } from './subscriber.ts';

export class Attempts {
  readonly #step: StepContext;
  readonly #inFlight: InFlight;
  readonly #settings: BrokerSettings;

  constructor(step: StepContext, inFlight: InFlight, settings: BrokerSettings) {
    this.#step = step;
    this.#inFlight = inFlight;
    this.#settings = settings;
  }

  acknowledged(delivery: Delivery): void {
    this.#step.stats.acknowledgedCount += 1;
    delivery.queue.acknowledgedCount += 1;
    delivery.queue.acknowledgedAt = this.#step.now;
    const { window } = delivery.member.subscription;
    window.acknowledged(this.#step.now - delivery.sentAt, this.#settings.ackTimeoutMs);
    this.#end(delivery, { kind: 'acknowledged' });
  }

  /** A negative ack. One that comes during the pause is about an attempt that has failed already, which does not count twice. */
  refused(delivery: Delivery, reason: 'HandlerException' | 'DeserializationError'): void {
    const hasFailed = delivery.isPaused;
    if (reason === 'HandlerException') {
      if (!hasFailed) this.#failed(delivery, reason, this.#step.now);
      return;
    }
    if (!hasFailed) this.#countFailure(delivery);
    this.#end(delivery, { kind: 'failed', reason });
  }

  /** Handles the attempts whose ack is overdue, at most `limit`; returns how many. */
  timeOut(limit: number): number {
    let count = 0;
    for (; count < limit; count += 1) {
      const delivery = this.#inFlight.takeTimedOut();
      if (delivery === undefined) break;
      if (delivery.queue.deleted) {
        this.#inFlight.forget(delivery);
        continue;
      }
      delivery.member.subscription.window.timedOut();
      delivery.member.refresh();
      this.#failed(delivery, 'MaxRetriesExceeded', delivery.ackDeadlineAt);
    }
    return count;
  }

  /** The connection takes frames again: attempts that were due meanwhile are made now. */
  retryOverdue(subscriber: Subscriber): void {
    for (const delivery of this.#inFlight.takeOverdue(subscriber)) this.#resume(delivery);
  }

  /** The connection has ended: what it had in flight is released, without counting as failed. */
  interrupted(subscriber: Subscriber): void {
    for (const delivery of this.#inFlight.all(subscriber)) {
      if (delivery.queue.deleted) this.#inFlight.forget(delivery);
      else this.#end(delivery, { kind: 'released', interrupted: true });
    }
  }

  /**
   * The subscriptions have ended and may not keep what they have in flight: it is released, without counting as failed. At most `limit`
   * deliveries; `count` says how many, `isComplete` whether none is left.
   */
  interruptedOn(
    subscriber: Subscriber,
    ended: ReadonlySet<Subscription>,
    limit: number,
  ): { readonly count: number; readonly isComplete: boolean } {
    const theirs = this.#inFlight
      .all(subscriber)
      .filter(({ queue, member }) => !queue.deleted && ended.has(member.subscription));
    const now = theirs.slice(0, Math.max(0, limit));
    for (const delivery of now) this.#end(delivery, { kind: 'released', interrupted: true });
    return { count: now.length, isComplete: now.length === theirs.length };
  }

  #failed(delivery: Delivery, reason: 'MaxRetriesExceeded' | 'HandlerException', failedAt: number): void {
    this.#countFailure(delivery);
    if (delivery.failedAttempts >= delivery.queue.options.maxRetryAttempts) {
      this.#end(delivery, { kind: 'failed', reason });
    } else if (this.#step.isDraining || !delivery.member.subscription.active) {
      // There is no next attempt here to wait for.
      this.#end(delivery, { kind: 'released', interrupted: false });
    } else {
      delivery.owner.paused(delivery);
      const delayMs = retryDelayMs(delivery.failedAttempts, this.#settings);
      this.#inFlight.pause(delivery, failedAt + delayMs, () => this.#resume(delivery));
    }
  }

  /** The pause is over: sent again, unless the message has become too old meanwhile. One message changes, at most. */
  #resume(delivery: Delivery): 0 {
    delivery.retryTimer = undefined;
    const { queue, message } = delivery;
    if (queue.deleted) this.#inFlight.forget(delivery);
    else if (queue.isExpired(message, this.#step.now)) {
      this.#end(delivery, { kind: 'failed', reason: 'MessageExpired' });
    } else delivery.owner.resume(delivery);
    return 0;
  }

  #countFailure(delivery: Delivery): void {
    delivery.failedAttempts += 1;
    delivery.owner.attemptFailed(delivery);
  }

  #end(delivery: Delivery, ending: Ending): void {
    this.#inFlight.remove(delivery);
    delivery.owner.ended(delivery, ending);
  }
}
