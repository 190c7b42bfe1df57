// FanOutWithAck: each message to every subscriber present when its first copy is sent; each acknowledges its own copy. A member without
// room gets its copy as soon as it has room; until every copy is sent the message counts as waiting. All state of this mode stands here:
// for each message its copies (FanOut), for each member its position among the partly sent messages (FanOutMember).
// Implements DELIVERY-014 to DELIVERY-023, DELIVERY-056, RETRY-012, DLQ-017 and NACK-008.

import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';
import { type Cursor, type CursorItem, CursorList, type CursorReader } from '../collections/cursor-list.ts';
import type { HeapNode } from '../collections/heap.ts';
import { type SequenceItem, SequenceList } from '../collections/sequence-list.ts';
import type { QueuedMessage } from '../queue/message.ts';
import type { Queue } from '../queue/queue.ts';
import { TimerRank } from '../queue/timer-rank.ts';
import { PublishOrder, type WaitingMessages } from '../queue/waiting-order.ts';
import type { Delivery, DeliveryOwner, Ending } from './delivery.ts';
import { Member, type Members } from './members.ts';
import { ModeDelivery } from './mode-delivery.ts';
import type { Subscription } from './subscriber.ts';

const NOTHING_BEFORE = { sentCount: 0, failedAttempts: 0 };

export class FanOutWithAck extends ModeDelivery<FanOutMember> {
  /** Messages with unsent copies, by sequence; and in the order in which their delivery began, for the members to follow. */
  #partlySent = new SequenceList<FanOut>();
  #unsentCopies = new CursorList<FanOut>();
  /** Members that have room while copies for them are unsent. */
  #membersToCatchUp: FanOutMember[] = [];

  override get partlySentCount(): number {
    return this.#partlySent.size;
  }

  override oldestPartlySent(): QueuedMessage | undefined {
    return this.#partlySent.first()?.message;
  }

