// The messages of a queue for a `for await` loop: hands over one message at a time; it is acknowledged when the loop asks for the next one.
// Implements CLIENT-046.

import type { ReceivedMessage } from './received-message.ts';

/** A subscription that the loop can start and end. `start` takes the handler, and what to call when no more messages follow. */
export type LoopSource<Value> = {
  start(
    handler: (message: ReceivedMessage<Value>) => Promise<void>,
    onEnd: (error: Error | undefined) => void,
  ): Promise<void>;
  stop(): Promise<void>;
};

/** Ends normally when the client is closed, and throws when the subscription is lost or the signal is aborted. */
export async function* loopOver<Value>(
  source: LoopSource<Value>,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReceivedMessage<Value>, void, undefined> {
  const handover = new Handover<Value>();
  const abort = () => handover.end(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await source.start(
      (message) => handover.put(message),
      (error) => handover.end(error),
    );
    for (;;) {
      const message = await handover.take();
      if (message === undefined) return;
      yield message;
    }
  } finally {
    signal?.removeEventListener('abort', abort);
    await source.stop();
  }
}

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
