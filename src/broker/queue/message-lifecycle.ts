// How a message enters a queue, comes back to it, and leaves it for good. Each way is one method, so that the bytes held, the record for
// the store, the ids looked at for repeats and the counters change together.
// Implements PUBLISH-002, PUBLISH-011, PUBLISH-012, OVERFLOW-005, TTL-007 to TTL-010, DLQ-008 to DLQ-019 and DELIVERY-038 to DELIVERY-041.

import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';
import type { TimerQueue } from '../collections/timer-queue.ts';
import type { BrokerSettings } from '../interface/settings.ts';
import type { StoredMessage, StoreRecord } from '../interface/store-record.ts';
import { Backoff } from './backoff.ts';
import { Expiry } from './expiry.ts';
import { QueuedMessage } from './message.ts';
import type { MessageEvent } from './message-state.ts';
import type { Queue } from './queue.ts';
import type { Queues } from './queues.ts';
import type { StepContext } from './step-context.ts';

export type RestoredMessage = StoredMessage & { readonly failedAttempts: number };

export class MessageLifecycle {
  readonly #step: StepContext;
  readonly #queues: Queues;
  readonly #expiry: Expiry;
  readonly #backoff: Backoff;

  constructor(step: StepContext, queues: Queues, timers: TimerQueue, settings: BrokerSettings) {
    this.#step = step;
    this.#queues = queues;
    this.#expiry = new Expiry(step, timers, (queue, message) => this.#expire(queue, message));
    this.#backoff = new Backoff(step, timers, settings);
  }

  /** The message to be sent next, unless it is too old: that one waits for its expiry. */
  nextToSend(queue: Queue): QueuedMessage | undefined {
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
    this.#step.record(added(queue, message, this.#step.wallNow));
  }

  /**
   * Takes up a message that a store had kept; it was counted and recorded in an earlier life. `acceptedAt`: when it was accepted, on the
   * monotonic clock of this life, possibly before it began. Returns false when another message of the queue has its id.
   */
  restore(queue: Queue, stored: RestoredMessage, acceptedAt: number): boolean {
    const message = new QueuedMessage('waiting', stored, stored.deadLetter);
    message.failedAttempts = stored.failedAttempts;
    message.sentCount = stored.failedAttempts;
    return this.#place(queue, message, stored.sequence, acceptedAt);
  }

  /** A published message enters the dead letter queue, because its own queue is full. */
  redirect(queue: Queue, message: QueuedMessage): void {
    this.#step.stats.publishedCount += 1;
    const to = this.#enterDeadLetterQueue(queue, message, 'QueueOverflow', 0);
    this.#step.record({ kind: 'messageAdded', ...to });
  }

  /** Its subscriber, or every member that is left, has acknowledged it. */
  acknowledge(queue: Queue, message: QueuedMessage): void {
    this.#leave(queue, message, 'acknowledge');
  }

  /** It was sent in a mode that asks for no ack; `missedCount` subscribers could not take it. */
  sent(queue: Queue, message: QueuedMessage, missedCount: number): void {
    this.#step.stats.discardedCount += missedCount;
    this.#leave(queue, message, 'sendUnconfirmed');
  }

  /** An attempt failed and counts, whatever follows. */
  attemptFailed(queue: Queue, message: QueuedMessage): void {
    const { sequence, failedAttempts } = message;
    this.#step.record({ kind: 'attemptFailed', generation: queue.generation, sequence, failedAttempts });
  }

  /** Discards the oldest waiting message to make room, and counts it. */
  evict(queue: Queue, message: QueuedMessage): void {
    this.#step.stats.discardedCount += 1;
    if (message.state === 'partlySent') return queue.delivery.cancelUnsentCopies(message, undefined);
    this.#stopWaiting(queue, message);
    this.#leave(queue, message, 'drop');
  }

  /** The last copy of a message has ended whose unsent copies were cancelled, and counted, before. */
  dropRest(queue: Queue, message: QueuedMessage): void {
    this.#leave(queue, message, 'drop');
  }

  /** An operator removes a waiting message; of a message that was sent to some members, the copies not yet sent. */
  purge(queue: Queue, message: QueuedMessage): void {
    this.#step.stats.purgedCount += 1;
    this.#step.touch(queue);
    if (message.state === 'partlySent') return queue.delivery.cancelUnsentCopies(message, undefined);
    this.#stopWaiting(queue, message);
    this.#leave(queue, message, 'purge');
  }

