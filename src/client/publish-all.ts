// Publishes a sequence of values with as many confirmations under way as there is room for. Keeps nothing of a value that is confirmed. Implements
// CLIENT-045.

import { shown } from './option-checks.ts';

export type SequencePublisher<Value> = {
  publish(value: Value): Promise<unknown>;
  /** Undefined when there is room now. */
  roomToPublish(): Promise<void> | undefined;
  /** Calls back, at once or later, when no publish can succeed any more; not after the returned function was called. */
  onEnd(listener: (error: unknown) => void): () => void;
  readonly signal?: AbortSignal | undefined;
};

/**
 * The number of values. After the first failure (of a publish, of the source, of the client that ends, of the signal) no more values are taken, also
 * while the source makes the next one; the source is asked to end, and not waited for.
 * @throws that failure, when the publishes under way are settled
 */
export async function publishEach<Value>(
  values: Iterable<Value> | AsyncIterable<Value>,
  publisher: SequencePublisher<Value>,
): Promise<number> {
  const { signal } = publisher;
  signal?.throwIfAborted();
  const progress = new Progress();
  const abort = () => progress.fail(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  const forget = publisher.onEnd((error) => progress.fail(error));
  try {
    await publishUntilFailure(values, publisher, progress);
  } finally {
    await progress.allSettled();
    forget();
    signal?.removeEventListener('abort', abort);
  }
  if (progress.failure !== undefined) throw progress.failure.error;
  return progress.startedCount;
}

async function publishUntilFailure<Value>(
  values: Iterable<Value> | AsyncIterable<Value>,
  publisher: SequencePublisher<Value>,
  progress: Progress,
): Promise<void> {
  await progress.unlessFailed(publisher.roomToPublish());
  if (progress.failure !== undefined) return;
  const source = iteratorOf(values);
  while (progress.failure === undefined) {
    const next = await progress.unlessFailed(nextOf(source));
    // A publish may have failed while the source made this value.
    if (progress.failure !== undefined) break;
    if (next === undefined || next.done === true) return;
    progress.follow(publisher.publish(next.value));
    const room = publisher.roomToPublish();
    if (room !== undefined) await progress.unlessFailed(room);
  }
  askToEnd(source);
}

type Source<Value> = Iterator<Value> | AsyncIterator<Value>;

/** @throws TypeError for what has no values */
function iteratorOf<Value>(values: Iterable<Value> | AsyncIterable<Value>): Source<Value> {
  const iterable = Object(values) as Partial<AsyncIterable<Value> & Iterable<Value>>;
  const iterator = iterable[Symbol.asyncIterator]?.() ?? iterable[Symbol.iterator]?.();
  if (iterator === undefined)
    throw new TypeError(
      `values: came ${shown(values)}; allowed is an iterable or an async iterable of values`,
    );
  return iterator;
}

/** Values that are promises are awaited, as `for await` does. */
async function nextOf<Value>(source: Source<Value>): Promise<IteratorResult<Value, unknown>> {
  const next = await source.next();
  return next.done === true ? next : { done: false, value: await next.value };
}

/** A generator that waits for its next value ends only when it has it; its failure would come after that which ended it. */
function askToEnd(source: Source<unknown>): void {
  const end = async () => source.return?.();
  end().catch(() => undefined);
}

/** Counts publishes that are under way, and remembers the first failure. */
class Progress {
  startedCount = 0;
  failure: { readonly error: unknown } | undefined;
  #settledCount = 0;
  #notifySettled: () => void = () => undefined;
  #notifyFailed: () => void = () => undefined;

  follow(publish: Promise<unknown>): void {
    this.startedCount += 1;
    publish.then(
      () => this.#settle(),
      (error: unknown) => {
        this.fail(error);
        this.#settle();
      },
    );
  }

  fail(error: unknown): void {
    this.failure ??= { error };
    this.#notifyFailed();
  }

  /**
   * What the promise gives; undefined as soon as there is a failure. A promise of its own for each wait: one that lasts would keep what was raced with it.
   * @throws what the promise throws
   */
  unlessFailed<Result>(promise: Promise<Result> | undefined): Promise<Result | undefined> {
    return new Promise((resolve, reject) => {
      this.#notifyFailed = () => resolve(undefined);
      if (this.failure !== undefined || promise === undefined) resolve(undefined);
      promise?.then(resolve, reject);
    });
  }

  allSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.#notifySettled = resolve;
      if (this.#settledCount === this.startedCount) resolve();
    });
  }

  #settle(): void {
    this.#settledCount += 1;
    if (this.#settledCount === this.startedCount) this.#notifySettled();
  }
}
