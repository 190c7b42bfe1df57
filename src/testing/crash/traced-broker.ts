// A broker in a process of its own over a file, with every write and every sync that it asks of the machine written down by strace.

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { SHOWN_BYTES, TRACED_CALLS } from '../trace-of-syncs.ts';
import { serveArguments } from './broker-process.ts';

export type TracedBroker = {
  readonly port: number;
  /** Ends it in good order; resolves with what it has asked for. */
  stop(): Promise<string>;
};

/** Why processes cannot be traced here; undefined when they can. */
export async function whyNotTraced(): Promise<string | undefined> {
  try {
    await promisify(execFile)('strace', ['-f', '-y', '-e', 'trace=write', 'true']);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export async function startTracedBroker(
  storagePath: string,
  tracePath: string,
  flags: readonly string[] = [],
): Promise<TracedBroker> {
  const calls = [
    '-f',
    '-y',
    '-xx',
    '-s',
    String(SHOWN_BYTES),
    '-e',
    `trace=${TRACED_CALLS}`,
    '-o',
    tracePath,
  ];
  const argv = [...calls, process.execPath, ...serveArguments(storagePath), ...flags];
  const child = spawn('strace', argv, { stdio: ['ignore', 'pipe', 'ignore'] });
  const exit = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const { pid, tcp } = JSON.parse(line) as {
      readonly pid: number;
      readonly tcp: { readonly port: number };
    };
    const stop = async () => {
      process.kill(pid, 'SIGTERM');
      await exit;
      return readFile(tracePath, 'latin1');
    };
    return { port: tcp.port, stop };
  }
  throw new Error('The broker did not start under strace.');
}
