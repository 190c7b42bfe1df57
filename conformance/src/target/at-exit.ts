// Runs something when the runner's process exits, whatever the reason: the end of a run, an exception, a second Ctrl-C. Only what
// is synchronous gets done then.

/** Before everything that `atExitLast` has registered. Returns the way to take it back. */
export function atExit(action: () => void): () => void {
  process.prependListener('exit', action);
  changeMaxListeners(1);
  return () => {
    if (!process.listeners('exit').includes(action)) return;
    process.off('exit', action);
    changeMaxListeners(-1);
  };
}

/** After everything that `atExit` has registered: for what can be done only when the started processes are gone. */
export function atExitLast(action: () => void): void {
  process.on('exit', action);
  changeMaxListeners(1);
}

/** Each broker has a listener of its own, so that many of them are no leak and must not be warned about. 0 means no limit. */
function changeMaxListeners(by: number): void {
  const count = process.getMaxListeners();
  if (count > 0) process.setMaxListeners(count + by);
}
