// The engine from end to end, around the tiny broker: each way in which a run can end has its exit code.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Check } from '../check.ts';
import type { CheckResult } from '../result.ts';
import type { Broker } from '../target/broker.ts';
import { spawnBroker } from '../target/broker.ts';
import type { Target } from '../target/target-file.ts';
import {
  recordedFrames,
  tinyCatalogue,
  tinyCheck,
  tinyOptions,
  tinyTarget,
  tinyWait,
} from '../testing/tiny-target.ts';
import { timingFor } from '../timing.ts';
import { Command } from '../wire/command.ts';
import type { RunOptions, RunReport } from './suite.ts';
import { runSuite } from './suite.ts';

function run(checks: readonly Check[], more: Partial<RunOptions> = {}): Promise<RunReport> {
  return runSuite(
    { catalogue: tinyCatalogue(checks), golden: recordedFrames() },
    tinyOptions(more),
    () => {},
  );
}

async function only(
  check: Check,
  more: Partial<RunOptions> = {},
): Promise<CheckResult & { exitCode: number }> {
  const report = await run([check], more);
  const [result] = report.results;
  if (result === undefined) throw new Error('no result');
  return { ...result, exitCode: report.verdict.exitCode };
}

const pings = tinyCheck('CONN-001a', async (ctx) => {
  const connection = await ctx.connect();
  const pong = await connection.ping();
  ctx.assert.equal(pong.commandName, 'Pong', 'Ping is answered');
});

function tinyBroker(): Promise<Broker> {
  const { lifecycle } = tinyTarget();
  if (lifecycle.kind !== 'spawn') throw new Error('the tiny broker is spawned');
  return spawnBroker(lifecycle, {}, timingFor(1));
}

function attachedTo(broker: Broker): Target {
  return { schema: 1, name: 'attached', lifecycle: { kind: 'attach' }, endpoints: broker.endpoints };
}

const fails: Check['run'] = async (ctx) => ctx.assert.equal(1, 2, 'one is two');

