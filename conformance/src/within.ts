// A wait with an end. Nothing is cancelled: who gives up a wait says what becomes of what was awaited.

/** What the promise resolves with, or undefined after `ms` milliseconds; rejects as the promise does. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([promise, deadline]).finally(() => clearTimeout(timer));
}
