// One queue: its options and its messages by what they are doing. Keeps the books and decides nothing: what happens to a message is
// decided by its delivery mode and by message-lifecycle.ts. Must not know subscriptions, deliveries or publishers.

import type { QueueFigures, QueueInfo } from '../../model/queue-info.ts';
import { deadLetterQueueOf, type QueueOptions } from '../../model/queue-options.ts';
import { Heap } from '../collections/heap.ts';
import { SequenceList } from '../collections/sequence-list.ts';
import type { Timer } from '../collections/timer-queue.ts';
import type { QueueCounts } from '../interface/earlier-core.ts';
import type { Generation, StoredQueue } from '../interface/store-record.ts';
import { deadLetterGrowthBytes } from './content-growth.ts';
import type { QueuedMessage } from './message.ts';
import type { QueueDelivery } from './queue-delivery.ts';
import type { RunPacking } from './run-packing.ts';
import { Unsettled } from './unsettled.ts';
import { Packer } from './waiting-list.ts';
import { earlier, type WaitingMessages } from './waiting-order.ts';

export class Queue {
  readonly name: string;
  readonly options: QueueOptions;
  readonly generation: Generation;
  readonly createdWallAt: number;
  readonly deadLetterQueueName: string;
  /** Bytes that a content gains by naming the dead letter queue instead of this one; 0 without a dead letter queue. */
  readonly deadLetterGrowthBytes: number;
  readonly delivery: QueueDelivery;

  /** Messages that can be sent now. */
  waiting: WaitingMessages;
  /** Messages whose deliveries were interrupted repeatedly, by sequence and by the end of their backoff. */
  backingOff = new SequenceList<QueuedMessage>();
  backoffs = new Heap<QueuedMessage>();
  /** Accepted messages that are not settled, by id. Dead letters are left out: nothing is a repeat of them (PUBLISH-012). */
  unsettled = new Unsettled();

  /** Counters of what happens in it; see QueueFigures. */
  enteredCount = 0;
  deliveredCount = 0;
  acknowledgedCount = 0;
  /** When its last ack came, on the monotonic clock. */
  acknowledgedAt = Number.NEGATIVE_INFINITY;
  /** How many of its messages are dead letters, waiting or in flight. */
  deadLetterCount = 0;
  /** Bytes of all its messages, blocked ones included. */
  heldBytes = 0;
  deleted = false;
  /** The timer for its oldest message; may be due early, never late. */
  expiryTimer: Timer | undefined = undefined;
  /** The timer for the backoff that ends first. */
  backoffTimer: Timer | undefined = undefined;
  /** Whether it is on the list of queues to look at before the step ends. */
  isTouched = false;

  /** Without `packing` no message is packed. */
  constructor(stored: StoredQueue, newDelivery: (queue: Queue) => QueueDelivery, packing?: RunPacking) {
    const { name, options } = stored;
    this.name = name;
    this.options = options;
    this.generation = stored.generation;
    this.createdWallAt = stored.createdWallAt;
    this.deadLetterQueueName = deadLetterQueueOf(name, options);
    this.deadLetterGrowthBytes = deadLetterGrowthBytes(name, options);
    this.delivery = newDelivery(this);
    this.waiting = this.delivery.newWaitingMessages();
    if (packing !== undefined) this.waiting.packWith(new Packer(packing, this.unsettled));
  }

  get waitingCount(): number {
    return this.waiting.size + this.backingOff.size + this.delivery.partlySentCount;
  }

  get isFull(): boolean {
    return this.waitingCount >= this.options.maxQueueSize;
  }

  /** The waiting message that was accepted first, whatever its priority. */
  oldestWaiting(): QueuedMessage | undefined {
    return earlier(this.waiting.oldest(), earlier(this.backingOff.first(), this.delivery.oldestPartlySent()));
  }

  /**
   * All messages that wait, but for the first `offset`: first those of which copies were sent, then by the order of sending, then those
   * that back off.
   */
  *allWaiting(offset = 0): Iterable<QueuedMessage> {
    yield* this.delivery.partlySent(offset);
    const toSkip = Math.max(0, offset - this.delivery.partlySentCount);
    yield* this.waiting.from(toSkip);
    yield* this.backingOff.from(Math.max(0, toSkip - this.waiting.size));
  }

  isExpired(message: QueuedMessage, now: number): boolean {
    const ttl = this.options.messageTtlMs;
    return ttl !== undefined && now - message.acceptedAt >= ttl;
  }

  /** The queue was deleted: whoever still refers to it keeps none of its messages in memory. */
  releaseMessages(): void {
    this.waiting = this.delivery.newWaitingMessages();
    this.backingOff = new SequenceList();
    this.backoffs = new Heap();
    this.unsettled = new Unsettled();
  }

  info(): QueueInfo {
    return {
      name: this.name,
      messageCount: this.waitingCount,
      subscriberCount: this.delivery.subscriberCount,
      createdWallAt: this.createdWallAt,
      options: this.options,
    };
  }

  /** Its counters alone: numbers that are kept, nothing that has to be found out. */
  counts(): QueueCounts {
    const { generation, enteredCount, deliveredCount, acknowledgedCount } = this;
    return { id: generation, enteredCount, deliveredCount, acknowledgedCount };
  }

  /** Takes over the counters that it had in the core before this one. */
  continueCounts({ enteredCount, deliveredCount, acknowledgedCount }: QueueCounts): void {
    this.enteredCount += enteredCount;
    this.deliveredCount += deliveredCount;
    this.acknowledgedCount += acknowledgedCount;
  }

  /**
   * `wallOffsetMs`: what makes an instant of the monotonic clock one of the wall clock. Written out, because spreading `info()` into it takes
   * thirty times as long.
   */
  figures(wallOffsetMs: number): QueueFigures {
    const acceptedAt = this.oldestWaiting()?.acceptedAt;
    return {
      id: this.generation,
      name: this.name,
      messageCount: this.waitingCount,
      subscriberCount: this.delivery.subscriberCount,
      createdWallAt: this.createdWallAt,
      options: this.options,
      enteredCount: this.enteredCount,
      deliveredCount: this.deliveredCount,
      acknowledgedCount: this.acknowledgedCount,
      inFlightCount: this.delivery.inFlightCount,
      deadLetterCount: this.deadLetterCount,
      oldestWallAt: acceptedAt === undefined ? undefined : Math.round(acceptedAt + wallOffsetMs),
    };
  }
}