  override *partlySent(offset: number): Iterable<QueuedMessage> {
    for (const { message } of this.#partlySent.from(offset)) yield message;
  }

  newWaitingMessages(): WaitingMessages {
    return new PublishOrder();
  }

  canDeliverNow(): boolean {
    const { queue, members } = this;
    return (
      queue.waiting.size === 0 &&
      this.#membersToCatchUp.length === 0 &&
      members.ready.size > 0 &&
      members.ready.size === members.size
    );
  }

  dispatch(): void {
    this.#catchUp();
    if (this.#membersToCatchUp.length > 0) return;
    while (this.members.ready.size > 0) {
      const message = this.tools.lifecycle.nextToSend(this.queue);
      if (message === undefined) return;
      this.#begin(message);
    }
  }

  override cancelUnsentCopies(message: QueuedMessage, failure: DeadLetterReason | undefined): void {
    const fanOut = this.#partlySentOf(message);
    if (fanOut === undefined) throw new Error(`Message ${message.id} is not partly sent.`);
    fanOut.unsentCount = 0;
    fanOut.isCancelled = true;
    if (failure !== undefined) fanOut.failure ??= { reason: failure, attempts: 0 };
    this.#endPartlySent(fanOut);
    message.move('cancelRest');
    this.settleIfEnded(fanOut);
  }

  override release(): Set<Subscription> {
    this.#partlySent = new SequenceList();
    this.#unsentCopies = new CursorList();
    this.#membersToCatchUp = [];
    return super.release();
  }

  memberReady(member: FanOutMember): void {
    if (this.#unsentCopies.isBehind(member)) this.#membersToCatchUp.push(member);
  }

  /** The member is owed nothing that begins from now on; what it still has in flight ends by itself. */
  memberLeft(member: FanOutMember, limit: number): number {
    for (const delivery of this.tools.inFlight.overdueOf(member.subscriber)) {
      if (delivery.member === member) delivery.owner.resume(delivery);
    }
    this.#unsentCopies.end(member);
    return this.#releaseOwedCopies(member, limit);
  }

  /** A retry goes to the member that did not acknowledge, and only to it; while its connection takes no frames, it stays due. */
  resume(delivery: Delivery): void {
    const { subscription } = delivery.member;
    if (!subscription.active) {
      this.tools.inFlight.remove(delivery);
      delivery.owner.ended(delivery, { kind: 'released', interrupted: false });
    } else if (subscription.subscriber.writable) this.tools.inFlight.resend(delivery);
    else this.tools.inFlight.hold(delivery);
  }

  /** When the last copy has ended: what follows for the message depends on how all of them ended. */
  settleIfEnded(fanOut: FanOut): void {
    if (!fanOut.hasEnded) return;
    const { queue } = this;
    const { lifecycle } = this.tools;
    const { message, failure, acknowledged, isCancelled, interrupted } = fanOut;
    if (failure !== undefined) {
      lifecycle.deadLetterOrDiscard(queue, message, failure.reason, failure.attempts);
    } else if (acknowledged) lifecycle.acknowledge(queue, message);
    else if (isCancelled) lifecycle.dropRest(queue, message);
    else lifecycle.release(queue, message, interrupted);
  }

  protected newMember(subscription: Subscription): FanOutMember {
    return new FanOutMember(subscription, this.members, this);
  }

  /** Looks at the oldest one first, which is nearly always meant. */
  #partlySentOf(message: QueuedMessage): FanOut | undefined {
    const oldest = this.#partlySent.first();
    if (oldest?.message === message) return oldest;
    return [...this.#partlySent.from(0)].find((fanOut) => fanOut.message === message);
  }

  /** Sends unsent copies to members that have room. Members that must wait for the expiry of a message are kept, to keep the order. */
  #catchUp(): void {
    if (this.#membersToCatchUp.length === 0) return;
    const delayed: FanOutMember[] = [];
    const members = this.#membersToCatchUp;
    for (let member = members.pop(); member !== undefined; member = members.pop()) {
      if (!this.#sendUnsent(member)) delayed.push(member);
    }
    members.push(...delayed);
  }

  /** Sends the unsent copies of a member, as far as it has room. Returns false when the next one is of an expired message. */
  #sendUnsent(member: FanOutMember): boolean {
    const { inFlight, lifecycle } = this.tools;
    while (member.hasRoom) {
      const fanOut = this.#unsentCopies.next(member);
      if (fanOut === undefined) return true;
      const { message } = fanOut;
      if (lifecycle.isExpired(this.queue, message)) return false;
      this.#unsentCopies.advance(member);
      fanOut.unsentCount -= 1;
      fanOut.openCount += 1;
      if (fanOut.unsentCount === 0) {
        this.#endPartlySent(fanOut);
        message.move('deliverRest');
      }
      inFlight.send(fanOut, message, member, NOTHING_BEFORE);
    }
    return true;
  }

  /** Makes everybody present a member of the message's fan-out and sends the first copies. */
  #begin(message: QueuedMessage): void {
    this.queue.waiting.remove(message);
    const fanOut = new FanOut(this, message);
    for (const member of this.members) {
      if (member.isReady) {
        fanOut.openCount += 1;
        this.tools.inFlight.send(fanOut, message, member, NOTHING_BEFORE);
      } else {
        fanOut.unsentCount += 1;
        this.#unsentCopies.include(member, fanOut);
      }
    }
    if (fanOut.unsentCount === 0) return message.move('deliver');
    message.move('deliverPartly');
    this.#unsentCopies.append(fanOut);
    this.#partlySent.insert(fanOut);
  }

  /** Gives up at most `limit` of the copies that are owed to a former member, and the others later; returns how many. */
  #releaseOwedCopies(member: FanOutMember, limit: number): number {
    if (this.queue.deleted) return 0;
    for (let count = 0; count < limit; count += 1) {
      const fanOut = this.#unsentCopies.next(member);
      if (fanOut === undefined) return count;
      this.#unsentCopies.advance(member);
      this.#copyLost(fanOut);
    }
    if (this.#unsentCopies.isBehind(member)) {
      const { step, timers } = this.tools;
      timers.set(step.now, (more) => this.#releaseOwedCopies(member, more), TimerRank.Ending);
    }
    return limit;
  }

  /** A copy will never be sent, because its member has left. */
  #copyLost(fanOut: FanOut): void {
    fanOut.unsentCount -= 1;
    if (fanOut.unsentCount > 0) return;
    this.#endPartlySent(fanOut);
    // There is room for a blocked publish, also when this happens in the slice of a timer and other copies are in flight.
    this.tools.step.touch(this.queue);
    fanOut.message.move('cancelRest');
    this.settleIfEnded(fanOut);
  }

  /** No copy is unsent any more: the message has stopped waiting. */
  #endPartlySent(fanOut: FanOut): void {
    this.#partlySent.remove(fanOut);
    this.#unsentCopies.remove(fanOut);
  }
}

