// A process and all that it starts, as one group that is ended together: when it takes too long, or when the process that waits for it ends.
// Without that, a test run that hangs would be killed, and the brokers it has started would stay.

/** The option with which a process is started to lead a group. */
export const asGroup = { detached: process.platform !== 'win32' } as const;

type Leader<Result> = Promise<Result> & { readonly pid?: number | undefined };

/**
 * Waits for a process that was started `asGroup`. Kills its group after `limitMs`, and when this process exits before: a signal must lead to an
 * exit then. `isOverdue`: it was killed for its time.
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
  }
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(process.platform === 'win32' ? pid : -pid, 'SIGKILL');
  } catch {
    // It ended in the meantime.
  }
}
