// Publishes a sequence of values with as many confirmations under way as there is room for. Keeps nothing of a value that is confirmed. Implements
// CLIENT-045.

export type SequencePublisher<Value> = {
  publish(value: Value): Promise<unknown>;
  /** Undefined when there is room now. */
  roomToPublish(): Promise<void> | undefined;
};

/**
 * The number of values.
 * @throws the first failure, of a publish or of the source, after which no more values are taken, when the publishes under way are settled
 */
export async function publishEach<Value>(
  values: Iterable<Value> | AsyncIterable<Value>,
  publisher: SequencePublisher<Value>,
): Promise<number> {
  const progress = new Progress();
  try {
    await publisher.roomToPublish();
    for await (const value of values) {
      // A publish may have failed while the source made this value.
      if (progress.failure !== undefined) break;
      progress.follow(publisher.publish(value));
      const room = publisher.roomToPublish();
      if (room !== undefined) await room;
      if (progress.failure !== undefined) break;
    }
  } finally {
    await progress.allSettled();
  }
  if (progress.failure !== undefined) throw progress.failure.error;
  return progress.startedCount;
}

/** Counts publishes that are under way, and remembers the first failure. */
class Progress {
  startedCount = 0;
  failure: { readonly error: unknown } | undefined;
  #settledCount = 0;
  #notify: () => void = () => undefined;

  follow(publish: Promise<unknown>): void {
    this.startedCount += 1;
    publish.then(
      () => this.#settle(),
      (error: unknown) => {
        this.failure ??= { error };
        this.#settle();
      },
    );
  }

  allSettled(): Promise<void> {
    return new Promise((resolve) => {
      this.#notify = resolve;
      if (this.#settledCount === this.startedCount) resolve();
    });
  }

  #settle(): void {
    this.#settledCount += 1;
    if (this.#settledCount === this.startedCount) this.#notify();
  }
}
