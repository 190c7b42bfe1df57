// A child process with everything that it starts: on POSIX a process group, so that all of it can be killed. Nothing outlives the runner:
// the group is killed when the runner exits for any reason, and remaining processes are killed when the child ends. It knows nothing
// about brokers. See docs/adapter.md, "The end".
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { atExit } from './at-exit.ts';
import type { LogTail } from './log-tail.ts';

export type ProcessExit = {
  /** Both are null if it could not be started, or if its exit is not known. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it could not be started. */
  readonly fault?: string;
};

export type ProcessCommand = {
  readonly program: string;
  readonly args: readonly string[];
  /** The program is a command line for the shell: `sh`, or `cmd.exe` on Windows. */
  readonly shell?: true;
  readonly cwd?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** What happens to its children when it ends by itself: `stay` is for a command that starts a broker and returns. */
  readonly children: 'end' | 'stay';
};

const isWindows = process.platform === 'win32';

export class ProcessGroup {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly exit: Promise<ProcessExit>;
  #ended: ProcessExit | undefined;

  /** Starts the process; its standard error goes to the log. */
  constructor(command: ProcessCommand, log: LogTail) {
    this.#child = spawn(command.program, command.args, {
      cwd: command.cwd,
      env: { ...process.env, ...command.environment },
      stdio: 'pipe',
      shell: command.shell === true,
      // On Windows this would open a console window, and it creates no process group.
      detached: !isWindows,
      windowsHide: true,
    });
    this.#child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      // EPIPE means that the process has ended, which its exit event reports.
      if (error.code !== 'EPIPE') log.add(`(runner) stdin: ${error.message}`);
    });
    createInterface({ input: this.#child.stderr }).on('line', (line) => log.add(line));
    const release = atExit(() => this.kill());
    this.exit = new Promise((resolve) => {
      const end = (exit: ProcessExit): void => {
        this.#ended ??= exit;
        release();
        if (command.children === 'end') this.kill();
        resolve(this.#ended);
      };
      this.#child.on('error', (error) => {
        end({ code: null, signal: null, fault: startFault(command.cwd, error) });
      });
      this.#child.on('exit', (code, signal) => end({ code, signal }));
    });
  }

  /** The exit; undefined while it runs. */
  get ended(): ProcessExit | undefined {
    return this.#ended;
  }

  /** Undefined if it could not be started. */
  get processId(): number | undefined {
    return this.#child.pid;
  }

  get stdout(): NodeJS.ReadableStream {
    return this.#child.stdout;
  }

  write(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** Asks the process, not its children, to end: with SIGTERM, or on Windows by closing its standard input. */
  terminate(): void {
    if (isWindows) this.closeInput();
    else this.#child.kill('SIGTERM');
  }

  /** Sends SIGHUP to the process, not to its children. */
  hangUp(): void {
    this.#child.kill('SIGHUP');
  }

  /** Closes its standard input, as the end of the runner does. */
  closeInput(): void {
    this.#child.stdin.end();
  }

  /** Kills the process and everything that it started. */
  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    if (isWindows) spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true });
    else killGroup(pid);
  }
}

/** The system reports a missing program also if the folder is missing. */
function startFault(cwd: string | undefined, { message }: Error): string {
  return cwd === undefined || existsSync(cwd) ? message : `its folder (cwd) ${cwd} does not exist`;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The group has no process left.
  }
}
