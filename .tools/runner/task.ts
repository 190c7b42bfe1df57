// Runs one task: shows its output as it comes (or at its end, where another task runs beside it), keeps it for counting,
// and ends it when it hangs. A task that leaves no fresh result counts as failed, whatever its exit code. Its temporary files are removed with
// their folder: many tests are of programs that are killed, which cannot tidy up.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { constants, setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { execa } from 'execa';
import { add, type Count, failure, settle } from './count.ts';
import type { Task } from './parts.ts';
import { asGroup, endOfGroup } from './process-group.ts';

export type TaskOptions = {
  readonly root: string;
  /** The task and its children are killed after this time. */
  readonly limitMs: number;
  /** True: show the output when the task has ended, in one piece. */
  readonly buffered: boolean;
  readonly show: (text: string | Buffer) => void;
};

export type TaskResult = { readonly count: Count; readonly seconds: number };

/** Runs the task to its end. Never rejects: what goes wrong is a failed count with a remark. */
export async function runTask(task: Task, options: TaskOptions): Promise<TaskResult> {
  const startedAt = Date.now();
  const ended = await execute(task, options);
  if (options.buffered) options.show(`\n# ${task.name}\n${ended.output}`);
  const count = countResult(task, options.root, startedAt, ended);
  return { count: named(task, count), seconds: (Date.now() - startedAt) / 1000 };
}

type Ended = { readonly exitCode: number; readonly output: string; readonly killed: boolean };

async function execute(task: Task, { root, limitMs, buffered, show }: TaskOptions): Promise<Ended> {
  const temporary = mkdtempSync(join(tmpdir(), 'truemq-task-'));
  const child = execa(process.execPath, task.args, {
    cwd: root,
    stdin: 'ignore',
    all: true,
    stripFinalNewline: false,
    reject: false,
    env: { ...environment(), TMPDIR: temporary, TEMP: temporary, TMP: temporary },
    extendEnv: false,
    ...asGroup,
  });
  if (task.givesWay) lowerPriority(child.pid);
  if (!buffered) child.all.on('data', show);
  const end = endOfGroup(child, limitMs);
  const abandon = (): void => removeFolder(temporary);
  process.once('exit', abandon);
  const { ended, isOverdue } = await end;
  process.off('exit', abandon);
  removeFolder(temporary);
  const { exitCode = 1, all, shortMessage } = ended;
  return { exitCode, output: all ?? shortMessage ?? '', killed: isOverdue };
}

// What a task is run with must not depend on the caller's settings for the broker: a variable of ours would change the
// broker under test. The seed and the colours are the exceptions.
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('TRUEMQ_') || name === 'TRUEMQ_SEED',
  );
  const colour = process.stdout.isTTY === true && process.env['NO_COLOR'] === undefined;
  return { ...Object.fromEntries(kept), ...(colour ? { FORCE_COLOR: '1' } : {}) };
}

/**
 * Processes that it starts later inherit the priority. Linux may first share the processors among sessions, whatever the priorities in
 * them are: a task has a session of its own, which gets the same priority.
 */
function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  const priority = constants.priority.PRIORITY_BELOW_NORMAL;
  try {
    setPriority(pid, priority);
    if (existsSync(sessionPriority(pid))) writeFileSync(sessionPriority(pid), String(priority));
  } catch {
    // It has ended, or this system does not allow it: the task runs as any other.
  }
}

function sessionPriority(pid: number): string {
  return `/proc/${pid}/autogroup`;
}

function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch {
    // A process that the task has left behind still writes there. The result of the task stays.
  }
}

function countResult(task: Task, root: string, startedAt: number, ended: Ended): Count {
  if (ended.killed) return failure('was still running after its hard time limit, and was ended');
  const missing = task.writes.filter((path) => !isFresh(join(root, path), startedAt));
  if (missing.length > 0) return failure(`did not write ${missing.join(', ')} (exit code ${ended.exitCode})`);
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  return settle(countSafely(task, { ...ended, read }), ended.exitCode);
}

function countSafely(task: Task, run: Parameters<Task['count']>[0]): Count {
  try {
    return task.count(run);
  } catch (error) {
    return failure(`left a result that cannot be read: ${String(error)}`);
  }
}

// File times may be coarser than the clock.
function isFresh(path: string, startedAt: number): boolean {
  return existsSync(path) && statSync(path).mtimeMs >= startedAt - 10;
}

// Runners that only tell how many failed have said above which.
function named(task: Task, count: Count): Count {
  if (count.failed > 0 && count.remarks.length === 0)
    return named(task, { ...count, remarks: [`${count.failed} failed, see above`] });
  return add([{ ...count, remarks: count.remarks.map((remark) => `${task.name}: ${remark}`) }]);
}
