// `truemq serve` with users as a process: its threads and its file do not keep it from ending, and its secrets stay inside.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { truemqProgram } from '../testing/truemq-program.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'truemq-users-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

function start(flags: readonly string[]) {
  const argv = [
    ...truemqProgram,
    'serve',
    '--port',
    '0',
    '--health',
    'off',
    '--dashboard',
    'off',
    '--print-ready',
    ...flags,
  ];
  const broker = spawn(process.execPath, argv, { cwd: folder });
  const said = { text: '' };
  for (const stream of [broker.stdout, broker.stderr]) {
    stream.on('data', (chunk) => {
      said.text += chunk;
    });
  }
  return { broker, said, exit: once(broker, 'close').then(([code]) => code as number) };
}

it('a broker keeps its users over a restart, and asks for them when its password is not configured any more [AUTH-059, AUTH-062]', async () => {
  await writeFile(join(folder, 'password'), 'super-secret\n');
  const first = start(['--superuser-password-file', 'password']);
  await once(first.broker.stdout, 'data');
  first.broker.kill('SIGTERM');
  expect(await first.exit).toBe(0);
  expect(first.said.text).toContain('created the superuser');
  expect((await stat(join(folder, 'auth.db'))).mode & 0o777).toBe(0o600);

  const second = start(['--enable-authentication', 'true']);
  await once(second.broker.stdout, 'data');
  second.broker.kill('SIGTERM');
  expect(await second.exit).toBe(0);
  expect(second.said.text).not.toMatch(/created the superuser|"warn"/);

  expect(`${first.said.text}${second.said.text}`).not.toContain('super-secret');
  expect((await readFile(join(folder, 'auth.db'))).includes('super-secret')).toBe(false);
});

it('a broker that is killed leaves a file that the next one opens [AUTH-059]', async () => {
  const first = start(['--superuser-password', 'super-secret']);
  await once(first.broker.stdout, 'data');
  first.broker.kill('SIGKILL');
  await first.exit;
  const second = start([]);
  await once(second.broker.stdout, 'data');
  second.broker.kill('SIGTERM');
  expect(await second.exit).toBe(0);
  expect(second.said.text).not.toContain('created the superuser');
});

it('a second broker on the same file ends with the reason', async () => {
  const first = start(['--auth-database-path', 'users.db']);
  await once(first.broker.stdout, 'data');
  const second = start(['--auth-database-path', 'users.db']);
  expect(await second.exit).toBe(1);
  expect(second.said.text).toMatch(
    /^truemq: the user database users\.db cannot be used: it is locked: another broker uses it/,
  );
  first.broker.kill('SIGTERM');
  expect(await first.exit).toBe(0);
});
