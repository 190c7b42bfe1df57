// Commands as processes that cannot read stdin, or whose stdout may not grow: the reason is told, the exit code is 1, and no message is lost.

import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Client, connect } from '../client/index.ts';
import { createBroker, type EmbeddedBroker } from '../server/create-broker.ts';
import { truemqProgram } from '../testing/truemq-program.ts';

let broker: EmbeddedBroker;
let client: Client;
let folder: string;

beforeAll(async () => {
  broker = await createBroker({ rateLimit: false });
  client = await connect({ port: broker.port, reconnect: false });
  folder = await mkdtemp(join(tmpdir(), 'truemq-output-'));
});

afterAll(async () => {
  await client.close();
  await broker.stop();
  await rm(folder, { recursive: true });
});

/** Runs a command that writes to a file of at most `kilobytes`. */
async function writeToFile(kilobytes: number, ...argv: readonly string[]) {
  const path = join(folder, 'out');
  const script = `ulimit -f ${kilobytes}; "$@" > ${path}; echo "exit $?"`;
  const command = [process.execPath, ...truemqProgram, ...argv];
  const shell = spawn('bash', ['-c', script, 'bash', ...command], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [exit, errors] = await Promise.all([text(shell.stdout), text(shell.stderr)]);
  return { exit, errors, content: await readFile(path, 'utf8') };
}

describe('a directory as stdin', () => {
  it('is no end of the input for pub', async () => {
    const argv = [...truemqProgram, 'pub', 'read', '--port', String(broker.port)];
    const script = '"$@" < /; echo "exit $?"';
    const shell = spawn('bash', ['-c', script, 'bash', process.execPath, ...argv]);
    expect(await Promise.all([text(shell.stdout), text(shell.stderr)])).toEqual([
      'exit 1\n',
      'truemq: stdin cannot be read: illegal operation on a directory; what follows in it was not published\n' +
        'truemq: 0 messages published to read\n',
    ]);
  });
});

describe('a file that may not grow', () => {
  it('takes no message that sub acknowledges and that is not in it', async () => {
    const pad = 'x'.repeat(1_000);
    for (let n = 0; n < 60; n += 1) await client.publish('kept', { n, pad });
    const port = String(broker.port);
    const { exit, errors, content } = await writeToFile(32, 'sub', 'kept', '--port', port);
    expect([exit, errors]).toEqual(['exit 1\n', 'truemq: stdout cannot be written: file too large\n']);
    const writtenCount = content.split('\n').length - 1;
    expect(writtenCount).toBeGreaterThan(0);
    await vi.waitFor(async () => {
      expect((await client.queueInfo('kept'))?.messageCount).toBe(60 - writtenCount);
    });
  });

  it.each([[['config']], [['version']], [['help']], [['pub', '--help']]])(
    'makes %j end with 1',
    async (argv) => {
      expect(await writeToFile(0, ...argv)).toEqual({
        exit: 'exit 1\n',
        errors: 'truemq: stdout cannot be written: file too large\n',
        content: '',
      });
    },
  );

  it.each([[['queues', 'list']], [['pub', 'told', '1', '--json']]])(
    'makes %j end with 1, after what it says itself',
    async (argv) => {
      const { exit, errors } = await writeToFile(0, ...argv, '--port', String(broker.port));
      expect(exit).toBe('exit 1\n');
      expect(errors).toContain('truemq: stdout cannot be written: file too large\n');
    },
  );
});
