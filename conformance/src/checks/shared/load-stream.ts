// One queue of a load: the messages that its publisher publishes, their receivers, and the progress. It sends no frames.
// Areas: PUBLISH, DELIVERY.
import type { Connection } from '../../connection.ts';
import type { DeliveryMode } from '../../history/operation.ts';

export type StreamPlan = {
  /** The last part of the queue's name. */
  readonly name: string;
  readonly publisher: Connection;
  /** At least one. */
  readonly subscribers: readonly Connection[];
  /** Messages to publish, at least 1. */
  readonly count: number;
  /** Messages that are published together, at least 1. */
  readonly batch: number;
  /** Everything is published before the subscribers subscribe. */
  readonly isBacklog?: true;
};

export type LoadMessage = {
  readonly id: string;
  /** From 0, in the order of publishing. */
  readonly number: number;
  readonly stream: LoadStream;
  readonly headers: Readonly<Record<string, string>>;
  answer: 'none' | 'confirmed' | 'refused';
  /** The names of the connections that received it. */
  readonly receivers: Set<string>;
};

export class LoadStream {
  readonly plan: StreamPlan;
  readonly queue: string;
  readonly messages: LoadMessage[] = [];
  isSubscribed = false;
  answeredCount = 0;
  refusedCount = 0;
  /** When something was last published, answered or delivered. */
  lastActivityAt = 0;
  readonly #mode: DeliveryMode;
  /** The first messages, up to this number, have reached all their receivers. */
  #completeCount = 0;
  /** By subscriber: the highest message number that it received. */
  readonly #highestNumbers = new Map<string, number>();

  constructor(plan: StreamPlan, queue: string, mode: DeliveryMode) {
    this.plan = plan;
    this.queue = queue;
    this.#mode = mode;
  }

  /** Number of messages to publish until this share (0 to 1) is published. Refused messages do not count. */
  remainingCount(share: number): number {
    const wantedCount = Math.ceil(this.plan.count * share);
    return Math.max(0, wantedCount - (this.messages.length - this.refusedCount));
  }

  get isAnswered(): boolean {
    return this.answeredCount === this.messages.length;
  }

  /** All confirmed messages have reached all their receivers. */
  get isComplete(): boolean {
    const { messages } = this;
    while (this.#completeCount < messages.length && this.#isReceivedByAll(messages[this.#completeCount]))
      this.#completeCount += 1;
    return this.#completeCount === messages.length;
  }

  /**
   * No more deliveries are expected: all messages were received, or every subscriber that receives messages in publish order has received
   * the last one. Without publish order (shared messages, priorities) only the first condition holds.
   */
  get isFinished(): boolean {
    if (this.isComplete) return true;
    if (this.isSharedOrSorted) return false;
    const last = this.messages.length - 1;
    return this.plan.subscribers.every(({ name }) => this.#highestNumbers.get(name) === last);
  }

  get isSharedOrSorted(): boolean {
    return (
      this.#mode === 'PriorityBased' || (this.#mode === 'RoundRobin' && this.plan.subscribers.length > 1)
    );
  }

  received(message: LoadMessage, connection: string): void {
    message.receivers.add(connection);
    this.#highestNumbers.set(
      connection,
      Math.max(message.number, this.#highestNumbers.get(connection) ?? -1),
    );
  }

  #isReceivedByAll(message: LoadMessage | undefined): boolean {
    if (message === undefined || message.answer === 'none') return false;
    const isFanOut = this.#mode === 'FanOutWithAck' || this.#mode === 'FanOutWithoutAck';
    return (
      message.answer === 'refused' || message.receivers.size >= (isFanOut ? this.plan.subscribers.length : 1)
    );
  }
}
