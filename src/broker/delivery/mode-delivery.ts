// What all delivery modes have in common: a queue and its members. There is one file per mode; nothing outside these files asks which
// mode a queue has, and the state of a mode stands in its file.

import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';
import type { SubscriberFigures } from '../../model/queue-info.ts';
import type { TimerQueue } from '../collections/timer-queue.ts';
import type { QueuedMessage } from '../queue/message.ts';
import type { MessageLifecycle } from '../queue/message-lifecycle.ts';
import type { Queue } from '../queue/queue.ts';
import type { QueueDelivery } from '../queue/queue-delivery.ts';
import type { StepContext } from '../queue/step-context.ts';
import { TimerRank } from '../queue/timer-rank.ts';
import type { WaitingMessages } from '../queue/waiting-order.ts';
import type { BurstLimit } from './burst-limit.ts';
import type { InFlight } from './in-flight.ts';
import { type Member, Members } from './members.ts';
import type { Subscriber, Subscription } from './subscriber.ts';

export type DeliveryTools = {
  readonly step: StepContext;
  readonly timers: TimerQueue;
  readonly lifecycle: MessageLifecycle;
  readonly inFlight: InFlight;
  readonly bursts: BurstLimit;
};

export abstract class ModeDelivery<M extends Member> implements QueueDelivery {
  readonly queue: Queue;
  protected readonly tools: DeliveryTools;
  protected readonly members: Members<M>;

  constructor(queue: Queue, tools: DeliveryTools) {
    this.queue = queue;
    this.tools = tools;
    this.members = new Members(queue, tools.step);
  }

  get subscriberCount(): number {
    return this.members.size;
  }

  get inFlightCount(): number {
    return this.members.inFlightCount;
  }

  get partlySentCount(): number {
    return 0;
  }

  subscribers(limit: number): readonly SubscriberFigures[] {
    return this.members.first(limit).map((member) => {
      const { subscriber, inFlightCount } = member;
      return { connection: subscriber.id, inFlightCount, window: this.windowOf(member) };
    });
  }

  /** The subscription becomes a member. */
  join(subscription: Subscription): void {
    this.members.add(this.newMember(subscription));
  }

  /** The queue was deleted: frees what its deliveries occupied, and forgets them. Returns the subscriptions of its members. */
  release(): Set<Subscription> {
    const subscribers = [...this.members.subscribersInFlight()];
    this.members.release();
    if (subscribers.length > 0) this.#forgetLater(subscribers);
    return this.members.subscriptions();
  }

  oldestPartlySent(): QueuedMessage | undefined {
    return undefined;
  }

  partlySent(_offset: number): Iterable<QueuedMessage> {
    return [];
  }

  *inFlight(): Iterable<QueuedMessage> {
    for (const subscriber of this.members.subscribersInFlight()) {
      for (const { queue, message } of this.tools.inFlight.all(subscriber))
        if (queue === this.queue) yield message;
    }
  }

  cancelUnsentCopies(message: QueuedMessage, _failure: DeadLetterReason | undefined): void {
    throw new Error(`Message ${message.id} has no copies.`);
  }

  /** With the next tick, so that a deletion costs the same whatever is in flight. Until then nothing but the ack timeout looks at them. */
  #forgetLater(subscribers: Subscriber[]): void {
    const { step, timers } = this.tools;
    timers.set(step.now, (limit) => this.#forgetDeliveries(subscribers, limit), TimerRank.Ending);
  }

  /** Forgets the deliveries of a deleted queue, one subscriber after the other, so that their messages leave the memory. */
  #forgetDeliveries(subscribers: Subscriber[], limit: number): number {
    let count = 0;
    for (let subscriber = subscribers.pop(); subscriber !== undefined; subscriber = subscribers.pop()) {
      for (const delivery of this.tools.inFlight.all(subscriber)) {
        if (delivery.queue !== this.queue) continue;
        this.tools.inFlight.forget(delivery);
        count += 1;
      }
      if (count >= limit) break;
    }
    if (subscribers.length > 0) this.#forgetLater(subscribers);
    return count;
  }

  /** The most deliveries that the member may have in flight; undefined: nothing that is sent to it is in flight. */
  protected windowOf({ subscription }: M): number | undefined {
    return subscription.window.size;
  }

  abstract newWaitingMessages(): WaitingMessages;
  abstract canDeliverNow(): boolean;
  abstract dispatch(): void;
  protected abstract newMember(subscription: Subscription): M;
}
