// One adapter process: starts it, sends it one JSON line, reads its answer, stops or kills it, and keeps its log. It knows nothing about
// checks. It records every end of the broker, and whether the runner ordered it. See docs/adapter.md.

import { createInterface } from 'node:readline';
import adapterSchema from '../../schemas/adapter.schema.json' with { type: 'json' };
import type { NeutralConfiguration } from '../configuration.ts';
import { visibleLine } from '../report/visible-text.ts';
import { within } from '../within.ts';
import type { LogTail } from './log-tail.ts';
import type { ProcessExit } from './process-group.ts';
import { ProcessGroup } from './process-group.ts';
import type { Schema } from './schema-check.ts';
import { schemaFaults } from './schema-check.ts';
import { TargetFault } from './target-fault.ts';
import type { SpawnLifecycle } from './target-file.ts';

export type BrokerExit = ProcessExit;

export type AdapterAnswer = {
  readonly ready: true;
  readonly broker: { readonly name: string; readonly version?: string };
  readonly tcp: { readonly host: string; readonly port: number; readonly tls?: boolean };
  readonly health?: { readonly url: string } | null;
  readonly dashboard?: { readonly url: string } | null;
  readonly unsupported?: readonly string[];
};

/** For reading the rest of the output of a process that has ended. */
const lastLineMs = 1000;

export class BrokerProcess {
  readonly #group: ProcessGroup;
  readonly #log: LogTail;
  #answer: AdapterAnswer | undefined;
  #endWanted = false;

  private constructor(lifecycle: SpawnLifecycle, log: LogTail) {
    const [program = '', ...args] = lifecycle.command;
    const { cwd, environment } = lifecycle;
    this.#log = log;
    this.#group = new ProcessGroup({ program, args, cwd, environment, children: 'end' }, log);
  }

  /** Starts an adapter and waits for its answer; throws a TargetFault with the reason. */
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
      if (!(error instanceof TargetFault)) throw error;
      const message = `${lifecycle.command.join(' ')}: ${error.message}${options.log.endText}`;
      throw new TargetFault(error.kind, message);
    }
  }

  get answer(): AdapterAnswer {
    if (this.#answer === undefined) throw new Error('the adapter has not answered yet');
    return this.#answer;
  }

  get processId(): number | undefined {
    return this.#group.processId;
  }

  /** The exit that the runner did not order; undefined while it runs and after an ordered end. */
  get unwantedEnd(): BrokerExit | undefined {
    return this.#endWanted ? undefined : this.#group.ended;
  }

  /** Resolves at the end of the process, ordered or not. */
  get exit(): Promise<BrokerExit> {
    return this.#group.exit;
  }

  terminate(): void {
    this.#endWanted = true;
    this.#group.terminate();
  }

  hangUp(): void {
    this.#group.hangUp();
  }

  /** Closes its standard input, as the end of the runner does. */
  closeInput(): void {
    this.#endWanted = true;
    this.#group.closeInput();
  }

  async crash(): Promise<void> {
    this.#endWanted = true;
    this.#group.kill();
    await this.#group.exit;
  }

  #firstLine(configuration: NeutralConfiguration, withinMs: number): Promise<string> {
    const lines = createInterface({ input: this.#group.stdout });
    return new Promise((resolve, reject) => {
      const late = new TargetFault('no answer', `no answer line within ${withinMs} ms`);
      const timer = setTimeout(() => reject(late), withinMs);
      lines.once('line', (line) => {
        clearTimeout(timer);
        lines.on('line', (later) => this.#log.add(`(stdout) ${later}`));
        resolve(line);
      });
      const lastLine = new Promise<void>((ended) => {
        lines.once('close', ended);
      });
      void this.#group.exit.then(async (exit) => {
        clearTimeout(timer);
        // What it wrote last may arrive after its exit.
        await within(lastLine, lastLineMs);
        reject(endedEarly(exit));
      });
      this.#group.write(JSON.stringify(configuration));
    });
  }
}

function endedEarly({ code, signal, fault }: BrokerExit): TargetFault {
  return fault === undefined
    ? new TargetFault(
        'ended',
        `ended before it answered (${signal === null ? `exit code ${code}` : `signal ${signal}`})`,
      )
    : new TargetFault('no program', `cannot be started: ${fault}`);
}

/** Reads the adapter's answer; throws a TargetFault that names its faults. */
export function readAnswer(line: string): AdapterAnswer {
  const value = parse(line);
  const faults = schemaFaults(adapterSchema.$defs.answer as Schema, value, '', adapterSchema as Schema);
  if (faults.length > 0)
    throw new TargetFault('bad answer', `the answer line is not valid: ${faults.join('; ')}`);
  const answer = value as AdapterAnswer | { readonly ready: false; readonly error: string };
  if (!answer.ready) throw new TargetFault('refused', `the adapter refused: ${answer.error}`);
  return answer;
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new TargetFault(
      'no JSON',
      `the first line on standard output is not JSON (logs belong on standard error): ${visibleLine(line.slice(0, 200))}`,
    );
  }
}
