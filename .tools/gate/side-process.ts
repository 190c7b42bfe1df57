// The two programs of the gate as processes: bundles them as `truemq` is bundled, starts one, and passes orders to it, one at a time. A process
// that ends, or does not answer in time, is a SideFault and not a wait without end.
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { PassFigure } from './load.ts';
import type { PassOrder, SideAnswer } from './side.ts';

/** `kept`: the broker of the commit in the kept file. */
export type SideName = 'broker' | 'kept' | 'skeleton';

export type Side = {
  /** Throws a SideFault. */
  ask(order: PassOrder): Promise<PassFigure>;
  stop(): void;
};

export class SideFault extends Error {}

const folder = fileURLToPath(new URL('../../out/gate', import.meta.url));
const longestAnswerMs = 30_000;

export function bundleSides(): Promise<void> {
  return bundle({ broker: here('broker-side.ts'), skeleton: here('skeleton-side.ts') });
}

/** `checkout`: the folder of the sources of the kept broker. */
export function bundleKeptSide(checkout: string): Promise<void> {
  return bundle({ kept: `${checkout}/.tools/gate/broker-side.ts` });
}

function here(file: string): string {
  return fileURLToPath(new URL(file, import.meta.url));
}

async function bundle(sides: Readonly<Partial<Record<SideName, string>>>): Promise<void> {
  await build({
    entryPoints: { ...sides },
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    logLevel: 'warning',
  });
}

/** The bundled program, with these arguments. Throws a SideFault. */
export function startSide(name: SideName, args: readonly string[] = []): Promise<Side> {
  return SideProcess.start(`${folder}/${name}.mjs`, args);
}

export class SideProcess implements Side {
  readonly #child: ChildProcess;
  readonly #patienceMs: number;

  private constructor(child: ChildProcess, patienceMs: number) {
    this.#child = child;
    this.#patienceMs = patienceMs;
  }

  /** Resolves when the process is ready. Throws a SideFault. */
  static async start(
    path: string,
    args: readonly string[] = [],
    patienceMs = longestAnswerMs,
  ): Promise<SideProcess> {
    const side = new SideProcess(fork(path, args, { execArgv: [] }), patienceMs);
    await side.#answer();
    return side;
  }

  async ask(order: PassOrder): Promise<PassFigure> {
    const answering = this.#answer();
    // A failure to send is followed by the end of the process, which the answer tells.
    this.#child.send(order, () => undefined);
    const answer = await answering;
    if (answer.kind === 'figure') return answer;
    throw this.#fault(answer.kind === 'fault' ? answer.text : 'the process started twice');
  }

  stop(): void {
    this.#child.removeAllListeners();
    this.#child.once('error', () => undefined);
    this.#child.kill('SIGKILL');
  }

  #answer(): Promise<SideAnswer> {
    return new Promise((resolve, reject) => {
      const fail = (text: string): void => reject(this.#fault(text));
      if (!this.#child.connected) return fail('the process has ended');
      const timer = setTimeout(() => fail('the process did not answer in time'), this.#patienceMs);
      this.#child.removeAllListeners();
      this.#child.once('message', (answer: SideAnswer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      this.#child.once('error', ({ message }) => {
        clearTimeout(timer);
        fail(message);
      });
      this.#child.once('exit', (code, signal) => {
        clearTimeout(timer);
        fail(`the process ended with ${code ?? signal}`);
      });
    });
  }

  /** Ends the process: who has not answered once may answer a later order with the answer of this one. */
  #fault(text: string): SideFault {
    this.stop();
    return new SideFault(text);
  }
}
