// A process and all that it starts, as one group that is ended together: when the process ends, when it takes too long, or when the process that
// waits for it ends. Without that, the brokers that a test run has started would stay when it hangs and is killed, or fails before it stops them.

/** The option with which a process is started to lead a group. */
export const asGroup = { detached: process.platform !== 'win32' } as const;

type Leader<Result> = Promise<Result> & { readonly pid?: number | undefined };

/**
 * Waits for a process that was started `asGroup`, and kills what is left of its group. Kills the whole group after `limitMs`, and when this process
 * exits before: a signal must lead to an exit then. `isOverdue`: it was killed for its time.
 */
export async function endOfGroup<Result>(
  leader: Leader<Result>,
  limitMs: number,
): Promise<{ readonly ended: Result; readonly isOverdue: boolean }> {
  let isOverdue = false;
  const kill = (): void => killGroup(leader.pid);
  const timer = setTimeout(() => {
    isOverdue = true;
    kill();
  }, limitMs);
  process.once('exit', kill);
  try {
    return { ended: await leader, isOverdue };
  } finally {
    clearTimeout(timer);
    process.off('exit', kill);
    kill();
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