describe('what becomes of one check', () => {
  it('passes with its evidence, exit code 0', async () => {
    const result = await only(pings);
    expect(result).toMatchObject({ outcome: 'pass', exitCode: 0, evidence: { frames: 2, assertions: 1 } });
    expect(result.reproduce).toBe('truemq-conformance run --target tiny.json --only CONN-001a --seed 1');
  });

  it.each(['bytewise', 'joined', 'random'] as const)('passes with frames cut %s', async (wireMode) => {
    expect(await only(pings, { wireMode })).toMatchObject({ outcome: 'pass' });
  });

  it('fails for a MUST, exit code 1, with expected, actual and trace', async () => {
    const check = tinyCheck('CONN-001a', async (ctx) => {
      const connection = await ctx.connect();
      await connection.subscribe(ctx.queue('q'));
    });
    const result = await only(check, { timeoutScale: 0.25 });
    expect(result).toMatchObject({ outcome: 'fail', exitCode: 1 });
    expect(result.expected).toContain('the answer to Subscribe');
    expect(result.actual).toContain('within 1000 ms');
    // After the wait a Ping shows whether the broker has caught up: this one has.
    const kinds = ['opened', 'sent', 'received', 'sent', 'sent', 'received', 'closed'];
    expect(result.trace.map((event) => event.kind)).toEqual(kinds);
  });

  it('is blocked by what another check shows broken, which is told first', async () => {
    const relies: Check['run'] = async (ctx) => {
      ctx.assert.ok(false, 'what it relies on holds', { actual: 'nothing', clause: 'CONN-001' });
    };
    const report = await run([tinyCheck('CONN-002a', relies), tinyCheck('CONN-001a', fails)]);
    const told = report.results.map(({ id, outcome, blockedBy }) => [id, outcome, blockedBy?.shownBy]);
    expect(told).toEqual([
      ['CONN-001a', 'fail', undefined],
      ['CONN-002a', 'blocked', ['CONN-001a']],
    ]);
    expect(report.verdict).toMatchObject({ status: 'not conformant', exitCode: 1 });
    // What an assertion names as broken is broken, also if no other check shows it.
    expect(await only(tinyCheck('CONN-002a', relies))).toMatchObject({ outcome: 'fail', exitCode: 1 });
  });

  it('is played again alone when the runner was too late to be believed, and says so', async () => {
    let playCount = 0;
    const check = tinyCheck('CONN-001a', async (ctx) => {
      playCount += 1;
      const connection = await ctx.connect();
      await connection.ping();
      const until = performance.now() + (playCount === 1 ? 1200 : 0);
      while (performance.now() < until);
      ctx.assert.equal(playCount, 2, 'the second play is the one that counts');
    });
    const result = await only(check);
    expect(result).toMatchObject({ outcome: 'pass', exitCode: 0 });
    expect(result.notes).toEqual([expect.stringContaining('too busy')]);
  });

  it('is played again alone when its handshake used up a short timeout of its broker', async () => {
    let playCount = 0;
    const run: Check['run'] = async (ctx) => {
      playCount += 1;
      await ctx.connect();
      ctx.assert.equal(playCount, 2, 'the second play is the one that counts');
    };
    const configuration = { timing: { handshakeTimeoutMs: 0.001 } };
    const result = await only(tinyCheck('CONN-001a', run, { requires: { configuration } }));
    expect(result).toMatchObject({ outcome: 'pass', exitCode: 0 });
    expect(result.notes).toEqual([expect.stringContaining('too busy')]);
  });

  it('warns for a SHOULD, exit code 0, and 1 with --strict', async () => {
    const check = tinyCheck('CONN-002a', fails);
    expect(await only(check)).toMatchObject({ outcome: 'warn', exitCode: 0 });
    expect(await only(check, { strict: true })).toMatchObject({ outcome: 'warn', exitCode: 1 });
  });

  it('notes a MAY that is not taken: not applicable, and a run of nothing else is exit code 2', async () => {
    const result = await only(tinyCheck('CONN-003a', fails));
    expect(result).toMatchObject({ outcome: 'not applicable', exitCode: 2 });
    expect(result.notes[0]).toContain('optional, not seen');
  });

  it('fails a MAY whose capability was declared', async () => {
    const check = tinyCheck('CONN-003a', fails, { requires: { capabilities: ['nack'] } });
    const target = { ...tinyTarget(), capabilities: ['nack'] as const };
    expect(await only(check, { target })).toMatchObject({ outcome: 'fail', exitCode: 1 });
  });

  it.each<[string, Check['run']]>([
    ['no assertion', async (ctx) => void (await ctx.connect())],
    ['an assertion about another requirement', async (ctx) => ctx.assert.equal(1, 1, 'one', 'CONN-002')],
    [
      'an answer that it only waited for',
      async (ctx) => {
        const connection = await ctx.connect();
        await connection.send({ command: 10, id: 'p' });
        await connection.expect('Pong');
      },
    ],
  ])('does not take a pass with %s: not shown, exit code 3', async (_title, run) => {
    const result = await only(tinyCheck('CONN-001a', run));
    expect(result).toMatchObject({ outcome: 'not shown', exitCode: 3 });
    expect(result.reason).toContain('no assertion about CONN-001');
  });

  it('takes a pass with an answer that its own requirement asks for', async () => {
    const check = tinyCheck('CONN-001a', async (ctx) => {
      const connection = await ctx.connect();
      await connection.send({ command: 10, id: 'p' });
      await connection.expect('Pong', { clause: 'CONN-001' });
    });
    expect(await only(check)).toMatchObject({ outcome: 'pass' });
  });

  it('says of a check that decided nothing that its rule is not shown', async () => {
    const check = tinyCheck('CONN-001a', async (ctx) => {
      ctx.assert.ok(true, 'true', { actual: 'it' });
      ctx.notShown('no message waited');
    });
    const result = await only(check);
    expect(result).toMatchObject({ outcome: 'not shown', exitCode: 3, reason: 'no message waited' });
  });

  it('does not hold a rule against a broker that it is not about', async () => {
    const result = await only(tinyCheck('CONN-001a', async (ctx) => ctx.notApplicable('the shorter form')));
    expect(result).toMatchObject({ outcome: 'not applicable', exitCode: 2, reason: 'the shorter form' });
    expect(result.notes).toEqual([]);
  });

  it('lets a warning stand where the rule is not about the broker', async () => {
    const check = tinyCheck('CONN-001a', async (ctx) => {
      ctx.should(false, 'CONN-002', 'it does otherwise');
      ctx.notApplicable('the shorter form');
    });
    expect(await only(check)).toMatchObject({ outcome: 'warn', exitCode: 0, reason: 'the shorter form' });
  });

  it('does not take a pass below the declared evidence', async () => {
    const check = tinyCheck('CONN-001a', async (ctx) => ctx.assert.ok(true, 'true', { actual: 'it' }), {
      evidence: { messages: 1 },
    });
    expect(await only(check)).toMatchObject({ outcome: 'not shown', exitCode: 3 });
  });

  it('calls an exception of a check an error', async () => {
    const check = tinyCheck('CONN-001a', async () => {
      throw new TypeError('a fault of ours');
    });
    const result = await only(check);
    expect(result).toMatchObject({ outcome: 'error', exitCode: 5 });
    expect(result.reason).toContain('a fault of ours');
  });

  it('calls a check that never ends an error', async () => {
    const check = tinyCheck('CONN-001a', () => new Promise(() => {}));
    expect(await only(check, { timeoutScale: 0.05 })).toMatchObject({ outcome: 'error', exitCode: 5 });
  });

  it('fails a check that still waits for the broker at its deadline, when it is alone too', async () => {
    const check = tinyCheck('CONN-001a', async (ctx) => {
      const connection = await ctx.connect();
      await connection.expect('Deliver', { withinMs: 600_000 });
    });
    // Long enough to connect on a busy machine: before that the check does not wait for the broker.
    const result = await only(check, { timeoutScale: 0.25 });
    expect(result).toMatchObject({ outcome: 'fail', exitCode: 1, actual: 'it still waited for Deliver' });
    expect(result.notes).toContain(
      'the machine was too busy in the first run: this result is from a run without other checks at the same time',
    );
  });

  it('lets a warning stand beside a pass', async () => {
    const check = tinyCheck('CONN-001a', async (ctx) => {
      ctx.should(false, 'CONN-002', 'it does otherwise');
      const title = ctx.acceptable(
        5,
        [{ title: 'five', when: (n) => n === 5, difference: { clause: 'CONN-002', text: 'odd' } }],
        'n',
      );
      ctx.assert.equal(title, 'five', 'the title comes back');
    });
    const result = await only(check);
    expect(result.outcome).toBe('warn');
    expect(result.warnings).toHaveLength(2);
  });

  it('survives waits that a failing check abandons', async () => {
    const check = tinyCheck('CONN-001a', async (ctx) => {
      const connection = await ctx.connect();
      void connection.expect('Deliver', { withinMs: 1000 });
      await connection.expectSilence('Pong', 1100, 'no Pong comes');
      ctx.assert.fail('it fails elsewhere');
    });
    expect(await only(check)).toMatchObject({ outcome: 'fail', exitCode: 1 });
  });
});

