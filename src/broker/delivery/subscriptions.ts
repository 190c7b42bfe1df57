// Which subscriptions there are, by queue name: those at queues that exist, and those that wait for a queue of their name to be created.
// Implements QUEUE-016, DELIVERY-061 and DELIVERY-069.

import type { BrokerSettings } from '../interface/settings.ts';
import type { Queue } from '../queue/queue.ts';
import type { QueueDelivery } from '../queue/queue-delivery.ts';
import type { QueueDeliveries } from '../queue/queues.ts';
import type { StepContext } from '../queue/step-context.ts';
import { subscriptionBytes } from '../queue/structure-bytes.ts';
import type { Member } from './members.ts';
import type { DeliveryTools, ModeDelivery } from './mode-delivery.ts';
import { newModeDelivery } from './modes.ts';
import { type Subscriber, Subscription } from './subscriber.ts';
import { Window } from './window.ts';

export class Subscriptions implements QueueDeliveries {
  readonly #tools: () => DeliveryTools;
  readonly #step: StepContext;
  readonly #settings: BrokerSettings;
  /** The deliveries of the queues that exist. */
  readonly #modes = new Map<string, ModeDelivery<Member>>();
  /** Subscriptions to names without a queue, in the order in which they were made. */
  readonly #dormant = new Map<string, Set<Subscription>>();
  /** The number of all subscriptions ever made. */
  #count = 0;

  /** `tools`: asked for with the first queue. */
  constructor(step: StepContext, settings: BrokerSettings, tools: () => DeliveryTools) {
    this.#step = step;
    this.#settings = settings;
    this.#tools = tools;
  }

  /** Begins the delivery of a new queue, with the subscriptions that waited for it. */
  open(queue: Queue): QueueDelivery {
    const mode = newModeDelivery(queue, this.#tools());
    this.#modes.set(queue.name, mode);
    for (const subscription of this.#dormant.get(queue.name) ?? []) mode.join(subscription);
    this.#dormant.delete(queue.name);
    return mode;
  }

  /** The queue was deleted: its subscriptions wait for a queue of its name to be created again. */
  close(queue: Queue): void {
    const mode = this.#modes.get(queue.name);
    if (mode === undefined) return;
    this.#modes.delete(queue.name);
    const subscriptions = mode.release();
    if (subscriptions.size > 0) this.#dormant.set(queue.name, subscriptions);
  }

  /** Adds a subscription that does not exist. `maxInFlight`: fixes its window (DELIVERY-046). */
  add(subscriber: Subscriber, queue: Queue, maxInFlight: number | undefined): Subscription {
    const window = new Window(this.#settings.maxInFlightPerSubscriber, maxInFlight);
    this.#count += 1;
    const subscription = new Subscription(subscriber, queue.name, window, this.#count);
    subscriber.subscriptions.set(queue.name, subscription);
    this.#step.stats.structureBytes += subscriptionBytes(queue.name);
    this.#modes.get(queue.name)?.join(subscription);
    return subscription;
  }

  /** Ends a subscription. Changes at most `limit` messages now and the others later; returns how many. */
  end(subscription: Subscription, limit: number): number {
    subscription.active = false;
    subscription.subscriber.subscriptions.delete(subscription.queueName);
    this.#step.stats.structureBytes -= subscriptionBytes(subscription.queueName);
    if (subscription.membership !== undefined) return subscription.membership.leave(limit);
    this.#endDormant(subscription);
    return 0;
  }

  #endDormant(subscription: Subscription): void {
    const dormant = this.#dormant.get(subscription.queueName);
    if (dormant === undefined) return;
    dormant.delete(subscription);
    if (dormant.size === 0) this.#dormant.delete(subscription.queueName);
  }
}
