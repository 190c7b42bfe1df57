// How a message enters a queue, comes back to it, and leaves it for good. Every way is one method here, so that the bytes
// held, the record for the store, the ids looked at for repeats and the counters change together.
// Implements PUBLISH (taking responsibility), TTL, DLQ and OVERFLOW (pushing out).

import type { DeadLetterReason } from '../model/dead-letter-reason.ts';
import type { Deliveries } from './deliveries.ts';
import type { HeapNode } from './heap.ts';
import type { BrokerSettings } from './interface/settings.ts';
import type { StoredMessage } from './interface/store-record.ts';
import { QueuedMessage } from './message.ts';
import type { MessageEvent } from './message-state.ts';
import type { Queue } from './queue.ts';
import type { Queues } from './queues.ts';
import { retryDelayMs } from './retry-policy.ts';
import type { StepContext } from './step-context.ts';
import type { Timers } from './timers.ts';

export type RestoredMessage = StoredMessage & { readonly failedAttempts: number };

export class Settlement {
  readonly #step: StepContext;
  readonly #queues: Queues;
  readonly #timers: Timers;
  readonly #deliveries: Deliveries;
  readonly #settings: BrokerSettings;

  constructor(
    step: StepContext,
    queues: Queues,
    timers: Timers,
    deliveries: Deliveries,
    settings: BrokerSettings,
  ) {
    this.#step = step;
    this.#queues = queues;
    this.#timers = timers;
    this.#deliveries = deliveries;
    this.#settings = settings;
  }

