// `truemq` as a process of its own: exit codes, help, and that a signal ends a broker in good order. A few starts only: each takes
// a second from source.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfigurationFile } from '../config/file.ts';
import { loadConfiguration } from '../config/load.ts';
import { smallerLimit } from '../server/this-machine.ts';
import { VERSION } from '../server/version.ts';
import { testCommandContext } from '../testing/command-context.ts';
import { commands } from './commands.ts';
import { config } from './config.ts';
import { findCommand, overview } from './help.ts';

const main = fileURLToPath(new URL('main.ts', import.meta.url));

function start(argv: readonly string[], environment: Record<string, string> = {}) {
  const process_ = spawn(process.execPath, ['--import', 'tsx', main, ...argv], {
    env: { ...process.env, ...environment },
  });
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

describe('help', () => {
  it('has something to say about every command', async () => {
    for (const [name, { summary }] of Object.entries(commands)) {
      expect(overview()).toContain(`${name.padEnd(10)} ${summary}`);
      expect((await findCommand(name).load()).help).toMatch(new RegExp(`^usage: truemq ${name}`));
    }
  });
});

describe('the reference of the command line', () => {
  it('is what the help texts say', async () => {
    const context = testCommandContext();
    await findCommand('help')
      .load()
      .then((help) => help.run(['--reference'], context));
    const url = new URL('../../docs/reference/command-line.md', import.meta.url);
    expect(context.output()).toBe(readFileSync(url, 'utf8'));
  });
});

describe('config', () => {
  it('prints a file that means the same, with origins [CONFIG-007]', async () => {
    const context = testCommandContext({ TRUEMQ_ACK_TIMEOUT: '500ms', TRUEMQ_HOST: '1.5' });
    expect(
      await config.run(
        ['--port', '4000', '--supported-compressions', '', '--allowed-hosts', 'a.example,b'],
        context,
      ),
    ).toBe(0);
    const text = context.output();
    expect(text).toMatch(/^port: 4000 +# flag --port$/m);
    expect(text).toMatch(/^ackTimeout: 500ms +# environment TRUEMQ_ACK_TIMEOUT$/m);
    expect(text).toMatch(/^maxQueues: 100000 +# default$/m);
    const entries = parseConfigurationFile('printed.yaml', text);
    const machine = { memoryBytes: 1, heapLimitBytes: 1, isTerminal: true };
    const { configuration } = loadConfiguration({
      flags: new Map(),
      environment: {},
      file: { path: 'printed.yaml', entries },
      machine,
    });
    expect(configuration).toMatchObject({
      host: '1.5',
      port: 4_000,
      ackTimeoutMs: 500,
      supportedCompressions: [],
      allowedHosts: ['a.example', 'b'],
    });
    expect(Object.keys(parse(text))).toHaveLength(Object.keys(configuration).length);
  });

  it('prints the page about all keys', async () => {
    const context = testCommandContext();
    await config.run(['--reference'], context);
    expect(context.output()).toBe(
      readFileSync(new URL('../../docs/reference/configuration.md', import.meta.url), 'utf8'),
    );
  });
});

describe('the default memory limit', () => {
  it.each([
    [undefined, 100, 100],
    [0, 100, 100],
    [18_446_744_073_709_552_000, 100, 100],
    [40, 100, 40],
  ])('of a container with %s on a machine with %d is %d [HEALTH-010]', (container, machine, limit) => {
    expect(smallerLimit(container, machine)).toBe(limit);
  });
});

describe('version', () => {
  it('is that of the package', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(VERSION).toBe(version);
  });
});
