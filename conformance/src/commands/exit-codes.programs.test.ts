// No false green: every way in which a run can show less than it seems to, with the exit code that it must end with. Here the whole command
// runs in this process, around checks made for the purpose; what only a process can do is in cli/process.programs.test.ts.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Check } from '../check.ts';
import { ExpectationFailure } from '../expectation.ts';
import type { Target } from '../target/target-file.ts';
import { temporaryFolder } from '../testing/temporary-folder.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyTarget, tinyWait } from '../testing/tiny-target.ts';
import { UsageError } from '../usage-error.ts';
import { runCommand } from './run.ts';

const answers: Check['run'] = async (ctx) => {
  await (await ctx.connect()).ping();
  ctx.assert.ok(true, 'it answers', { actual: 'it' });
};
const passing = tinyCheck('CONN-001a', answers);
const failing = tinyCheck('CONN-001b', async (ctx) => ctx.assert.fail('one is not two'));
const warning = tinyCheck('CONN-002a', async (ctx) => ctx.assert.fail('it does otherwise'));
/** A check of a recommendation that ends at a step of CONN-001, which is a MUST. */
/** It ends at a step that only relies on a MUST. */
const undecided = tinyCheck('CONN-002b', async () => {
  throw new ExpectationFailure('the answer did not come', {
    ...{ expected: 'an answer', actual: 'nothing', reliesOn: 'CONN-001' },
  });
});
const named = tinyCheck('CONN-002c', async (ctx) =>
  ctx.assert.ok(false, 'it answers', { actual: 'nothing', clause: 'CONN-001' }),
);
const throwing = tinyCheck('CONN-001c', async () => {
  throw new TypeError('a fault of ours');
});
const blind = tinyCheck('CONN-001d', async () => {});
const hungry = tinyCheck('CONN-001e', async (ctx) => {
  const connection = await ctx.connect();
  const waiting = connection.expectSilence('Error', 60, 'no Error comes');
  for (const endsAt = performance.now() + 300; performance.now() < endsAt; );
  await waiting;
});
const optional = tinyCheck('CONN-003a', async () => {}, { requires: { capabilities: ['nack'] } });
const demanding = tinyCheck('CONN-001f', answers, {
  requires: { configuration: { limits: { maxConnections: 1 } } },
});

const folder = temporaryFolder(afterAll);
const newFolder = (): string => mkdtempSync(join(folder, 'one-'));

function fileOf(text: string, name = 'file'): string {
  const path = join(newFolder(), name);
  writeFileSync(path, text);
  return path;
}

type Given = {
  readonly checks: readonly Check[];
  readonly target?: Target;
  readonly args?: readonly string[];
  readonly golden?: boolean;
  readonly signal?: AbortSignal;
};

async function run(given: Given): Promise<{ exitCode: number; out: string; err: string }> {
  const target = fileOf(JSON.stringify(given.target ?? tinyTarget()), 'tiny.json');
  const sources = {
    catalogue: tinyCatalogue(given.checks),
    golden: given.golden === false ? [] : recordedFrames(),
  };
  const lines = { out: [] as string[], err: [] as string[] };
  const terminal = {
    out: (line: string) => lines.out.push(line),
    err: (line: string) => lines.err.push(line),
    color: false,
  };
  const args = ['--target', target, ...(given.args ?? [])];
  const signal = given.signal ?? new AbortController().signal;
  const exitCode = await runCommand(args, sources, terminal, signal).catch((error: unknown) => {
    if (!(error instanceof UsageError)) throw error;
    lines.err.push(error.message);
    return 2;
  });
  return { exitCode, out: lines.out.join('\n'), err: lines.err.join('\n') };
}

const refusing = tinyTarget({ TINY_UNSUPPORTED: 'limits.maxConnections' });
const nobody: Target = {
  schema: 1,
  name: 'nobody',
  lifecycle: { kind: 'attach' },
  endpoints: { tcp: { host: '127.0.0.1', port: 1 } },
};
const spawning = (command: readonly string[], cwd?: string): Target => ({
  schema: 1,
  name: 'odd',
  lifecycle: { kind: 'spawn', command, ...(cwd === undefined ? {} : { cwd }) },
});
const lastWord = 'console.error("no licence\\n::error::x ##[error]y"); process.exitCode = 3';
const unwritable = (): readonly string[] => ['--reporter', `json=${join(fileOf(''), 'report.json')}`];
/** A pipe without a reader: whether somebody reads it is known only at the end. */
const unread = (): readonly string[] => {
  const path = join(newFolder(), 'pipe');
  execFileSync('mkfifo', [path]);
  return ['--reporter', `json=${path}`];
};
const baseline = (text: string): readonly string[] => ['--baseline', fileOf(text)];
const known = (id: string): string => `- id: ${id}\n  expect: fail\n  reason: known\n`;
/** A broker that dies after the first check, and a second check, on a broker of its own, that ends after that. */
const dying = (...more: readonly Check[]): Given => {
  const pids = join(newFolder(), 'pids');
  const target = tinyTarget({ TINY_DIE_IDLE: '1', TINY_PID: pids });
  return { checks: [passing, tinyWait('CONN-001z', pids), ...more], target, args: ['--jobs', '1'] };
};