  /** Sends everything of the queue that can be sent now. */
  dispatch(queue: Queue): void {
    if (!this.#step.isDraining)
      queue.mode.dispatch(queue, { deliveries: this.#deliveries, settlement: this });
  }

  /** The message to be offered next, if there is one that is young enough; one that is not ends at its own time. */
  nextOffer(queue: Queue): QueuedMessage | undefined {
    const message = queue.waiting.first();
    return message === undefined || queue.isExpired(message, this.#step.now) ? undefined : message;
  }

  /** Whether the message is too old to be sent. */
  isExpired(queue: Queue, message: QueuedMessage): boolean {
    return queue.isExpired(message, this.#step.now);
  }

  /** The broker takes responsibility for a published message: it waits in its queue. */
  accept(queue: Queue, message: QueuedMessage): void {
    this.#step.stats.publishedCount += 1;
    this.#enter(queue, message);
    this.#step.record({ kind: 'messageAdded', ...stored(queue, message, this.#step.wallNow) });
  }

  /**
   * A message that a store had kept waits again. It was counted and recorded in an earlier life. `acceptedAt` is when it was accepted, on
   * the monotonic clock of this one; possibly before it began. False when another message of the queue has its id.
   */
  restore(queue: Queue, stored: RestoredMessage, acceptedAt: number): boolean {
    const message = new QueuedMessage('waiting', stored, stored.deadLetter);
    message.failedAttempts = stored.failedAttempts;
    message.sentCount = stored.failedAttempts;
    return this.#place(queue, message, stored.sequence, acceptedAt);
  }

  /** A published message goes to the dead letter queue instead of its own, which is full. */
  redirect(queue: Queue, message: QueuedMessage): void {
    this.#step.stats.publishedCount += 1;
    const to = this.#enterDeadLetterQueue(queue, message, 'QueueOverflow', 0);
    this.#step.record({ kind: 'messageAdded', ...to });
  }

  /** Its subscriber, or every member that is left, has taken it. */
  acknowledge(queue: Queue, message: QueuedMessage): void {
    this.#leave(queue, message, 'acknowledge');
  }

  /** It was sent in a mode that asks for no ack; `missedCount` subscribers could not take it. */
  sent(queue: Queue, message: QueuedMessage, missedCount: number): void {
    this.#step.stats.discardedCount += missedCount;
    this.#leave(queue, message, 'sendUnconfirmed');
  }

  /** An attempt failed and counts, whatever comes next. */
  attemptFailed(queue: Queue, message: QueuedMessage): void {
    const { sequence, failedAttempts } = message;
    this.#step.record({ kind: 'attemptFailed', generation: queue.generation, sequence, failedAttempts });
  }

  /** Makes room: it is thrown away and counted. */
  pushOut(queue: Queue, message: QueuedMessage): void {
    this.#step.stats.discardedCount += 1;
    if (queue.mode.takePartlySent(queue, message, undefined, this)) return;
    this.#takeOffer(queue, message);
    this.#leave(queue, message, 'drop');
  }

  /** What was left of a message whose unsent copies were pushed out, and counted, before. */
  dropRest(queue: Queue, message: QueuedMessage): void {
    this.#leave(queue, message, 'drop');
  }

  /** A purge takes it; of a message that was sent to some members, the copies not yet sent. */
  purge(queue: Queue, message: QueuedMessage): void {
    this.#step.stats.purgedCount += 1;
    this.#step.touch(queue);
    if (queue.mode.takePartlySent(queue, message, undefined, this)) return;
    this.#takeOffer(queue, message);
    this.#leave(queue, message, 'purge');
  }

  /** No further attempt: to the dead letter queue, or thrown away and counted where there is none. */
  giveUp(queue: Queue, message: QueuedMessage, reason: DeadLetterReason, attempts: number): void {
    if (queue.options.enableDeadLetterQueue && message.deadLetter === undefined) {
      const from = { generation: queue.generation, sequence: message.sequence };
      this.#forget(queue, message, 'deadLetter');
      const to = this.#enterDeadLetterQueue(queue, message, reason, attempts);
      this.#step.record({ kind: 'deadLettered', from, to });
      return;
    }
    this.#step.stats.discardedCount += 1;
    this.#leave(queue, message, reason === 'MessageExpired' ? 'expire' : 'drop');
  }

  /** A delivery ended without a verdict: the message waits in its old place, unless it has become too old meanwhile. */
  waitAgain(queue: Queue, message: QueuedMessage, cutShort: boolean): void {
    message.move('giveBack');
    if (!this.#step.isDraining && this.isExpired(queue, message)) {
      this.giveUp(queue, message, 'MessageExpired', message.failedAttempts);
      return;
    }
    message.cutShortCount = cutShort ? message.cutShortCount + 1 : 0;
    if (message.cutShortCount >= 2) this.#rest(queue, message);
    else queue.waiting.insert(message);
    this.#watchAge(queue, message);
    this.#step.touch(queue);
  }

  /** Offers messages again that were cut short repeatedly and have rested, at most `most`; tells how many. */
  offerAgain(queue: Queue, most: number): number {
    queue.restTimer = undefined;
    let count = 0;
    for (; count < most; count += 1) {
      const first = queue.rests.first();
      if (first === undefined || first.key > this.#step.now) break;
      this.#endRest(queue, first);
      queue.waiting.insert(first.item);
    }
    this.#watchRests(queue);
    if (count > 0) this.#step.touch(queue);
    return count;
  }

  /** The queue is being deleted: no timer refers to it any more. */
  clearTimers(queue: Queue): void {
    if (queue.expiry !== undefined) this.#timers.clear(queue.expiry);
    if (queue.restTimer !== undefined) this.#timers.clear(queue.restTimer);
    queue.expiry = undefined;
    queue.restTimer = undefined;
  }

  /** Ends waiting messages that are too old, at most `most` of them; tells how many. */
  expireOldest(queue: Queue, most: number): number {
    queue.expiry = undefined;
    let expired = 0;
    let oldest = queue.oldestWaiting();
    while (oldest !== undefined && expired < most && queue.isExpired(oldest, this.#step.now)) {
      this.#expire(queue, oldest);
      expired += 1;
      oldest = queue.oldestWaiting();
    }
    if (oldest !== undefined) this.#watchAge(queue, oldest);
    if (expired > 0) this.#step.touch(queue);
    return expired;
  }

  #expire(queue: Queue, message: QueuedMessage): void {
    if (queue.mode.takePartlySent(queue, message, 'MessageExpired', this)) return;
    this.#takeOffer(queue, message);
    this.giveUp(queue, message, 'MessageExpired', message.failedAttempts);
  }

  #enter(queue: Queue, message: QueuedMessage): void {
    this.#place(queue, message, this.#step.lastSequence + 1, this.#step.now);
  }

  /** False when its id was in the queue already, which its publishing has made sure of. */
  #place(queue: Queue, message: QueuedMessage, sequence: number, acceptedAt: number): boolean {
    this.#step.lastSequence = sequence;
    message.sequence = sequence;
    message.acceptedAt = acceptedAt;
    queue.heldBytes += message.heldBytes;
    this.#step.stats.queuedBytes += message.heldBytes;
    const isNew = message.deadLetter !== undefined || queue.unsettled.set(message.id, message);
    queue.waiting.insert(message);
    this.#watchAge(queue, message);
    this.#step.touch(queue);
    return isNew;
  }

  #enterDeadLetterQueue(
    source: Queue,
    message: QueuedMessage,
    reason: DeadLetterReason,
    attempts: number,
  ): StoredMessage {
    const queue = this.#queues.deadLetterQueueOf(source);
    this.#makeRoom(queue);
    const facts = { reason, source: source.name, attempts, deadLetteredWallAt: this.#step.wallNow };
    const letter = new QueuedMessage('waiting', message, facts);
    this.#enter(queue, letter);
    this.#step.stats.deadLetteredCount += 1;
    return stored(queue, letter, this.#step.wallNow);
  }

  /** A dead letter always enters: what can go out goes out first, then the oldest is pushed out where it must be. */
  #makeRoom(queue: Queue): void {
    if (!queue.isFull) return;
    this.dispatch(queue);
    const oldest = queue.oldestWaiting();
    if (queue.isFull && oldest !== undefined && !queue.mode.takesAtOnce(queue)) this.pushOut(queue, oldest);
  }

  #leave(queue: Queue, message: QueuedMessage, event: MessageEvent): void {
    this.#forget(queue, message, event);
    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });
  }

  #forget(queue: Queue, message: QueuedMessage, event: MessageEvent): void {
    message.move(event);
    queue.heldBytes -= message.heldBytes;
    this.#step.stats.queuedBytes -= message.heldBytes;
    if (message.deadLetter === undefined) queue.unsettled.delete(message.id);
    this.#step.touch(queue);
  }

