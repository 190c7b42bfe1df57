// Measures the client library: confirmed publishes of 1 KiB a second in one process, against the skeleton of conformance/bench in another one,
// beside a bare loop that sends frames made beforehand. The processor time of a publish says most on a busy machine. Rounds alternate, because a busy machine changes from minute to minute.
//
//   npm run bench:client [-- --rounds N]

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { PublishRate } from './publish-rate.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const kinds = ['bare', 'client'] as const;

const { values } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } });
const skeleton = await startSkeleton();
const rates: Record<(typeof kinds)[number], PublishRate[]> = { bare: [], client: [] };
for (let round = 0; round < Number(values.rounds); round += 1) {
  for (const kind of kinds) rates[kind].push(await measure(kind, skeleton.port));
}
skeleton.stop();
for (const kind of kinds) {
  const perSecond = rates[kind].map((rate) => rate.perSecond);
  const cpuUs = median(rates[kind].map((rate) => rate.cpuUs)).toFixed(2);
  const [lowest, middle, highest] = [Math.min(...perSecond), median(perSecond), Math.max(...perSecond)].map(
    Math.round,
  );
  console.log(`${kind.padEnd(6)} ${middle}/s (${lowest} to ${highest}), ${cpuUs} us of processor time each`);
}

async function startSkeleton(): Promise<{ readonly port: number; stop(): void }> {
  const command = ['--import', 'tsx', 'conformance/src/bench/part-process.ts', 'skeleton'];
  const child = spawn(process.execPath, command, { cwd: root, stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.write(`${JSON.stringify({ tcp: { host: '127.0.0.1', port: 0 }, dataDirectory: root })}\n`);
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  const { tcp } = JSON.parse(line) as { readonly tcp: { readonly port: number } };
  return { port: tcp.port, stop: () => child.stdin.end() };
}

/** Publishes a second, of a process of its own. */
async function measure(kind: (typeof kinds)[number], port: number): Promise<PublishRate> {
  const program = fileURLToPath(new URL('publish-rate.ts', import.meta.url));
  const args = ['--import', 'tsx', program, kind, String(port)];
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string];
  await once(child, 'close');
  return JSON.parse(line) as PublishRate;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}
