// Commands as processes, in pipes whose reader goes away and in a pseudo terminal with Ctrl-C: that they end quietly, with the documented exit code.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, connect } from '../client/index.ts';
import { createBroker, type EmbeddedBroker } from '../server/create-broker.ts';
import { runInTerminal } from '../testing/pseudo-terminal.ts';
import { truemqProgram } from '../testing/truemq-program.ts';

const CTRL_C = '\u0003';

let broker: EmbeddedBroker;
let client: Client;

beforeAll(async () => {
  broker = await createBroker({ rateLimit: false });
  client = await connect({ port: broker.port, reconnect: false });
});

afterAll(async () => {
  await client.close();
  await broker.stop();
});

const command = (...argv: readonly string[]) => [
  process.execPath,
  ...truemqProgram,
  ...argv,
  '--port',
  String(broker.port),
];

describe('in a pipe whose reader goes away', () => {
  function readOneLine(...argv: readonly string[]) {
    const script = `"$@" | head -1; echo "exit \${PIPESTATUS[0]}"`;
    const shell = spawn('bash', ['-c', script, 'bash', ...command(...argv)], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    return { shell, outputs: Promise.all([text(shell.stdout), text(shell.stderr)]) };
  }

  it('sub ends with 0 at the next message, without a message of its own', async () => {
    await client.publish('piped', 1);
    const { shell, outputs } = readOneLine('sub', 'piped');
    await once(shell.stdout, 'data');
    while (shell.exitCode === null) await client.publish('piped', 2);
    expect(await outputs).toEqual(['1\nexit 0\n', '']);
  });

  it('a list ends with 0, without a message', async () => {
    const long = 'a'.repeat(200);
    for (let number = 0; number < 400; number += 1) await client.createQueue(`${long}${number}`);
    expect(await readOneLine('queues', 'list', '--names').outputs).toEqual([`${long}0\nexit 0\n`, '']);
  });
});

describe('in a terminal', () => {
  it('Ctrl-C ends sub with 0', async () => {
    await client.publish('shown', { n: 1 });
    const { output, exitCode } = await runInTerminal(command('sub', 'shown'), [
      { after: '{"n":1}', keys: CTRL_C },
    ]);
    expect([output, exitCode]).toEqual(['{"n":1}\n^C', 0]);
  });

  it('Ctrl-C ends pub with 130 after it has said what was published', async () => {
    const { output, exitCode } = await runInTerminal(command('pub', 'typed', '--json'), [
      { after: '', keys: '1\r' },
      { after: '"isConfirmed":true', keys: CTRL_C },
    ]);
    expect(output).toMatch(/truemq: interrupted; .*\ntruemq: 1 message published to typed\n$/);
    expect(exitCode).toBe(130);
  });

  it('Ctrl-C at the question for a password ends the process as Ctrl-C does', async () => {
    const { output, exitCode } = await runInTerminal(command('admin', 'users', '--username', 'ann'), [
      { after: 'password of ann: ', keys: CTRL_C },
    ]);
    expect([output, exitCode]).toEqual(['password of ann: \n', -2]);
  });

  it('delete asks, and Ctrl-C at the question leaves the queue alone', async () => {
    await client.createQueue('asked');
    const question = 'delete queue asked with all its messages? [y/N] ';
    const argv = command('queues', 'delete', 'asked');
    const interrupted = await runInTerminal(argv, [{ after: question, keys: CTRL_C }]);
    expect(interrupted).toEqual({ output: `${question}^C`, exitCode: -2 });
    expect(await client.queueInfo('asked')).toBeDefined();
    const answered = await runInTerminal(argv, [{ after: question, keys: 'y\r' }]);
    expect(answered).toEqual({ output: `${question}y\nqueue asked deleted\n`, exitCode: 0 });
    expect(await client.queueInfo('asked')).toBeUndefined();
  });
});

describe('in a terminal that is closed', () => {
  const serve = [
    process.execPath,
    ...truemqProgram,
    'serve',
    '--port',
    '0',
    '--health',
    'off',
    '--dashboard',
    'off',
  ];
  const closing = [{ after: 'stop it with Ctrl-C', closes: true }] as const;

  it('serve ends in good order', async () => {
    expect(await runInTerminal(serve, closing)).toMatchObject({ exitCode: 0 });
  });

  it('serve does so too when its log is in a file', async () => {
    const logged = ['bash', '-c', 'exec "$@" 2> /dev/null', 'bash', ...serve];
    expect(await runInTerminal(logged, closing)).toMatchObject({ exitCode: 0 });
  });
});
