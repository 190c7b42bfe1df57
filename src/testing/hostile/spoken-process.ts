// A process that speaks in lines, one at a time.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

export class SpokenProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #lines: AsyncIterator<string>;
  #errors = '';

  /** `program`: a file for plain Node. */
  constructor(program: string, args: readonly (string | number)[]) {
    this.#child = spawn(process.execPath, [program, ...args.map(String)]);
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors += text;
    });
    this.#child.stdin.on('error', () => undefined);
    this.#lines = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
  }

  /** Throws if it did not start. */
  get pid(): number {
    const { pid } = this.#child;
    if (pid === undefined) throw new Error('The process did not start.');
    return pid;
  }

  say(line: string): void {
    this.#child.stdin.write(`${line}\n`);
  }

  /** The next line. Rejects with what the process wrote to stderr when it ends without one. */
  async line(): Promise<string> {
    const { value, done } = await this.#lines.next();
    if (done === true) throw new Error(`The process has ended.\n${this.#errors}`);
    return value;
  }

  /** Sends SIGTERM and returns the last line that comes. */
  async end(): Promise<string> {
    this.#child.kill('SIGTERM');
    return this.line();
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exit = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exit;
  }
}
