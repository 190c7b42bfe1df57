// The process around the command line: what it says when nobody reads it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const entry = fileURLToPath(new URL('process.ts', import.meta.url));

it('ends with 5 and no stack trace when its output cannot be written', async () => {
  const child = spawn(process.execPath, ['--import', 'tsx', entry, 'list'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const errors: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const [exitCode] = (await once(child, 'close')) as [number | null];
  expect(Buffer.concat(errors).toString()).toBe('');
  expect(exitCode).toBe(5);
});
