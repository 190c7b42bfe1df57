// Waits for a promise with a time limit. At the limit nothing is cancelled: the caller must stop the operation itself.

/** The value of the promise, or undefined after `ms` milliseconds; rejects if the promise rejects. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  return Promise.race([promise, deadline]).finally(() => clearTimeout(timer));
}