/** A subscription at the queue, with the copies that it is to get as soon as it has room. */
class FanOutMember extends Member implements CursorReader<FanOut> {
  readonly #mode: FanOutWithAck;
  position: Cursor<FanOut> | undefined = undefined;
  lastOrder = Number.POSITIVE_INFINITY;

  constructor(subscription: Subscription, members: Members<Member>, mode: FanOutWithAck) {
    super(subscription, members);
    this.#mode = mode;
  }

  override leave(limit: number): number {
    super.leave(limit);
    return this.#mode.memberLeft(this, limit);
  }

  protected override becameReady(): void {
    this.#mode.memberReady(this);
  }
}

/** One message and its copies. Each copy is sent, retried and ended on its own. */
class FanOut implements DeliveryOwner, CursorItem<FanOut>, SequenceItem<FanOut> {
  readonly #mode: FanOutWithAck;
  readonly message: QueuedMessage;
  /** To members that have all left: the copies count from there on, and their first sendings are no retries. */
  readonly sentBefore: number;
  /** Copies that were not sent yet. */
  unsentCount = 0;
  /** Copies that were sent and have not ended. */
  openCount = 0;
  /** The unsent copies were cancelled. */
  isCancelled = false;
  acknowledged = false;
  /** A copy ended with its connection. */
  interrupted = false;
  /** The first copy that failed for good, and why. */
  failure: { readonly reason: DeadLetterReason; readonly attempts: number } | undefined = undefined;

  /** Its position among the partly sent messages by sequence, and by the beginning of their delivery. */
  previous: FanOut | undefined = undefined;
  next: FanOut | undefined = undefined;
  returned: HeapNode<FanOut> | undefined = undefined;
  order = 0;
  earlier: FanOut | undefined = undefined;
  later: FanOut | undefined = undefined;
  cursor: Cursor<FanOut> | undefined = undefined;

  constructor(mode: FanOutWithAck, message: QueuedMessage) {
    this.#mode = mode;
    this.message = message;
    this.sentBefore = message.sentCount;
  }

  get queue(): Queue {
    return this.#mode.queue;
  }

  get sequence(): number {
    return this.message.sequence;
  }

  get hasEnded(): boolean {
    return this.unsentCount === 0 && this.openCount === 0;
  }

  attemptFailed(): void {
    this.message.interruptedCount = 0;
  }

  /** The pause is one of this copy only: the message stays as it is. */
  paused(): void {}

  resume(delivery: Delivery): void {
    this.#mode.resume(delivery);
  }

  ended(delivery: Delivery, ending: Ending): void {
    this.openCount -= 1;
    switch (ending.kind) {
      case 'acknowledged':
        this.acknowledged = true;
        break;
      case 'failed':
        this.failure ??= { reason: ending.reason, attempts: delivery.failedAttempts };
        break;
      case 'released':
        this.interrupted ||= ending.interrupted;
    }
    this.#mode.settleIfEnded(this);
  }
}
