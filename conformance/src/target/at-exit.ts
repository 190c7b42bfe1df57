// Runs actions when the process of the runner exits for any reason: the end of a run, an exception, a second Ctrl-C. Actions must be
// synchronous.

/** Runs before all actions of `atExitLast`. Returns a function that removes the action. */
export function atExit(action: () => void): () => void {
  process.prependListener('exit', action);
  changeMaxListeners(1);
  return () => {
    if (!process.listeners('exit').includes(action)) return;
    process.off('exit', action);
    changeMaxListeners(-1);
  };
}

/** Runs after all actions of `atExit`: for work that needs the started processes to be gone. */
export function atExitLast(action: () => void): void {
  process.on('exit', action);
  changeMaxListeners(1);
}

/** Each broker adds a listener, so Node must not warn about many listeners. 0 means no limit. */
function changeMaxListeners(by: number): void {
  const count = process.getMaxListeners();
  if (count > 0) process.setMaxListeners(count + by);
}
