// Runs the doctor command on an adapter that makes one mistake, for tests: the exit code, the named mistakes and the output. Not in the
// package.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from '../cli/main.ts';
import type { Target } from '../target/target-file.ts';

const adapter = fileURLToPath(new URL('faulty-adapter.mjs', import.meta.url));

/** A target whose adapter makes the mistake; `none`: no mistake. */
export function targetWith(mistake: string): Target {
  const lifecycle = { kind: 'spawn', command: [process.execPath, adapter, mistake] } as const;
  return { schema: 1, name: `with ${mistake}`, lifecycle, profiles: ['durable'] };
}

export type DoctorRun = {
  readonly exitCode: number;
  /** The names of the reported mistakes. */
  readonly named: readonly (string | undefined)[];
  readonly text: string;
};

/** `scale`: the timeout scale. */
export async function doctor(
  target: Target,
  scale = '0.2',
  signal = new AbortController().signal,
): Promise<DoctorRun> {
  const folder = mkdtempSync(join(tmpdir(), 'truemq-doctor-test-'));
  try {
    const path = join(folder, 'target.json');
    writeFileSync(path, JSON.stringify(target));
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const args = ['doctor', '--target', path, '--timeout-scale', scale];
    const exitCode = await main(args, { out: say, err: say, color: false }, signal);
    const text = lines.join('\n');
    return { exitCode, named: [...text.matchAll(/^\[(.*?)\]/gm)].map((match) => match[1]), text };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