  /** An operator moves a waiting dead letter to the end of its source queue, where it is a message like any other. */
  requeue(letters: Queue, letter: QueuedMessage, source: Queue): void {
    this.#step.stats.requeuedCount += 1;
    this.#stopWaiting(letters, letter);
    this.#leave(letters, letter, 'requeue');
    const message = new QueuedMessage('waiting', letter);
    this.#enter(source, message);
    this.#step.record(added(source, message, this.#step.wallNow));
  }

  /** No further attempt: moves the message to the dead letter queue, or discards and counts it where there is none. */
  deadLetterOrDiscard(
    queue: Queue,
    message: QueuedMessage,
    reason: DeadLetterReason,
    attempts: number,
  ): void {
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

  /**
   * A delivery ended without ack or failure: the message waits in its old place, unless it has become too old meanwhile. `interrupted`:
   * the delivery ended with its connection.
   */
  release(queue: Queue, message: QueuedMessage, interrupted: boolean): void {
    message.move('release');
    if (!this.#step.isDraining && this.isExpired(queue, message)) {
      this.deadLetterOrDiscard(queue, message, 'MessageExpired', message.failedAttempts);
      return;
    }
    message.interruptedCount = interrupted ? message.interruptedCount + 1 : 0;
    if (message.interruptedCount >= 2) this.#backoff.begin(queue, message);
    else queue.waiting.insert(message);
    this.#expiry.watch(queue, message);
    this.#step.touch(queue);
  }

  /** The queue is deleted: no timer refers to it any more. */
  clearTimers(queue: Queue): void {
    this.#expiry.clearTimer(queue);
    this.#backoff.clearTimer(queue);
  }

  #expire(queue: Queue, message: QueuedMessage): void {
    if (message.state === 'partlySent') {
      return queue.delivery.cancelUnsentCopies(message, 'MessageExpired');
    }
    this.#stopWaiting(queue, message);
    this.deadLetterOrDiscard(queue, message, 'MessageExpired', message.failedAttempts);
  }

  #enter(queue: Queue, message: QueuedMessage): void {
    queue.enteredCount += 1;
    this.#place(queue, message, this.#step.lastSequence + 1, this.#step.now);
  }

  /** Returns false when its id was in the queue already, which a publish has made sure of. */
  #place(queue: Queue, message: QueuedMessage, sequence: number, acceptedAt: number): boolean {
    this.#step.lastSequence = sequence;
    message.sequence = sequence;
    message.acceptedAt = acceptedAt;
    queue.heldBytes += message.heldBytes;
    this.#step.stats.queuedBytes += message.heldBytes;
    if (message.deadLetter !== undefined) queue.deadLetterCount += 1;
    const isNew = message.deadLetter !== undefined || queue.unsettled.set(message.id, message);
    queue.waiting.insert(message);
    this.#expiry.watch(queue, message);
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

  /** A dead letter always enters: what can be sent is sent first, then the oldest message is evicted if the queue is still full. */
  #makeRoom(queue: Queue): void {
    if (!queue.isFull) return;
    if (!this.#step.isDraining) queue.delivery.dispatch();
    const oldest = queue.oldestWaiting();
    if (!queue.isFull || oldest === undefined || queue.delivery.canDeliverNow()) return;
    this.evict(queue, oldest);
    this.#step.evicted(queue);
  }

  #leave(queue: Queue, message: QueuedMessage, event: MessageEvent): void {
    this.#forget(queue, message, event);
    this.#step.record({ kind: 'messageRemoved', generation: queue.generation, sequence: message.sequence });
  }

  #forget(queue: Queue, message: QueuedMessage, event: MessageEvent): void {
    message.move(event);
    queue.heldBytes -= message.heldBytes;
    this.#step.stats.queuedBytes -= message.heldBytes;
    if (message.deadLetter !== undefined) queue.deadLetterCount -= 1;
    if (message.deadLetter === undefined) queue.unsettled.delete(message.id);
    this.#step.touch(queue);
  }

  #stopWaiting(queue: Queue, message: QueuedMessage): void {
    if (message.state === 'backingOff') this.#backoff.endEarly(queue, message);
    else queue.waiting.remove(message);
  }
}

/** Written out, because spreading `stored()` into it takes three times as long, and there is one for every publish. */
function added(queue: Queue, message: QueuedMessage, acceptedWallAt: number): StoreRecord {
  const { sequence, id, priority, content } = message;
  const { generation } = queue;
  return { kind: 'messageAdded', generation, sequence, id, priority, content, acceptedWallAt };
}

function stored(queue: Queue, message: QueuedMessage, acceptedWallAt: number): StoredMessage {
  const { sequence, id, priority, content, deadLetter } = message;
  const fields = { generation: queue.generation, sequence, id, priority, content, acceptedWallAt };
  return deadLetter === undefined ? fields : { ...fields, deadLetter };
}
