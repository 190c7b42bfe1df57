// The command line: mistyped words are refused with a hint and exit code 2, before anything is started.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TargetFault } from '../target/target-fault.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { tinyTarget } from '../testing/tiny-target.ts';
import { main } from './main.ts';
import { loadSources } from './sources.ts';

/** Reading them takes longer than the commands that are tested here. */
const sources = loadSources();

function command(...args: readonly string[]) {
  return commandWith(() => sources, ...args);
}

async function commandWith(load: typeof loadSources, ...args: readonly string[]) {
  const lines = { out: [] as string[], err: [] as string[] };
  const terminal = {
    out: (line: string) => lines.out.push(line),
    err: (line: string) => lines.err.push(line),
    color: false,
  };
  const exitCode = await main(args, terminal, new AbortController().signal, load);
  return { exitCode, out: lines.out.join('\n'), err: lines.err.join('\n') };
}

function targetFile(): string {
  const path = join(temporaryFolder(), 'tiny.json');
  writeFileSync(path, JSON.stringify(tinyTarget()));
  return path;
}

describe('usage errors', () => {
  it.each([
    [[], 'a command is missing'],
    [['rnu'], 'unknown command rnu; did you mean run?'],
    [['run'], '--target FILE is missing'],
    [['run', '--tarqet', 'x'], 'unknown flag --tarqet; did you mean --target?'],
    [['run', '--target'], '--target needs a value: --target FILE'],
    [['run', '--target', '--strict'], '--target needs a value'],
    [['run', '--target', 'a', '--target', 'b'], '--target was given twice'],
    [['run', '--target', 'x', '--only', ','], '--only needs a value: --only PATTERN'],
    [['run', '--target', 'x', '--only', ' , '], '--only needs a value: --only PATTERN'],
    [['list', '--profile', 'core, delivry'], '--profile: delivry came'],
    [['hepl'], 'unknown command hepl; did you mean help?'],
    [['run', '--target', 'x', '--only='], '--only needs a value: --only PATTERN'],
    [['run', '--strict=yes', '--target', 'x'], '--strict takes no value'],
    [['run', 'x.json'], 'run takes no argument, x.json came'],
    [['run', '--target', 'no/such.json'], 'cannot be read'],
    [['explain', 'NOTHING-001'], 'no check or requirement is called NOTHING-001'],
    [['explain'], 'explain needs one id'],
    [['list', '--only', 'NOTHING'], '--only NOTHING matches no check'],
  ])('%o', async (args, text) => {
    const { exitCode, err, out } = await command(...args);
    expect(err).toContain(text);
    expect(exitCode).toBe(2);
    expect(out).toBe('');
  });

  it.each([
    [
      ['--wire', 'bitwise'],
      '--wire: bitwise came, allowed: whole, bytewise, joined, random; did you mean bytewise?',
    ],
    [['--profile', 'cor'], '--profile: cor came, allowed: core, delivery'],
    [['--level', 'shall'], '--level: SHALL came, allowed: MAY, SHOULD, MUST'],
    [['--jobs', '0'], '--jobs: 0 came, allowed: a whole number from 1 to 64'],
    [['--repeat', '1.5'], '--repeat: 1.5 came, allowed: a whole number'],
    [['--timeout-scale', 'slow'], '--timeout-scale: slow came, allowed: a number from 0.05 to 100'],
    [['--reporter', 'junitt=x'], '--reporter: junitt came, allowed: console, json'],
    [['--reporter', 'json'], '--reporter json needs a path'],
    [['--only', 'NOTHING-*'], '--only NOTHING-* matches no check'],
  ])('run %o', async (args, text) => {
    const { exitCode, err } = await command('run', '--target', targetFile(), ...args);
    expect(err).toContain(text);
    expect(exitCode).toBe(2);
  });
});

it('ends with exit code 4 when the target cannot be ended as its file says, whatever the command', async () => {
  const fault = new TargetFault('hook failed', 'the stop hook failed: exit code 7');
  const fails = (): never => {
    throw fault;
  };
  const { exitCode, err } = await commandWith(fails, 'list');
  expect({ exitCode, err }).toEqual({
    exitCode: 4,
    err: 'truemq-conformance: the stop hook failed: exit code 7',
  });
});

describe('help', () => {
  it('of a command is what its flag --help prints', async () => {
    const { exitCode, out } = await command('help', 'run');
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: (await command('run', '--help')).out });
    expect((await command('help', 'rum')).exitCode).toBe(2);
  });

  it('tells every flag of run, and the exit codes', async () => {
    const { exitCode, out } = await command('run', '--help');
    expect(exitCode).toBe(0);
    for (const flag of ['target', 'seed', 'wire', 'timeout-scale', 'fail-fast'])
      expect(out).toContain(`--${flag}`);
    expect((await command('--help')).out).toContain('4 the target did not start or died');
  });

  it('tells the version of the package', async () => {
    const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
    const { version } = JSON.parse(manifest) as { version: string };
    expect(await command('--version')).toEqual({ exitCode: 0, out: version, err: '' });
  });
});