  #takeOffer(queue: Queue, message: QueuedMessage): void {
    if (message.rest === undefined) {
      queue.waiting.remove(message);
      return;
    }
    this.#endRest(queue, message.rest);
    this.#watchRests(queue);
  }

  #rest(queue: Queue, message: QueuedMessage): void {
    const until = this.#step.now + retryDelayMs(message.cutShortCount, this.#settings);
    message.rest = queue.rests.insert(until, message);
    queue.resting.insert(message);
    this.#watchRests(queue);
  }

  #endRest(queue: Queue, rest: HeapNode<QueuedMessage>): void {
    queue.rests.remove(rest);
    rest.item.rest = undefined;
    queue.resting.remove(rest.item);
  }

  /** Sets the queue's one timer to the end of the rest that is over first. */
  #watchRests(queue: Queue): void {
    const first = queue.rests.first();
    if (queue.restTimer?.key === first?.key) return;
    if (queue.restTimer !== undefined) this.#timers.clear(queue.restTimer);
    queue.restTimer =
      first === undefined ? undefined : this.#timers.set(first.key, { kind: 'offerAgain', queue });
  }

  #watchAge(queue: Queue, message: QueuedMessage): void {
    const ttl = queue.options.messageTtlMs;
    if (ttl === undefined) return;
    const dueAt = message.acceptedAt + ttl;
    if (queue.expiry !== undefined) {
      if (queue.expiry.key <= dueAt) return;
      this.#timers.clear(queue.expiry);
    }
    queue.expiry = this.#timers.set(dueAt, { kind: 'expire', queue });
  }
}

function stored(queue: Queue, message: QueuedMessage, acceptedWallAt: number): StoredMessage {
  const { sequence, id, priority, content, deadLetter } = message;
  const fields = { generation: queue.generation, sequence, id, priority, content, acceptedWallAt };
  return deadLetter === undefined ? fields : { ...fields, deadLetter };
}
