// One process of the built command, as an operator starts it: it says where it listens in its first line, it is told to end
// by a signal, and how it ended is its exit code. Free ports only, so that nothing on the machine is in the way.

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { flagName } from '../../../src/config/keys.ts';
import type { BrokerState } from './driver.ts';

const command = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** The sources, with the planted fault of PLANTED_FAULT, which is in no build. */
const plantedCommand = [
  ...['--import', new URL('../../../.tools/faults/plant-on-load.mjs', import.meta.url).href],
  ...['--import', 'tsx', fileURLToPath(new URL('../../../src/cli/main.ts', import.meta.url))],
];

const START_PATIENCE_MS = 20_000;

type Child = ChildProcessByStdio<null, Readable, Readable>;

type ReadyLine = {
  readonly tcp: { readonly host: string; readonly port: number };
  readonly health: { readonly url: string };
  readonly dashboard: { readonly url: string };
};

export class BrokerProcess {
  readonly tcp: { readonly host: string; readonly port: number };
  readonly healthUrl: string;
  readonly dashboardUrl: string;
  readonly #child: Child;
  readonly #stderr: string[];
  readonly #exited: Promise<void>;
  #state: BrokerState = 'running';

  /** Starts a broker with these keys and texts. Rejects, with what it said, when it does not get ready. */
  static async start(settings: readonly (readonly [string, string])[]): Promise<BrokerProcess> {
    const isPlanted = process.env['PLANTED_FAULT'] !== undefined;
    if (!isPlanted && !existsSync(command)) throw new Error('The broker is not built: npm run build.');
    const flags = settings.flatMap(([key, text]) => [`--${flagName(key)}`, text]);
    const program = isPlanted ? plantedCommand : [command];
    const servers = ['--port', '0', '--health-port', '0', '--dashboard-port', '0'];
    const args = [...program, 'serve', '--print-ready', ...servers, ...flags];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environment() });
    const stderr: string[] = [];
    child.stderr.setEncoding('utf8').on('data', (text: string) => void stderr.push(text));
    try {
      return new BrokerProcess(child, stderr, await readyLine(child));
    } catch (error) {
      child.kill('SIGKILL');
      throw new Error(`The broker did not start.\n${stderr.join('')}`, { cause: error });
    }
  }

  private constructor(child: Child, stderr: string[], ready: ReadyLine) {
    this.#child = child;
    this.#stderr = stderr;
    this.tcp = ready.tcp;
    this.healthUrl = ready.health.url;
    this.dashboardUrl = ready.dashboard.url;
    this.#exited = new Promise((resolve) => {
      child.once('exit', (code) => {
        this.#state = code === 0 ? 'ended' : 'failed';
        resolve();
      });
    });
  }

  get state(): BrokerState {
    return this.#state;
  }

  get log(): string {
    return this.#stderr.join('');
  }

  /** Asks it to end in good order; `onExit` is called when it has. */
  stop(onExit: () => void): void {
    this.#child.kill('SIGTERM');
    void this.#exited.then(onExit);
  }

  /** Ends it at once, if it runs. */
  kill(): void {
    if (this.#state === 'running') this.#child.kill('SIGKILL');
  }

  hangUp(): void {
    this.#child.kill('SIGHUP');
  }

  get processId(): number | undefined {
    return this.#child.pid;
  }

  /** Resolves when it is gone. */
  get exited(): Promise<void> {
    return this.#exited;
  }
}

/** The first line. Rejects when the process ends before it or takes too long. */
async function readyLine(child: Child): Promise<ReadyLine> {
  const lines = createInterface({ input: child.stdout, signal: AbortSignal.timeout(START_PATIENCE_MS) });
  for await (const line of lines) return JSON.parse(line) as ReadyLine;
  throw new Error('It ended without a word.');
}

/** Settings of whoever runs the scenarios must not reach the broker. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(TRUEMQ_|NODE_OPTIONS$)/.test(name));
  return Object.fromEntries(kept);
}
