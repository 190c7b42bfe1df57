// One subscription of a client: passes messages to the handler one after another, in arrival order, and acknowledges each according to its
// outcome. Implements CLIENT-005 and CLIENT-006.

import { type ClientError, DeserializationError } from './errors.ts';
import { Fifo } from './fifo.ts';
import type { Handler, ReceivedMessage } from './received-message.ts';

export type AckMode = 'auto' | 'manual';

export type SubscriptionOptions = {
  readonly handler: Handler;
  readonly ack: AckMode;
  /** The headers of its Subscribe. */
  readonly headers: ReadonlyMap<string, string>;
  /** Called when a handler fails; never throws. */
  readonly onError: (error: unknown) => void;
  /** Called when the number of messages that wait for the handler has changed. */
  readonly onBacklog: () => void;
  /** Called when no more messages follow; with an error unless the user ended it. */
  readonly onEnd: (error: ClientError | undefined) => void;
};

export class ClientSubscription {
  /** Whether the broker has accepted it, so that the next connection renews it. */
  isAccepted = false;
  /** The one before for the same queue, which receives again if the broker refuses this one; undefined once it has accepted. */
  replaced: ClientSubscription | undefined = undefined;
  /** Whether the broker may have subscribed the client for one before that was withdrawn. */
  isDoubtful = false;
  readonly #options: SubscriptionOptions;
  #backlog = new Fifo<ReceivedMessage>();
  #backlogBytes = 0;
  #isRunning = false;
  #isStopped = false;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  get headers(): ReadonlyMap<string, string> {
    return this.#options.headers;
  }

  /** Messages that wait for the handler. */
  get backlogCount(): number {
    return this.#backlog.length;
  }

  /** Bytes of their payloads. */
  get backlogBytes(): number {
    return this.#backlogBytes;
  }

  deliver(message: ReceivedMessage): void {
    if (this.#isStopped) return;
    this.#backlog.push(message);
    this.#backlogBytes += message.payload.length;
    this.#options.onBacklog();
    if (!this.#isRunning) void this.#run();
  }

  /** This one, or the one that receives again if the broker refuses this one; undefined: the broker has accepted none. */
  get accepted(): ClientSubscription | undefined {
    return this.isAccepted ? this : this.replaced?.accepted;
  }

  /** The broker has accepted it: those before are over. */
  accept(error: ClientError): void {
    this.isAccepted = true;
    this.replaced?.retire(error);
    this.replaced = undefined;
  }

  /** The one that it replaces was withdrawn. */
  inherit(replaced: ClientSubscription | undefined, isDoubtful: boolean): void {
    this.replaced = replaced;
    this.isDoubtful ||= isDoubtful;
  }

  /** Discards waiting messages: their connection has ended, and the broker sends them again. */
  discardBacklog(): void {
    this.#backlog = new Fifo();
    this.#backlogBytes = 0;
    this.#options.onBacklog();
  }

  /** Discards waiting and later messages: they are not acknowledged. Ends those that it replaces too. */
  stop(error?: ClientError): void {
    this.replaced?.stop(error);
    if (this.#isStopped) return;
    this.#isStopped = true;
    this.discardBacklog();
    this.#options.onEnd(error);
  }

  /** No more messages follow; those that wait are still handled. With an error unless the user unsubscribed. Ends those that it replaces too. */
  retire(error?: ClientError): void {
    this.replaced?.retire(error);
    if (!this.#isStopped) this.#options.onEnd(error);
  }

  /** Never rejects: a failed handler is an outcome. */
  async #run(): Promise<void> {
    this.#isRunning = true;
    for (let message = this.#backlog.shift(); message !== undefined; message = this.#backlog.shift()) {
      this.#backlogBytes -= message.payload.length;
      this.#options.onBacklog();
      await this.#handle(message);
    }
    this.#isRunning = false;
  }

  async #handle(message: ReceivedMessage): Promise<void> {
    try {
      await this.#options.handler(message);
      if (this.#options.ack === 'auto') message.ack();
    } catch (error) {
      this.#options.onError(error);
      message.nack(error instanceof DeserializationError ? 'DeserializationError' : 'HandlerException');
    }
  }
}
