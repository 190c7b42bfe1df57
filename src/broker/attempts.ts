// What ends an attempt, and what follows: an ack, an ack that does not come, a refusal, a connection that ends, and the
// pause before the next one. Implements RETRY, NACK and DELIVERY (giving back).

import type { Connection } from './connection.ts';
import type { DeliveryTools, Ending } from './delivery/delivery-mode.ts';
import type { Delivery } from './delivery.ts';
import type { BrokerSettings } from './interface/settings.ts';
import { retryDelayMs } from './retry-policy.ts';
import type { StepContext } from './step-context.ts';

export class Attempts {
  readonly #step: StepContext;
  readonly #tools: DeliveryTools;
  readonly #settings: BrokerSettings;

  constructor(step: StepContext, tools: DeliveryTools, settings: BrokerSettings) {
    this.#step = step;
    this.#tools = tools;
    this.#settings = settings;
  }

  acknowledged(delivery: Delivery): void {
    this.#step.stats.acknowledgedCount += 1;
    delivery.subscription.window.acknowledged(this.#step.now - delivery.sentAt, this.#settings.ackTimeoutMs);
    this.#end(delivery, { kind: 'acknowledged' });
  }

  /**
   * A negative ack. One that comes during the pause is about an attempt that has failed already, which does not count
   * twice.
   */
  refused(delivery: Delivery, reason: 'HandlerException' | 'DeserializationError'): void {
    const hasFailed = delivery.isPaused;
    if (reason === 'HandlerException') {
      if (!hasFailed) this.#failed(delivery, reason, this.#step.now);
      return;
    }
    if (!hasFailed) this.#countFailure(delivery);
    this.#end(delivery, { kind: 'failed', reason });
  }

  /** Handles the attempts whose ack is overdue, at most `most`; tells how many. */
  timeOut(most: number): number {
    let count = 0;
    for (; count < most; count += 1) {
      const delivery = this.#tools.deliveries.takeTimedOut();
      if (delivery === undefined) break;
      if (delivery.queue.deleted) {
        this.#tools.deliveries.forget(delivery);
        continue;
      }
      delivery.subscription.window.timedOut();
      this.#tools.deliveries.refreshReady(delivery.queue, delivery.subscription);
      this.#failed(delivery, 'MaxRetriesExceeded', delivery.ackDeadlineAt);
    }
    return count;
  }

  /** The pause is over: sent again, unless the message has become too old meanwhile. */
  resume(delivery: Delivery): void {
    delivery.resume = undefined;
    const { queue, message } = delivery;
    if (queue.deleted) this.#tools.deliveries.forget(delivery);
    else if (queue.isExpired(message, this.#step.now)) {
      this.#end(delivery, { kind: 'failed', reason: 'MessageExpired' });
    } else queue.mode.resume(delivery, this.#tools);
  }

  /** The connection takes frames again: attempts that fell due meanwhile are made now. */
  catchUp(connection: Connection): void {
    const overdue = [...connection.overdue];
    connection.overdue.clear();
    for (const delivery of overdue) this.resume(delivery);
  }

  /** The connection has ended: what it had in flight is given back, without counting as failed. */
  cutShort(connection: Connection): void {
    const deliveries = [...connection.inFlight.values()].flatMap(chain);
    for (const delivery of deliveries) {
      if (delivery.queue.deleted) this.#tools.deliveries.forget(delivery);
      else this.#end(delivery, { kind: 'gone', cutShort: true });
    }
  }

  #failed(delivery: Delivery, reason: 'MaxRetriesExceeded' | 'HandlerException', failedAt: number): void {
    this.#countFailure(delivery);
    if (delivery.failedAttempts >= delivery.queue.options.maxRetryAttempts) {
      this.#end(delivery, { kind: 'failed', reason });
    } else if (this.#step.isDraining || !delivery.subscription.active) {
      // There is no next attempt here to pause for.
      this.#end(delivery, { kind: 'gone', cutShort: false });
    } else {
      delivery.queue.mode.paused(delivery);
      const pauseMs = retryDelayMs(delivery.failedAttempts, this.#settings);
      this.#tools.deliveries.pause(delivery, failedAt + pauseMs);
    }
  }

  #countFailure(delivery: Delivery): void {
    delivery.failedAttempts += 1;
    delivery.queue.mode.attemptFailed(delivery, this.#tools);
  }

  #end(delivery: Delivery, ending: Ending): void {
    this.#tools.deliveries.remove(delivery);
    delivery.queue.mode.ended(delivery, ending, this.#tools);
  }
}

function chain(oldest: Delivery): Delivery[] {
  const all = [oldest];
  for (let next = oldest.youngerOfSameId; next !== undefined; next = next.youngerOfSameId) all.push(next);
  return all;
}
