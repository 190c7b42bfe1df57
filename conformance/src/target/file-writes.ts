// Lets the files of a broker fail on command, as a disk does: all processes of its group get a limit of 0 bytes for files, which Linux can change while
// they run. A broker needs nothing for it. See docs/adapter.md.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';

/** Refuses or allows all writes to files of a process group. False if the system cannot; some processes may have their limit then. */
export async function setFileWrites(groupId: number, areAllowed: boolean): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const processIds = processesOf(groupId);
  try {
    for (const id of processIds) {
      const limit = areAllowed ? highestLimit(id) : '0';
      await promisify(execFile)('prlimit', ['--pid', id, `--fsize=${limit}:`]);
    }
    return processIds.length > 0;
  } catch {
    return false;
  }
}

function processesOf(groupId: number): readonly string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && groupOf(name) === groupId);
}

/** NaN if the process has ended meanwhile. The fields after the name, which may contain anything, are the state, the parent and the group. */
function groupOf(processId: string): number {
  const text = textOf(`/proc/${processId}/stat`);
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[2]);
}

/** What the process may have at most: a number of bytes, or `unlimited`. */
function highestLimit(processId: string): string {
  return /^Max file size\s+\S+\s+(\S+)/m.exec(textOf(`/proc/${processId}/limits`))?.[1] ?? 'unlimited';
}

/** Empty if the process has ended meanwhile. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
