// `truemq` as a process of its own: exit codes, and that a signal ends a broker in good order.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { VERSION } from '../server/version.ts';
import { truemqProgram } from '../testing/truemq-program.ts';

function start(argv: readonly string[], environment: Record<string, string> = {}) {
  return startCommand([process.execPath, ...truemqProgram, ...argv], environment);
}

function startCommand(command: readonly string[], environment: Record<string, string> = {}) {
  const [program = '', ...args] = command;
  const process_ = spawn(program, args, { env: { ...process.env, ...environment } });
  const output = { stdout: '', stderr: '' };
  process_.stdout.on('data', (chunk) => {
    output.stdout += chunk;
  });
  process_.stderr.on('data', (chunk) => {
    output.stderr += chunk;
  });
  return { process: process_, output, exit: once(process_, 'close').then(([code]) => code as number) };
}

describe('the process', () => {
  it('serves until SIGTERM, logs to stderr and ends with 0 [CONFIG-008, CONFIG-012, SHUTDOWN-009]', async () => {
    const argv = [
      'serve',
      '--port',
      '0',
      '--health-port',
      '0',
      '--dashboard',
      'off',
      '--print-ready',
      '--log-format',
      'json',
    ];
    const broker = start(argv);
    await once(broker.process.stdout, 'data');
    expect(JSON.parse(broker.output.stdout)).toMatchObject({ ready: true, pid: broker.process.pid });
    broker.process.kill('SIGTERM');
    expect(await broker.exit).toBe(0);
    const messages = broker.output.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).message);
    expect(messages).toEqual(['started', 'stopping; a second signal ends it at once', 'stopped']);
  });

  it('allows no more connections than it may have files open, unless it is told to [CONFIG-021]', async () => {
    const command = [process.execPath, ...truemqProgram, 'config'];
    const shown = startCommand(['sh', '-c', 'ulimit -n 200 && exec "$@"', 'sh', ...command]);
    expect(await shown.exit).toBe(0);
    const isKnown = process.platform === 'linux';
    expect(shown.output.stdout).toMatch(isKnown ? /^maxConnections: 136 /m : /^maxConnections: 1000 /m);
  });

  it('warns of more connections than it may have files open [CONFIG-020]', async () => {
    const options = ['--port', '0', '--health', 'off', '--dashboard', 'off', '--print-ready'];
    const command = [process.execPath, ...truemqProgram, 'serve', ...options, '--max-connections', '300'];
    const broker = startCommand(['sh', '-c', 'ulimit -n 200 && exec "$@"', 'sh', ...command]);
    await once(broker.process.stdout, 'data');
    broker.process.kill('SIGTERM');
    expect(await broker.exit).toBe(0);
    const sentence =
      'maxConnections is 300, and the process may have 200 files open: connections for which there is none are ' +
      'closed without an answer; allow 364 files (ulimit -n, LimitNOFILE), or lower maxConnections';
    // Elsewhere the limit cannot be read.
    expect(broker.output.stderr.includes(sentence)).toBe(process.platform === 'linux');
  });

  it.each([
    [[], 2, '', /^usage: truemq COMMAND/],
    [['--version'], 0, `${VERSION}\n`, /^$/],
    [['serv'], 2, '', /^truemq: serv: no such command; did you mean serve\?\ntruemq: "truemq help" tells/],
    [
      ['serve', '--prot', '1'],
      2,
      '',
      /^truemq: --prot: no such flag; did you mean --port\?\ntruemq: "truemq help serve" tells/,
    ],
    [['serve', '--port', 'x'], 2, '', /^truemq: port \(flag --port\): came "x"; allowed is a port/],
  ])('given %j ends with %d [CONFIG-002, CONFIG-003]', async (argv, code, stdout, stderr) => {
    const { exit, output } = start(argv);
    expect(await exit).toBe(code);
    expect(output.stdout).toBe(stdout);
    expect(output.stderr).toMatch(stderr);
  });
});
