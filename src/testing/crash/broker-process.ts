// A broker in its own process over a file, for tests that kill it. Uses free ports only.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { truemqProgram } from '../truemq-program.ts';

export type BrokerProcess = {
  readonly pid: number;
  readonly port: number;
  readonly healthUrl: string;
  /** Ends with a slash. Absent when the dashboard is off. */
  readonly dashboardUrl: string | undefined;
  /** kill -9; resolves when the process has ended. */
  kill(): Promise<void>;
  signal(signal: NodeJS.Signals): void;
  /** Ends it in good order; resolves with its exit code. */
  stop(): Promise<number | null>;
};

type Ready = {
  readonly pid: number;
  readonly tcp: { readonly port: number };
  readonly health: { readonly url: string };
  readonly dashboard?: { readonly url: string };
};

/** Node's arguments to start a broker over a file on free ports, which prints one line when it listens. The broker must be built. */
export function serveArguments(storagePath: string): readonly string[] {
  const storage = ['--storage', 'sqlite', '--storage-path', storagePath];
  const free = [
    '--port',
    '0',
    '--health-port',
    '0',
    '--dashboard',
    'off',
    '--rate-limit',
    'off',
    '--print-ready',
  ];
  return [...truemqProgram, 'serve', ...storage, ...free];
}

/** Starts a broker over a file and waits until it listens. Rejects with its output if it ends before. */
export function startBrokerProcess(storagePath: string): Promise<BrokerProcess> {
  return startProcess(serveArguments(storagePath));
}

/** Starts Node with these arguments, which must lead to one line of `--print-ready`. */
export async function startProcess(args: readonly string[], cwd?: string): Promise<BrokerProcess> {
  const child = spawn(process.execPath, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const errors: string[] = [];
  child.stderr.setEncoding('utf8').on('data', (text: string) => void errors.push(text));
  for await (const line of createInterface({ input: child.stdout })) {
    const ready = JSON.parse(line) as Ready;
    return {
      pid: ready.pid,
      port: ready.tcp.port,
      healthUrl: ready.health.url,
      dashboardUrl: ready.dashboard?.url,
      signal: (signal) => void child.kill(signal),
      kill: async () => void (await ended(child, 'SIGKILL')),
      stop: () => ended(child, 'SIGTERM'),
    };
  }
  throw new Error(`The broker did not start.\n${errors.join('')}`);
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
  return child.exitCode;
}