describe('what cannot be run', () => {
  it('is incomplete, exit code 3, when the adapter does not support a setting', async () => {
    const check = tinyCheck('CONN-001b', fails, {
      requires: { configuration: { limits: { maxConnections: 1 } } },
    });
    const target = tinyTarget({ TINY_UNSUPPORTED: 'limits.maxConnections' });
    const report = await run([pings, check], { target });
    expect(report.results.map((result) => result.outcome)).toEqual(['pass', 'could not run']);
    expect(report.verdict).toMatchObject({ exitCode: 3, status: 'undetermined', gate: 'closed' });
  });

  it('is incomplete when an attached broker would have to be started again', async () => {
    const endpoints = { tcp: { host: '127.0.0.1', port: 1 } };
    const target = { schema: 1, name: 'attached', lifecycle: { kind: 'attach' }, endpoints } as const;
    const result = await only(tinyCheck('CONN-001a', fails, { isolation: 'restart' }), { target });
    expect(result).toMatchObject({ outcome: 'could not run', exitCode: 3 });
  });

  it('is not applicable when an optional capability is not declared', async () => {
    const optional = tinyCheck('CONN-002a', fails, { requires: { capabilities: ['nack'] } });
    const report = await run([pings, optional]);
    expect(report.results.map((result) => result.outcome)).toEqual(['pass', 'not applicable']);
    expect(report.verdict).toMatchObject({ exitCode: 0, conformant: true });
  });

  it('runs a MUST of a claimed profile whatever capabilities are declared', async () => {
    const check = tinyCheck('CONN-001a', fails, { requires: { capabilities: ['fileStore'] } });
    const claiming = { ...tinyTarget(), profiles: ['core'] as const };
    expect(await only(check, { target: claiming })).toMatchObject({ outcome: 'fail' });
  });

  it('does not apply a MUST about a capability that brokers announce to one that does not declare it', async () => {
    const check = tinyCheck('CONN-001a', fails, { requires: { capabilities: ['nack'] } });
    const claiming = { ...tinyTarget(), profiles: ['core'] as const };
    expect(await only(check, { target: claiming })).toMatchObject({ outcome: 'not applicable' });
  });
});

