// Ends waiting when the user interrupts a command, so that what the command has started and made can be cleaned up.

/** The user interrupted the command. */
export class Interrupted extends Error {
  constructor() {
    super('interrupted');
  }
}

/** Does the work; rejects with Interrupted as soon as the signal comes, and leaves the work to its own end. */
export async function untilInterrupted<Result>(
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  if (signal.aborted) throw new Interrupted();
  let interrupt = (): void => {};
  const interruption = new Promise<never>((_, reject) => {
    interrupt = () => reject(new Interrupted());
    signal.addEventListener('abort', interrupt);
  });
  try {
    return await Promise.race([work(), interruption]);
  } finally {
    signal.removeEventListener('abort', interrupt);
  }
}
