// What the commands of `truemq` say of themselves: help, configuration, version. As a process: main.programs.test.ts.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfigurationFile } from '../config/file.ts';
import { loadConfiguration } from '../config/load.ts';
import { openFileLimitOf, smallerLimit } from '../server/this-machine.ts';
import { VERSION } from '../server/version.ts';
import { testCommandContext } from '../testing/command-context.ts';
import { commands } from './commands.ts';
import { config } from './config.ts';
import { findCommand, overview } from './help.ts';

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

describe('the limit of open files', () => {
  const head = 'Limit                     Soft Limit           Hard Limit           Units     \n';

  it.each([
    ['Max open files            1024                 524288               files     \n', 1024],
    ['Max open files            unlimited            unlimited            files     \n', undefined],
    ['', undefined],
  ])('of %j is %s [CONFIG-020]', (line, limit) => {
    expect(openFileLimitOf(`${head}${line}`)).toBe(limit);
  });
});

describe('version', () => {
  it('is that of the package', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(VERSION).toBe(version);
  });
});
