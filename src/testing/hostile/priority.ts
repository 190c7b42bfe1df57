// Lets processes go before everything else on the machine, while times are measured. Needs Linux, its program `chrt`, and the right to do so.

import { spawnSync } from 'node:child_process';

/** The lowest priority of real time: it goes before all processes that have none. */
const PRIORITY = '1';

/**
 * The main thread of each process no longer waits for a processor that another program uses. Threads that they have, or start later, are as
 * before. Returns whether the system allowed it for all of them.
 */
export function letGoFirst(pids: readonly number[]): boolean {
  const outcomes = pids.map(
    (pid) => spawnSync('chrt', ['--fifo', '--reset-on-fork', '--pid', PRIORITY, String(pid)]).status,
  );
  return outcomes.every((status) => status === 0);
}
