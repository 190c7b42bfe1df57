// Lets processes go before others while times are measured. Needs the right to do so, and for real time Linux with its program `chrt`.

import { spawnSync } from 'node:child_process';
import { constants, setPriority } from 'node:os';

/** The lowest priority of real time goes before all processes that have none. */
const REAL_TIME_PRIORITY = '1';

/**
 * `realTime`: nothing without such a priority keeps it waiting; but from a process that is always busy Linux takes the processor away for 50 ms of
 * each second. `highest`: the highest of the usual priorities, for one that may be always busy; it may wait for a tick of the system.
 */
export type Precedence = 'realTime' | 'highest';

/**
 * The main thread of each process goes before others; what it starts later is as usual with `realTime`, and as itself with `highest`. Returns
 * whether the system allowed it for all of them.
 */
export function letGoFirst(pids: readonly number[], precedence: Precedence): boolean {
  return pids.map(precedence === 'realTime' ? makeRealTime : makeHighest).every(Boolean);
}

function makeRealTime(pid: number): boolean {
  const flags = ['--fifo', '--reset-on-fork', '--pid', REAL_TIME_PRIORITY, String(pid)];
  return spawnSync('chrt', flags).status === 0;
}

function makeHighest(pid: number): boolean {
  try {
    setPriority(pid, constants.priority.PRIORITY_HIGHEST);
    return true;
  } catch {
    return false;
  }
}
