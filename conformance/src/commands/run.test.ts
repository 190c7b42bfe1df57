// `run` and its reports: what cannot be written is told before the run (exit code 2) or closes the gate after it (5), and no old report is
// left to be believed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyTarget } from '../testing/tiny-target.ts';
import { UsageError } from '../usage-error.ts';
import { runCommand } from './run.ts';

const pinging = tinyCheck('CONN-001a', async (ctx) => {
  const connection = await ctx.connect();
  await connection.ping();
  ctx.assert.ok(true, 'it answers', { actual: 'it' });
});
const sources = { catalogue: tinyCatalogue([pinging]), golden: recordedFrames() };

async function run(...args: readonly string[]): Promise<{ exitCode: number; out: string; err: string }> {
  const target = join(temporaryFolder(), 'tiny.json');
  writeFileSync(target, JSON.stringify(tinyTarget()));
  const lines = { out: [] as string[], err: [] as string[] };
  const terminal = {
    out: (line: string) => lines.out.push(line),
    err: (line: string) => lines.err.push(line),
    color: false,
  };
  const { signal } = new AbortController();
  const exitCode = await runCommand(['--target', target, ...args], sources, terminal, signal);
  return { exitCode, out: lines.out.join('\n'), err: lines.err.join('\n') };
}

describe('a report that cannot be written', () => {
  it('is a usage error before anything is started, where it can be known', async () => {
    const path = join(temporaryFolder(), 'a-file');
    writeFileSync(path, '');
    const refused = run('--reporter', `json=${join(path, 'report.json')}`, '--out', path);
    await expect(refused).rejects.toThrow(UsageError);
    await expect(refused).rejects.toThrow(
      `${path}/report.json cannot be written: a part of the path is a file and not a folder (EEXIST); choose another path`,
    );
    await expect(refused).rejects.toThrow(`--out ${path} cannot be written: a part of the path is a file`);
  });

  it('is a usage error where it would overwrite another one, or what the run reads', async () => {
    const folder = temporaryFolder();
    const path = join(folder, 'report.xml');
    const twice = run('--reporter', `junit=${path}`, '--reporter', `json=${folder}/./report.xml`);
    await expect(twice).rejects.toThrow(
      `--reporter junit=${path} and --reporter json=${folder}/./report.xml write`,
    );
    const inFolder = run('--out', folder, '--reporter', `tap=${join(folder, 'junit.xml')}`);
    await expect(inFolder).rejects.toThrow(`--out ${folder} and --reporter tap=`);
    const baseline = join(folder, 'known.yaml');
    writeFileSync(baseline, '[]');
    const overInput = run('--baseline', baseline, '--reporter', `markdown=${baseline}`);
    await expect(overInput).rejects.toThrow(
      `--reporter markdown=${baseline} would overwrite the file of --baseline`,
    );
    expect(readFileSync(baseline, 'utf8')).toBe('[]');
  });

  it('may be the one of the folder, and several may go to a device', async () => {
    const folder = temporaryFolder();
    const same = ['--out', folder, '--reporter', `junit=${join(folder, 'junit.xml')}`];
    const devices = ['--reporter', 'tap=/dev/null', '--reporter', 'json=/dev/null'];
    expect(await run(...same, ...devices)).toMatchObject({ exitCode: 0 });
  });

  it('is told where no folder can be created, and once', async () => {
    await expect(run('--out', '/proc/x')).rejects.toThrow(
      /^--out \/proc\/x cannot be written: no folder can be created there \(ENOENT\); choose another path$/,
    );
  });

  it('ends the run with 5 when it fails at the end, and takes the old one away', async () => {
    const path = join(temporaryFolder(), 'report.json');
    writeFileSync(path, 'an old report');
    const blocking = tinyCheck('CONN-001b', async (ctx) => {
      await (await ctx.connect()).ping();
      ctx.assert.equal(existsSync(path), false, 'the old report is gone');
      mkdirSync(path);
    });
    const catalogue = tinyCatalogue([blocking]);
    const target = join(temporaryFolder(), 'tiny.json');
    writeFileSync(target, JSON.stringify(tinyTarget()));
    const errors: string[] = [];
    const terminal = { out: () => {}, err: (line: string) => errors.push(line), color: false };
    const { signal } = new AbortController();
    const args = ['--target', target, '--reporter', `json=${path}`];
    expect(await runCommand(args, { ...sources, catalogue }, terminal, signal)).toBe(5);
    expect(errors.join('\n')).toContain('report.json could not be written');
  });
});

it('writes what was asked for and ends with the gate', async () => {
  const path = join(temporaryFolder(), 'deep', 'report.json');
  const { exitCode, out } = await run('--reporter', `json=${path}`, '--out', join(temporaryFolder(), 'out'));
  expect(out).toContain('tiny is CONFORMANT to profile core.');
  expect(exitCode).toBe(0);
  expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ schema: 1, counts: { pass: 1 } });
});

describe('the line that repeats a check', () => {
  afterEach(() => vi.unstubAllEnvs());

  it('has the credentials as they were given, and leaves those of the environment there', async () => {
    vi.stubEnv('CONFORMANCE_PASSWORD', 'secret-password');
    const at = temporaryFolder();
    const token = join(at, 'token');
    const target = join(at, 'attached.json');
    const report = join(at, 'report.json');
    writeFileSync(token, 'secret-token');
    const endpoints = { tcp: { host: '127.0.0.1', port: 1 } };
    writeFileSync(target, JSON.stringify({ schema: 1, name: 'a', lifecycle: { kind: 'attach' }, endpoints }));
    // It could not run on an attached broker, so that none is needed here.
    const restarting = tinyCheck('CONN-001a', async () => {}, { isolation: 'restart' });
    const { signal } = new AbortController();
    const given = ['--username', 'anna', '--token-file', token];
    const args = ['--target', target, ...given, '--seed', '3', '--reporter', `json=${report}`];
    const terminal = { out: () => {}, err: () => {}, color: false };
    await runCommand(args, { ...sources, catalogue: tinyCatalogue([restarting]) }, terminal, signal);
    const text = readFileSync(report, 'utf8');
    expect(JSON.parse(text).results).toMatchObject([
      {
        reproduce: `truemq-conformance run --target ${target} ${given.join(' ')} --only CONN-001a --seed 3`,
      },
    ]);
    expect(text).not.toContain('secret');
  });
});
