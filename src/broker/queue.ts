// One queue: its options, its messages by what they are doing, and its subscribers. It keeps the books and decides
// nothing; what happens to a message is decided by the delivery modes and by settlement.ts.

import type { QueueInfo } from '../model/queue-info.ts';
import { deadLetterQueueOf, type QueueOptions } from '../model/queue-options.ts';
import type { BlockedPublish } from './blocked-publish.ts';
import type { DeliveryModeRules } from './delivery/delivery-mode.ts';
import { Heap, type HeapNode } from './heap.ts';
import { IdMap } from './id-map.ts';
import type { Generation } from './interface/store-record.ts';
import type { QueuedMessage } from './message.ts';
import { OwedCopies } from './owed-copies.ts';
import { ReadyRing } from './ready-ring.ts';
import { SequenceList } from './sequence-list.ts';
import type { Subscription } from './subscription.ts';
import type { Timer } from './timers.ts';
import { utf8Length } from './utf8-length.ts';
import { earlier, type WaitingMessages } from './waiting-messages.ts';

export class Queue {
  readonly name: string;
  readonly options: QueueOptions;
  readonly generation: Generation;
  readonly createdWallAt: number;
  readonly mode: DeliveryModeRules;
  readonly deadLetterQueueName: string;
  /** Bytes that a content gains by naming the dead letter queue instead of this one; 0 when none is on. */
  readonly deadLetterGrowthBytes: number;

  /** Waiting, to be offered now. */
  waiting: WaitingMessages;
  /** Waiting, but not to be offered before a time: cut short repeatedly. */
  resting = new SequenceList();
  /** The resting messages by the end of their rests. */
  rests = new Heap<QueuedMessage>();
  /** Sent to some members and owed to others (FanOutWithAck): counted as waiting. */
  partlySent = new SequenceList();
  /** Publishes that wait for room, by message id, first come first. */
  readonly blocked = new Map<string, BlockedPublish>();
  /** Accepted messages that are not settled, by id; dead letters are left out, nothing is a repeat of them. */
  unsettled = new IdMap<QueuedMessage>();

  readonly subscriptions = new Set<Subscription>();
  /** Ended subscriptions that still hold deliveries of this queue. */
  readonly departed = new Set<Subscription>();
  readonly ready = new ReadyRing();
  /** Members that have become ready while copies were owed to them (FanOutWithAck). */
  readonly owed: Subscription[] = [];
  owedCopies = new OwedCopies();

  /** Bytes of all its messages, blocked ones included. */
  heldBytes = 0;
  /** Deliveries that are not settled. */
  inFlightCount = 0;
  deleted = false;
  /** The timer for its oldest message; it may fall due early, never late. */
  expiry: HeapNode<Timer> | undefined = undefined;
  /** The timer for the rest that is over first. */
  restTimer: HeapNode<Timer> | undefined = undefined;
  /** Whether it is on the broker's list of queues to look at before the step ends. */
  isTouched = false;

  constructor(
    name: string,
    options: QueueOptions,
    mode: DeliveryModeRules,
    born: { readonly generation: Generation; readonly createdWallAt: number },
  ) {
    this.name = name;
    this.options = options;
    this.mode = mode;
    this.generation = born.generation;
    this.createdWallAt = born.createdWallAt;
    this.waiting = mode.newWaitingMessages();
    this.deadLetterQueueName = deadLetterQueueOf(name, options);
    this.deadLetterGrowthBytes = options.enableDeadLetterQueue
      ? Math.max(0, utf8Length(this.deadLetterQueueName) - utf8Length(name))
      : 0;
  }

  get waitingCount(): number {
    return this.waiting.size + this.resting.size + this.partlySent.size;
  }

  get isFull(): boolean {
    return this.waitingCount >= this.options.maxQueueSize;
  }

  /** The waiting message that was accepted first, whatever its priority. */
  oldestWaiting(): QueuedMessage | undefined {
    return earlier(this.waiting.oldest(), earlier(this.resting.first(), this.partlySent.first()));
  }

  isExpired(message: QueuedMessage, now: number): boolean {
    const ttl = this.options.messageTtlMs;
    return ttl !== undefined && now - message.acceptedAt >= ttl;
  }

  /** The queue is deleted: deliveries that still refer to it keep none of its messages but their own. */
  releaseMessages(): void {
    this.waiting = this.mode.newWaitingMessages();
    this.resting = new SequenceList();
    this.rests = new Heap();
    this.partlySent = new SequenceList();
    this.unsettled = new IdMap();
    this.owedCopies = new OwedCopies();
  }

  info(): QueueInfo {
    return {
      name: this.name,
      messageCount: this.waitingCount,
      subscriberCount: this.subscriptions.size,
      createdWallAt: this.createdWallAt,
      options: this.options,
    };
  }
}