describe('a target that is not well', () => {
  it('ends with exit code 4 when nobody listens where it is attached to', async () => {
    const endpoints = { tcp: { host: '127.0.0.1', port: 1 } };
    const target = { schema: 1, name: 'attached', lifecycle: { kind: 'attach' }, endpoints } as const;
    const report = await run([pings], { target });
    expect(report.verdict).toMatchObject({ exitCode: 4, gate: 'closed' });
    expect(report.verdict.reason).toContain('127.0.0.1:1 cannot be reached');
  });

  it.each([
    [{ TINY_REFUSE: 'no disk' }, 'no disk'],
    [{ TINY_NOISE: '1' }, 'logs belong on standard error'],
  ])('is exit code 4 when the adapter does not start: %o', async (environment, text) => {
    const report = await run([pings], { target: tinyTarget(environment) });
    expect(report.verdict).toMatchObject({ exitCode: 4, status: 'undetermined' });
    expect(report.verdict.reason).toContain(text);
  });

  it('is exit code 4 when there is no such program', async () => {
    const lifecycle = { kind: 'spawn', command: ['/no/such/program'] } as const;
    const report = await run([pings], { target: { schema: 1, name: 'nothing', lifecycle } });
    expect(report.verdict.exitCode).toBe(4);
  });

  it('fails the check that made it die, and only that one', async () => {
    const kills = tinyCheck('CONN-001b', async (ctx) => {
      const connection = await ctx.connect();
      await connection.publish(ctx.queue('q'), '1');
      ctx.assert.ok(true, 'published', { actual: 'it' });
    });
    const lingers = tinyCheck('CONN-001c', async (ctx) => {
      const connection = await ctx.connect();
      await connection.expectSilence('Error', 1200, 'no Error comes');
      await connection.ping();
    });
    const report = await run([pings, kills, lingers], {
      target: tinyTarget({ TINY_DIE_ON: String(Command.Publish) }),
    });
    expect(report.results.map((result) => result.outcome)).toEqual(['pass', 'fail', 'pass']);
    expect(report.results[1]?.reason).toBe('the broker process ended while this check ran');
    expect(report.results[1]?.actual).toContain('exit code 7');
    expect(report.verdict).toMatchObject({ exitCode: 1, status: 'not conformant' });
  });
});

describe('a broker that dies between checks', () => {
  it('is exit code 4 when none of them can be blamed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dies-idle-'));
    const pids = join(folder, 'pids');
    const target = tinyTarget({ TINY_DIE_IDLE: '1', TINY_PID: pids });
    const second = tinyWait('CONN-001b', pids);
    const report = await run([pings, second], { target, jobs: 1 });
    rmSync(folder, { recursive: true });
    expect(report.results.map(({ outcome }) => outcome)).toEqual(['pass', 'pass']);
    expect(report.verdict).toMatchObject({ exitCode: 4, status: 'undetermined' });
    expect(report.verdict.reason).toContain('exit code 9');
  });

  it('is blamed on the check that did it, and on none that came after it on the same broker', async () => {
    const target = tinyTarget({ TINY_DIE_ON: String(Command.Publish) });
    const delayed = tinyCheck('CONN-001b', async (ctx) => {
      const connection = await ctx.connect();
      await connection.send({ command: Command.Publish, id: ctx.id(), queue: ctx.queue('q') });
      ctx.assert.ok(true, 'sent, and nothing waited for', { actual: 'it' });
    });
    const report = await run([delayed, { ...pings, id: 'CONN-001c' }], { target, jobs: 1 });
    expect(report.results.find(({ id }) => id === 'CONN-001c')?.outcome).toBe('pass');
    expect([1, 4]).toContain(report.verdict.exitCode);
  });
});

describe('an attached broker that dies in the middle of a run', () => {
  it('is exit code 4, and says nothing about the checks that were running', async () => {
    const broker = await tinyBroker();
    const target = attachedTo(broker);
    const ends = tinyCheck('CONN-001b', async (ctx) => {
      const connection = await ctx.connect();
      await broker.crash();
      await connection.ping();
      ctx.assert.fail('a dead broker answered');
    });
    const later = { ...pings, id: 'CONN-001c' };
    const report = await run([pings, ends, later], { target, jobs: 1 });
    await broker.dispose();
    expect(report.results.map(({ outcome }) => outcome)).toEqual(['pass', 'could not run']);
    expect(report.results[1]?.reason).toContain('the broker had ended before this check did');
    expect(report.verdict).toMatchObject({ exitCode: 4, status: 'undetermined', gate: 'closed' });
    expect(report.verdict.reason).toContain('these checks were running: CONN-001b');
  });

  it('is exit code 4 when it is gone after the last check', async () => {
    const broker = await tinyBroker();
    const last = tinyCheck('CONN-001a', async (ctx) => {
      await (await ctx.connect()).ping();
      ctx.assert.ok(true, 'answered', { actual: 'it' });
      await broker.crash();
    });
    const report = await run([last], { target: attachedTo(broker), jobs: 1 });
    await broker.dispose();
    expect(report.verdict).toMatchObject({ exitCode: 4 });
  });

  it('is judged as before when it only closes connections', async () => {
    const broker = await tinyBroker();
    const check = tinyCheck('CONN-001b', async (ctx) => {
      const connection = await ctx.connect();
      await connection.disconnect();
      await connection.ping();
    });
    const report = await run([check], { target: attachedTo(broker), jobs: 1 });
    await broker.dispose();
    expect(report.results[0]).toMatchObject({ outcome: 'fail' });
    expect(report.verdict.exitCode).toBe(1);
  });
});

