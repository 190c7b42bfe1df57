// A connection as a subscriber, and its subscriptions. A subscription is registered under a queue's name and stays so while no queue of
// that name exists (QUEUE-016). Knows no queue and no delivery.

import { SmallMap } from '../collections/small-map.ts';
import type { ConnectionId } from '../interface/input.ts';
import type { Window } from './window.ts';

export class Subscriber {
  readonly id: ConnectionId;
  /** By queue name. */
  readonly subscriptions = new SmallMap<string, Subscription>();
  /** Deliveries of existing queues that are not settled. */
  inFlightCount = 0;
  /** False while more frames wait to be sent to it than its connection takes. */
  writable = true;

  constructor(id: ConnectionId) {
    this.id = id;
  }

  /** To be called when `writable` has changed. */
  refresh(): void {
    for (const subscription of this.subscriptions.values()) subscription.membership?.refresh();
  }
}

/** The part that a subscription has in a queue that exists. */
export type Membership = {
  /** To be called when anything has changed that decides whether the subscription has room. */
  refresh(): void;
  /** Has the queue send again what waited for the subscriber. */
  touch(): void;
  /** The subscription has ended. Makes at most `limit` changes to messages now and the others later; returns how many. */
  leave(limit: number): number;
};

export class Subscription {
  readonly subscriber: Subscriber;
  readonly queueName: string;
  readonly window: Window;
  /** Greater than the places of all earlier subscriptions (DELIVERY-013). */
  readonly place: number;
  /** False once it has ended; deliveries that it still has may yet be acknowledged (DELIVERY-062). */
  active = true;
  /** Undefined while its queue does not exist. */
  membership: Membership | undefined = undefined;

  constructor(subscriber: Subscriber, queueName: string, window: Window, place: number) {
    this.subscriber = subscriber;
    this.queueName = queueName;
    this.window = window;
    this.place = place;
  }
}
