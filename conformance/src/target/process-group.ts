// One child process with everything that it starts: on POSIX a process group of its own, so that the whole can be killed. Nothing of it
// outlives the runner: it is killed when the runner exits, however that comes about, and what a child leaves behind when it ends
// is killed then. It knows nothing of brokers. See docs/adapter.md, "The end".
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { atExit } from './at-exit.ts';
import type { LogTail } from './log-tail.ts';

export type ProcessExit = {
  /** Both null: it could not be started, or how it ended is not known. */
  readonly code: number | null;
  readonly signal: string | null;
  /** Why it could not be started. */
  readonly fault?: string;
};

export type ProcessCommand = {
  readonly program: string;
  readonly args: readonly string[];
  /** The program is a line for the system's shell: `sh`, or `cmd.exe` on Windows. */
  readonly shell?: true;
  readonly cwd?: string | undefined;
  readonly environment?: Readonly<Record<string, string>> | undefined;
  /** What its children do when it ends by itself: `stay` is for a command that starts a broker and returns. */
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
      // On Windows this would open a console window, and there are no process groups to be had by it.
      detached: !isWindows,
      windowsHide: true,
    });
    this.#child.stdin.on('error', (error: NodeJS.ErrnoException) => {
      // A process that has ended reads nothing more; that it has ended is told by itself.
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

  /** How it ended; undefined while it runs. */
  get ended(): ProcessExit | undefined {
    return this.#ended;
  }

  /** Undefined when it could not be started. */
  get processId(): number | undefined {
    return this.#child.pid;
  }

  get stdout(): NodeJS.ReadableStream {
    return this.#child.stdout;
  }

  write(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** Asks the process alone to end: SIGTERM, or on Windows, which has none, the end of its standard input. */
  terminate(): void {
    if (isWindows) this.closeInput();
    else this.#child.kill('SIGTERM');
  }

  /** Ends its standard input, as the end of the runner would. */
  closeInput(): void {
    this.#child.stdin.end();
  }

  /** Ends the process and whatever it started, at once. */
  kill(): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    if (isWindows) spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true });
    else killGroup(pid);
  }
}

/** The system names the program as missing when it is the folder. */
function startFault(cwd: string | undefined, { message }: Error): string {
  return cwd === undefined || existsSync(cwd) ? message : `its folder (cwd) ${cwd} does not exist`;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody of the group is left.
  }
}
