// The members of one queue: the subscriptions at it, which of them have room, and what they have in flight. Every delivery passes through
// `takePlace` and `freePlace`, so that windows and counters agree. Implements DELIVERY-013 and DELIVERY-042.

import type { HeapNode } from '../collections/heap.ts';
import { SmallSet } from '../collections/small-set.ts';
import { TurnRing } from '../collections/turn-ring.ts';
import type { Queue } from '../queue/queue.ts';
import type { StepContext } from '../queue/step-context.ts';
import type { Subscriber, Subscription } from './subscriber.ts';

export class Member {
  readonly subscription: Subscription;
  readonly #members: Members<Member>;
  /** Its deliveries that are not settled. */
  inFlightCount = 0;
  /** Its turn among the members with room; see collections/turn-ring.ts. */
  turn: HeapNode<Member> | undefined = undefined;

  constructor(subscription: Subscription, members: Members<Member>) {
    this.subscription = subscription;
    this.#members = members;
  }

  get subscriber(): Subscriber {
    return this.subscription.subscriber;
  }

  get place(): number {
    return this.subscription.place;
  }

  /** Whether it is known to have room. */
  get isReady(): boolean {
    return this.turn !== undefined;
  }

  get hasRoom(): boolean {
    const { active, subscriber, window } = this.subscription;
    return active && subscriber.writable && this.inFlightCount < window.size;
  }

  /** A delivery to it begins. */
  takePlace(): void {
    this.inFlightCount += 1;
    this.subscriber.inFlightCount += 1;
    this.#members.inFlightCount += 1;
    this.refresh();
  }

  /** A delivery to it has ended. */
  freePlace(): void {
    this.inFlightCount -= 1;
    this.subscriber.inFlightCount -= 1;
    this.#members.inFlightCount -= 1;
    if (this.subscription.active) this.refresh();
    else if (this.inFlightCount === 0) this.#members.endedWithInFlight.delete(this);
  }

  refresh(): void {
    const hasRoom = this.hasRoom;
    if (hasRoom === this.isReady) return;
    if (!hasRoom) return this.#members.ready.remove(this);
    this.#members.ready.insert(this);
    this.becameReady();
    this.touch();
  }

  touch(): void {
    this.#members.touch();
  }

  leave(_limit: number): number {
    this.#members.delete(this);
    return 0;
  }

  /** For modes that have something to send to a member as soon as it has room. */
  protected becameReady(): void {}
}

export class Members<M extends Member> {
  readonly #queue: Queue;
  readonly #step: StepContext;
  readonly #all = new SmallSet<M>();
  /** Members with room, in turn. */
  readonly ready = new TurnRing<Member>();
  /** Former members that still have deliveries of this queue. */
  readonly endedWithInFlight = new SmallSet<Member>();
  /** Deliveries of the queue that are not settled. */
  inFlightCount = 0;

  constructor(queue: Queue, step: StepContext) {
    this.#queue = queue;
    this.#step = step;
  }

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): Iterator<M> {
    return this.#all[Symbol.iterator]();
  }

  add(member: M): void {
    this.#all.add(member);
    member.subscription.membership = member;
    member.refresh();
  }

  delete(member: M): void {
    this.#all.delete(member);
    member.subscription.membership = undefined;
    this.ready.remove(member);
    if (member.inFlightCount > 0) this.endedWithInFlight.add(member);
    this.touch();
  }

  touch(): void {
    this.#step.touch(this.#queue);
  }

  /** At most `limit` members, in the order in which their subscriptions were made. */
  first(limit: number): readonly M[] {
    const first: M[] = [];
    for (const member of this.#all) {
      if (first.length >= limit) break;
      first.push(member);
    }
    return first;
  }

  /** The subscriptions of its members, in the order in which they were made. */
  subscriptions(): Set<Subscription> {
    return new Set([...this.#all].map(({ subscription }) => subscription));
  }

  /** The subscribers that have deliveries of the queue in flight. */
  subscribersInFlight(): Set<Subscriber> {
    const members = [...this.#all, ...this.endedWithInFlight];
    return new Set(
      members.filter(({ inFlightCount }) => inFlightCount > 0).map(({ subscriber }) => subscriber),
    );
  }

  /** The queue was deleted: frees what its deliveries occupied. Nobody is a member any more. */
  release(): void {
    for (const members of [this.#all, this.endedWithInFlight]) {
      for (const { subscription, subscriber, inFlightCount } of members) {
        subscriber.inFlightCount -= inFlightCount;
        subscription.membership = undefined;
      }
    }
    this.#step.stats.inFlightCount -= this.inFlightCount;
  }
}