describe('the exit code of a run', () => {
  it.each<[exitCode: number, name: string, given: Given, says: string]>([
    [0, 'everything passes', { checks: [passing] }, 'is CONFORMANT'],
    [0, 'a warning', { checks: [passing, warning] }, '1 pass, 1 warn'],
    [1, 'a failure', { checks: [passing, failing] }, '1 check failed'],
    [
      3,
      'a recommendation whose check ended at a step of a MUST that nothing shows kept',
      { checks: [undecided] },
      "which no check of this run shows kept or broken; run them together: --only 'CONN-001*' --only CONN-002b",
    ],
    [0, 'the same beside a check that shows it kept', { checks: [passing, undecided] }, '1 pass, 1 warn'],
    [
      1,
      'a MUST that its assertion names, beside a check that shows it kept',
      { checks: [passing, named] },
      '1 pass, 1 fail',
    ],
    [1, 'the same beside a check that shows it broken', { checks: [failing, undecided] }, '1 blocked'],
    [
      0,
      'the same in a shard, of which another may show it kept',
      { checks: [passing, undecided], args: ['--shard', '2/2'] },
      '1 warn',
    ],
    [1, 'a warning with --strict', { checks: [warning], args: ['--strict'] }, '1 check warned'],
    [2, 'a pattern that matches nothing', { checks: [passing], args: ['--only', 'X-*'] }, 'matches no check'],
    [2, 'an empty plan', { checks: [passing], args: ['--skip', 'CONN'] }, 'the selection is empty'],
    [2, 'an empty profile', { checks: [passing], args: ['--profile', 'tls'] }, 'profile tls has no checks'],
    [2, 'an empty shard', { checks: [passing], args: ['--shard', '2/2'] }, 'shard 2 of 2 is empty'],
    [2, 'a shard that cannot be', { checks: [passing], args: ['--shard', '3/2'] }, 'I from 1 to N'],
    [2, 'nothing that applies', { checks: [optional] }, 'no check ran'],
    [2, 'an unknown flag', { checks: [passing], args: ['--strickt'] }, 'did you mean --strict?'],
    [2, 'a bad baseline', { checks: [passing], args: baseline('- id: x') }, 'line 1: expect is missing'],
    [2, 'no such baseline', { checks: [passing], args: ['--baseline', 'no.yaml'] }, 'cannot be read'],
    [
      3,
      'a check that could not run',
      { checks: [passing, demanding], target: refusing },
      '1 check could not run',
    ],
    [
      1,
      'checks that --fail-fast did not reach',
      { checks: [failing, passing], args: ['--fail-fast', '--jobs', '1'] },
      '1 check failed',
    ],
    [3, 'a check without evidence', { checks: [passing, blind] }, 'ended without its evidence'],
    [
      4,
      'a target whose program is missing',
      { checks: [passing], target: spawning(['/no/such']) },
      '(exit code 4): /no/such: cannot be started: spawn /no/such ENOENT.',
    ],
    [
      4,
      'a target whose folder is missing',
      { checks: [passing], target: spawning([process.execPath], '/no/folder') },
      'cannot be started: its folder (cwd) /no/folder does not exist.',
    ],
    [
      4,
      'a target that ends with a last word',
      { checks: [passing], target: spawning([process.execPath, '-e', lastWord]) },
      'its log ends with:\n         | no licence\n         | ::error::x \\u0023#[error]y\nodd is NOT SHOWN',
    ],
    [4, 'a target that is not there', { checks: [passing], target: nobody }, 'cannot be reached'],
    [4, 'a target that dies between checks', dying(), 'ended unexpectedly'],
    [5, 'a check that throws', { checks: [passing, throwing] }, 'ended with an error of the runner'],
    [5, 'a starved runner', { checks: [passing, hungry], args: ['--jobs', '1'] }, 'the runner was starved'],
    [2, 'a report that cannot be written', { checks: [passing], args: unwritable() }, 'cannot be written'],
    [5, 'a report that fails at the end', { checks: [passing], args: unread() }, 'no program reads from it'],
    [5, 'a codec that is wrong', { checks: [passing], golden: false }, 'golden frames'],
    [5, 'an interrupt', { checks: [passing], signal: AbortSignal.abort() }, 'the run was interrupted'],
    [
      0,
      'an expected failure',
      { checks: [passing, failing], args: baseline(known('CONN-001b')) },
      'NOT CONFORMANT',
    ],
    [
      1,
      'an expected failure that passes',
      { checks: [passing], args: baseline(known('CONN-001a')) },
      'remove the entry',
    ],
    [
      1,
      'an entry for no check',
      { checks: [passing], args: baseline(known('CONN-009a')) },
      'there is no check',
    ],
    [
      3,
      'an expected failure beside a check that could not run',
      { checks: [failing, demanding], target: refusing, args: baseline(known('CONN-001b')) },
      'could not run',
    ],
    [
      1,
      'failed (1) and could not run (3)',
      { checks: [failing, demanding], target: refusing },
      '1 check failed',
    ],
    [5, 'failed (1) and threw (5)', { checks: [failing, throwing] }, 'an error of the runner'],
    [4, 'failed (1) and died (4)', dying(failing), 'ended unexpectedly'],
  ])('is %i: %s', async (exitCode, _name, given, says) => {
    const ended = await run(given);
    expect(`${ended.out}\n${ended.err}`).toContain(says);
    expect(ended.exitCode).toBe(exitCode);
  });
});

