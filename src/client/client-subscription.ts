// One subscription of a client: passes messages to the handler one after another, in arrival order, and reports the outcome of each.
// Implements CLIENT-005 and CLIENT-006.

import type { Message } from '../protocol/message.ts';
import { DeserializationError } from './errors.ts';
import { type Handler, ReceivedMessage } from './received-message.ts';

/** The outcome of a delivery. The failures have the protocol's names. */
export type Outcome = 'done' | 'HandlerException' | 'DeserializationError';

export type SubscriptionOptions = {
  readonly handler: Handler;
  readonly onOutcome: (delivery: ReceivedMessage, outcome: Outcome) => void;
  /** Called when a handler fails; never throws. */
  readonly onError: (error: unknown) => void;
  /** Called when the number of messages that wait for the handler has changed. */
  readonly onBacklog: () => void;
};

export class ClientSubscription {
  readonly #options: SubscriptionOptions;
  readonly #backlog: ReceivedMessage[] = [];
  #isRunning = false;
  #isStopped = false;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  /** Messages that wait for the handler. */
  get backlogCount(): number {
    return this.#backlog.length;
  }

  deliver(message: Message): void {
    if (this.#isStopped) return;
    this.#backlog.push(new ReceivedMessage(message));
    this.#options.onBacklog();
    if (!this.#isRunning) void this.#run();
  }

  /** Discards waiting and later messages: they are not acknowledged. */
  stop(): void {
    this.#isStopped = true;
    this.#backlog.length = 0;
  }

  /** Never rejects: a failed handler is an outcome. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let delivery = this.#backlog.shift(); delivery !== undefined; delivery = this.#backlog.shift()) {
      this.#options.onBacklog();
      this.#options.onOutcome(delivery, await this.#handle(delivery));
    }
    this.#isRunning = false;
  }

  async #handle(delivery: ReceivedMessage): Promise<Outcome> {
    try {
      await this.#options.handler(delivery);
      return 'done';
    } catch (error) {
      this.#options.onError(error);
      return error instanceof DeserializationError ? 'DeserializationError' : 'HandlerException';
    }
  }
}