describe('a run as a whole', () => {
  it('stops at the first failure with --fail-fast', async () => {
    const failing = tinyCheck('CONN-001a', fails);
    const report = await run([failing, { ...pings, id: 'CONN-001b' }], { failFast: true, jobs: 1 });
    expect(report.results).toHaveLength(1);
    expect(report.verdict).toMatchObject({ exitCode: 1 });
  });

  it('is an error of the runner when it is interrupted, exit code 5', async () => {
    const interrupt = new AbortController();
    const check = tinyCheck('CONN-001a', async (ctx) => {
      interrupt.abort();
      await new Promise(() => {});
      ctx.assert.ok(true, 'never reached', { actual: 'it' });
    });
    const report = await run([check], { signal: interrupt.signal });
    expect(report.verdict).toMatchObject({ exitCode: 5, reason: 'the run was interrupted' });
  });

  it('repeats with another seed each time and does not hide a flip', async () => {
    const seeds: number[] = [];
    const flips = tinyCheck('CONN-001a', async (ctx) => {
      seeds.push(ctx.seed);
      ctx.assert.ok(ctx.seed % 2 === 1, 'the seed is odd', { actual: 'it' });
    });
    const report = await run([flips], { repeat: 2, jobs: 1 });
    expect(seeds).toEqual([1, 2]);
    expect(report.results.map((result) => result.outcome)).toEqual(['pass', 'fail']);
  });

  it('repeats with seeds that --seed takes', async () => {
    const report = await run([pings], { repeat: 2, seed: 2 ** 31 - 1 });
    const seeds = report.results.map(({ reproduce }) => reproduce.match(/--seed (\d+)/)?.[1]);
    expect(seeds).toEqual(['2147483647', '0']);
  });

  it('does not judge when its own codec is wrong: exit code 5', async () => {
    const sources = { catalogue: tinyCatalogue([pings]), golden: [] };
    const report = await runSuite(sources, tinyOptions(), () => {});
    expect(report.verdict).toMatchObject({ exitCode: 5 });
    expect(report.results).toEqual([]);
  });

  it('gives queue names and ids that no other check and no other run has, also with the same seed', async () => {
    const names: string[] = [];
    const check = tinyCheck('CONN-001a', async (ctx) => {
      names.push(ctx.queue('orders'), ctx.id());
      ctx.assert.ok(true, 'named', { actual: 'it' });
    });
    for (const seed of [36, 36]) expect((await run([check], { seed })).verdict.exitCode).toBe(0);
    const [queue, id] = names;
    expect(queue).toMatch(/^10-\w{5}\.conn-001a\.orders$/);
    expect(id).toBe(queue?.replace('orders', 'c-1'));
    expect(new Set(names).size).toBe(4);
  });
});

describe('what is seen beside the checks', () => {
  it('is told when it was not declared, and changes no verdict', async () => {
    const target = tinyTarget({ TINY_CAPABILITIES: 'nack,maxInFlight' });
    const { notes, verdict } = await run([pings], { target });
    expect(notes).toEqual(['observed but not declared: nack, maxInFlight']);
    expect(verdict).toMatchObject({ exitCode: 0, conformant: true, reason: 'nothing failed' });
  });

  it('is not told of what was declared, nor where nothing is announced', async () => {
    const target = tinyTarget({ TINY_CAPABILITIES: 'nack' });
    expect((await run([pings], { target: { ...target, capabilities: ['nack'] } })).notes).toEqual([]);
    expect((await run([pings])).notes).toEqual([]);
  });

  it('is not looked for where no check shares a broker', async () => {
    const target = tinyTarget({ TINY_CAPABILITIES: 'nack' });
    expect((await run([{ ...pings, isolation: 'fresh' }], { target })).notes).toEqual([]);
  });
});
