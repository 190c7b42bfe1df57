// AbortSignal for the operations of the client: whatever a promise waits for, an aborted signal ends the wait.

/** Options that every operation has. */
export type CallOptions = {
  /** Ends the wait: the operation rejects with the signal's reason. The broker may still carry out what was already sent. */
  readonly signal?: AbortSignal | undefined;
};

/** Settles as the promise does, unless the signal is aborted before: then calls `onAbort` once and rejects with the signal's reason. */
export function orAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal | undefined,
  onAbort: () => void,
): Promise<Value> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => {
      onAbort();
      reject(signal.reason);
    };
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
