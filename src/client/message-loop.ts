// The messages of a queue for a `for await` loop: hands over one message at a time; it is acknowledged when the loop asks for the next one.
// A generator function alone would not do: its `return()` waits for a `next()` that is pending, and it cannot begin again. Implements CLIENT-046.

import type { ReceivedMessage } from './received-message.ts';

/** A subscription that the loop can start and end. `start` takes the handler, and what to call when no more messages follow. */
export type LoopSource<Value> = {
  /** The signal ends the wait for the subscription, and withdraws it. */
  start(
    handler: (message: ReceivedMessage<Value>) => Promise<void>,
    onEnd: (error: Error | undefined) => void,
    signal: AbortSignal,
  ): Promise<void>;
  stop(): Promise<void>;
};

export type LoopOptions<Value> = {
  /** A subscription of its own for each loop. */
  readonly createSource: () => LoopSource<Value>;
  readonly signal?: AbortSignal | undefined;
};

/**
 * Subscribes with the first `next()`. Ends normally when the client is closed, and throws when the subscription is lost or the signal is aborted.
 * `return()`, `throw()` and `await using` end it at once, also while a `next()` waits for a message.
 */
export class MessageLoop<Value> implements AsyncGenerator<ReceivedMessage<Value>, void, undefined> {
  readonly [Symbol.toStringTag] = 'MessageLoop';
  readonly #options: LoopOptions<Value>;
  readonly #handover = new Handover<Value>();
  /** Ends a subscription that is not accepted yet. */
  readonly #leaving = new AbortController();
  /** Answers calls of `next()` one after another, and ends in good order. */
  readonly #messages = this.#receive();
  #isOver = false;
  /** Why the broker did not take back the subscription: told to who ends the loop. */
  #failure: { readonly error: unknown } | undefined;

  constructor(options: LoopOptions<Value>) {
    this.#options = options;
  }

  next(): Promise<IteratorResult<ReceivedMessage<Value>, void>> {
    return this.#messages.next();
  }

  async return(value?: void | PromiseLike<void>): Promise<IteratorResult<ReceivedMessage<Value>, void>> {
    this.#leave();
    const result = await this.#messages.return(value);
    this.#throwFailure();
    return result;
  }

  throw(error: unknown): Promise<IteratorResult<ReceivedMessage<Value>, void>> {
    this.#leave();
    return this.#messages.throw(error);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  /** The loop itself; when it is over, another one, which subscribes anew. */
  [Symbol.asyncIterator](): AsyncGenerator<ReceivedMessage<Value>, void, undefined> {
    return this.#isOver ? new MessageLoop(this.#options) : this;
  }

  async *#receive(): AsyncGenerator<ReceivedMessage<Value>, void, undefined> {
    const { createSource, signal } = this.#options;
    const source = createSource();
    const abort = () => this.#leave(signal?.reason);
    signal?.addEventListener('abort', abort, { once: true });
    try {
      signal?.throwIfAborted();
      if (!(await this.#start(source))) return;
      for (;;) {
        const message = await this.#handover.take();
        if (message === undefined) return;
        yield message;
      }
    } finally {
      this.#isOver = true;
      signal?.removeEventListener('abort', abort);
      const isAborted = signal?.aborted === true;
      const stopped = source.stop().catch((error: unknown) => {
        if (!isAborted) this.#failure = { error };
      });
      // Whoever aborts a signal waits for nothing more.
      if (!isAborted) await stopped;
    }
  }

  /** False: the loop was left meanwhile. */
  async #start(source: LoopSource<Value>): Promise<boolean> {
    try {
      await source.start(
        (message) => this.#handover.put(message),
        (error) => this.#handover.end(error),
        this.#leaving.signal,
      );
      return true;
    } catch (error) {
      if (error === LEFT) return false;
      throw error;
    }
  }

  /** Without a reason the loop ends normally. */
  #leave(reason?: unknown): void {
    this.#isOver = true;
    this.#handover.end(reason);
    this.#leaving.abort(reason === undefined ? LEFT : reason);
  }

  #throwFailure(): void {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) throw failure.error;
  }
}

/** Why the wait for a subscription ends when its loop is left. */
const LEFT = new Error('the loop over the messages was left');

/** One message at a time, from the handler of a subscription to the loop. */
class Handover<Value> {
  #message: ReceivedMessage<Value> | undefined;
  /** Fulfils the promise of the handler. */
  #finish: () => void = () => undefined;
  #wake: () => void = () => undefined;
  #end: { readonly error: unknown } | undefined;

  /** Resolves when the loop asks for the message after this one; never, if it does not. */
  put(message: ReceivedMessage<Value>): Promise<void> {
    this.#message = message;
    this.#wake();
    return new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  end(error: unknown): void {
    this.#end ??= { error };
    this.#wake();
  }

  /** Finishes the message before. Undefined at the end. @throws the error that ended it */
  async take(): Promise<ReceivedMessage<Value> | undefined> {
    this.#finish();
    while (this.#message === undefined && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    if (this.#end?.error !== undefined) throw this.#end.error;
    const message = this.#end === undefined ? this.#message : undefined;
    this.#message = undefined;
    return message;
  }
}