describe('the last two lines', () => {
  const lastLines = (out: string): readonly string[] => out.trimEnd().split('\n').slice(-2);

  it('keep broker and gate apart: a baseline opens the gate and changes no verdict', async () => {
    const { out } = await run({ checks: [passing, failing], args: baseline(known('CONN-001b')) });
    expect(lastLines(out)).toEqual([
      'tiny is NOT CONFORMANT to profile core.',
      'The gate is open (exit code 0): nothing failed except 1 expected failure.',
    ]);
  });

  it.each([
    ['--only', 'CONN-001a'],
    ['--shard', '1/2'],
    ['--skip', 'CONN-001b'],
    ['--level', 'must'],
  ])('say that the run is partial: %s %s', async (...args) => {
    const second = { ...passing, id: 'CONN-002b', clauses: ['CONN-002'] } as const;
    const { out, exitCode } = await run({ checks: [passing, { ...passing, id: 'CONN-001b' }, second], args });
    expect(lastLines(out)[0]).toBe('tiny is CONFORMANT in the part that was run: profile core.');
    expect(lastLines(out)[1]).toContain('PARTIAL');
    expect(exitCode).toBe(0);
  });

  it('come with the entries to add for what nobody expected', async () => {
    const { out, err } = await run({ checks: [passing, failing], args: baseline('') });
    expect(err).toContain(
      '- id: CONN-001b\n  expect: fail\n  reason: "to be explained; it said: one is not two"',
    );
    expect(lastLines(out)[1]).toContain('exit code 1');
  });
});

describe('--keep-alive', () => {
  it('leaves the broker until the interrupt, and keeps the exit code of the run', async () => {
    const pid = join(newFolder(), 'pid');
    const interrupt = new AbortController();
    const { signal } = interrupt;
    const file = fileOf(JSON.stringify(tinyTarget({ TINY_PID: pid })));
    const err: string[] = [];
    let noteTold = (): void => {};
    const told = new Promise<void>((resolve) => {
      noteTold = resolve;
    });
    const terminal = {
      out: () => {},
      err: (line: string) => {
        err.push(line);
        if (line.startsWith('Ctrl-C')) noteTold();
      },
      color: false,
    };
    const sources = { catalogue: tinyCatalogue([passing]), golden: recordedFrames() };
    const ended = runCommand(['--target', file, '--keep-alive'], sources, terminal, signal);
    await told;
    expect(existsSync(pid)).toBe(true);
    expect(err.join('\n')).toMatch(/Still running: process \d+, with its defaults\n {2}tcp 127\.0\.0\.1:\d+/);
    interrupt.abort();
    expect(await ended).toBe(0);
    expect(err.at(-1)).toBe('The brokers are stopped.');
  });

  it('is refused for a target that is attached', async () => {
    expect(await run({ checks: [passing], target: nobody, args: ['--keep-alive'] })).toMatchObject({
      exitCode: 2,
    });
  });
});
