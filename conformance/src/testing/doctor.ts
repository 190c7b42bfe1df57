// The doctor at an adapter that makes one mistake, for its tests: the command as a user gives it, and what it said. Not in the package.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from '../cli/main.ts';
import type { Target } from '../target/target-file.ts';

const adapter = fileURLToPath(new URL('faulty-adapter.mjs', import.meta.url));

/** A broker that is started through the adapter with that mistake; `none` makes none. */
export function targetWith(mistake: string): Target {
  const lifecycle = { kind: 'spawn', command: [process.execPath, adapter, mistake] } as const;
  return { schema: 1, name: `with ${mistake}`, lifecycle, profiles: ['durable'] };
}

export type DoctorRun = {
  readonly exitCode: number;
  /** The mistakes that it named. */
  readonly named: readonly (string | undefined)[];
  readonly text: string;
};

/** `scale`: that of the usual deadlines. */
export async function doctor(target: Target, scale = '0.2'): Promise<DoctorRun> {
  const folder = mkdtempSync(join(tmpdir(), 'truemq-doctor-test-'));
  try {
    const path = join(folder, 'target.json');
    writeFileSync(path, JSON.stringify(target));
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const args = ['doctor', '--target', path, '--timeout-scale', scale];
    const exitCode = await main(args, { out: say, err: say, color: false }, new AbortController().signal);
    const text = lines.join('\n');
    return { exitCode, named: [...text.matchAll(/^\[(.*?)\]/gm)].map((match) => match[1]), text };
  } finally {
    rmSync(folder, { recursive: true });
  }
}
