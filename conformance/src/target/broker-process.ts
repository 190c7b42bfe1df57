// One adapter process: started, asked for a broker by one line of JSON, stopped or killed, its log kept. It knows nothing of
// checks. The broker's end is always noticed; whether it was wanted is known here, because only here is it ordered.
// See docs/adapter.md.
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import adapterSchema from '../../schemas/adapter.schema.json' with { type: 'json' };
import type { NeutralConfiguration } from '../configuration.ts';
import type { LogTail } from './log-tail.ts';
import type { Schema } from './schema-check.ts';
import { schemaFaults } from './schema-check.ts';
import type { SpawnLifecycle } from './target-file.ts';

export type BrokerExit = { readonly code: number | null; readonly signal: string | null };

export type AdapterAnswer = {
  readonly ready: true;
  readonly broker: { readonly name: string; readonly version?: string };
  readonly tcp: { readonly host: string; readonly port: number; readonly tls?: boolean };
  readonly health?: { readonly url: string } | null;
  readonly dashboard?: { readonly url: string } | null;
  readonly unsupported?: readonly string[];
};

/** The adapter could not be started, did not answer, or said no: exit code 4. */
export class TargetFault extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TargetFault';
  }
}

export class BrokerProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #log: LogTail;
  readonly #exit: Promise<BrokerExit>;
  #answer: AdapterAnswer | undefined;
  #ended: BrokerExit | undefined;
  #endWanted = false;

  private constructor(lifecycle: SpawnLifecycle, log: LogTail) {
    const [program = '', ...args] = lifecycle.command;
    this.#log = log;
    this.#child = spawn(program, args, {
      cwd: lifecycle.cwd,
      env: { ...process.env, ...lifecycle.environment },
      stdio: 'pipe',
    });
    this.#child.stdin.on('error', (error) => log.add(`(runner) stdin: ${error.message}`));
    createInterface({ input: this.#child.stderr }).on('line', (line) => log.add(line));
    this.#exit = new Promise((resolve) => {
      this.#child.on('error', (error) => this.#end(resolve, { code: null, signal: null }, error));
      this.#child.on('exit', (code, signal) => this.#end(resolve, { code, signal }));
    });
  }

  /** Starts an adapter and waits for its answer; throws a TargetFault that says what went wrong. */
  static async start(
    lifecycle: SpawnLifecycle,
    configuration: NeutralConfiguration,
    options: { readonly withinMs: number; readonly log: LogTail },
  ): Promise<BrokerProcess> {
    const broker = new BrokerProcess(lifecycle, options.log);
    try {
      const line = await broker.#firstLine(configuration, options.withinMs);
      broker.#answer = readAnswer(line);
      return broker;
    } catch (error) {
      await broker.crash();
      throw new TargetFault(
        `${lifecycle.command.join(' ')}: ${(error as Error).message}${logText(options.log)}`,
      );
    }
  }

  get answer(): AdapterAnswer {
    if (this.#answer === undefined) throw new Error('the adapter has not answered yet');
    return this.#answer;
  }

  /** The adapter's process id; undefined when it could not be started. */
  get processId(): number | undefined {
    return this.#child.pid;
  }

  /** How it ended although nobody ordered it; undefined while it runs and after an ordered end. */
  get unwantedEnd(): BrokerExit | undefined {
    return this.#endWanted ? undefined : this.#ended;
  }

  /** Resolves at the end of the process, whoever wanted it. */
  get exit(): Promise<BrokerExit> {
    return this.#exit;
  }

  terminate(): void {
    this.#endWanted = true;
    this.#child.kill('SIGTERM');
  }

  async crash(): Promise<void> {
    this.#endWanted = true;
    this.#child.kill('SIGKILL');
    await this.#exit;
  }

  /** SIGTERM, and SIGKILL when it has not ended within `withinMs`. */
  async stop(withinMs: number): Promise<void> {
    this.terminate();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), withinMs);
    await this.#exit;
    clearTimeout(timer);
  }

  #end(resolve: (exit: BrokerExit) => void, exit: BrokerExit, error?: Error): void {
    if (error !== undefined) this.#log.add(`(runner) ${error.message}`);
    this.#ended ??= exit;
    resolve(exit);
  }

  #firstLine(configuration: NeutralConfiguration, withinMs: number): Promise<string> {
    const lines = createInterface({ input: this.#child.stdout });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer line within ${withinMs} ms`)), withinMs);
      lines.once('line', (line) => {
        clearTimeout(timer);
        lines.on('line', (later) => this.#log.add(`(stdout) ${later}`));
        resolve(line);
      });
      void this.#exit.then(({ code, signal }) => {
        clearTimeout(timer);
        reject(new Error(`ended before it answered (exit code ${code}, signal ${signal})`));
      });
      this.#child.stdin.write(`${JSON.stringify(configuration)}\n`);
    });
  }
}

/** Reads the adapter's line; throws an Error that says what is wrong with it. */
export function readAnswer(line: string): AdapterAnswer {
  const value = parse(line);
  const faults = schemaFaults(adapterSchema.$defs.answer as Schema, value, '', adapterSchema as Schema);
  if (faults.length > 0) throw new Error(`the answer line is not valid: ${faults.join('; ')}`);
  const answer = value as AdapterAnswer | { readonly ready: false; readonly error: string };
  if (!answer.ready) throw new Error(`the adapter refused: ${answer.error}`);
  return answer;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new Error(
      `the first line on standard output is not JSON (logs belong on standard error): ${line.slice(0, 200)}`,
    );
  }
}

function logText(log: LogTail): string {
  return log.lines.length === 0 ? '' : `\n  its log ends with:\n    ${log.lines.slice(-10).join('\n    ')}`;
}
