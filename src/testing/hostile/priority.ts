// Lets processes go before others while times are measured. Needs the right to do so.

import { constants, setPriority } from 'node:os';

/**
 * The main thread of each process hardly waits for a processor that another program uses. Not with a priority of real time: from a process
 * that is always busy with one, Linux takes the processor away for 50 ms of each second. Returns whether the system allowed it for all of them.
 */
export function letGoFirst(pids: readonly number[]): boolean {
  try {
    for (const pid of pids) setPriority(pid, constants.priority.PRIORITY_HIGHEST);
    return true;
  } catch {
    return false;
  }
}
