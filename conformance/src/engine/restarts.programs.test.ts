// What a check with isolation `restart` can do with its broker, around the tiny broker, and what becomes of it where that cannot be done.
import { describe, expect, it } from 'vitest';
import type { Check } from '../check.ts';
import { durableBroker } from '../checks/shared/durable-broker.ts';
import type { Target } from '../target/target-file.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions, tinyTarget } from '../testing/tiny-target.ts';
import { runSuite } from './suite.ts';

async function resultOf(run: Check['run'], more: Partial<Check> = {}, target: Target = tinyTarget()) {
  const check = tinyCheck('CONN-001a', run, { isolation: 'restart', ...more });
  const sources = { catalogue: tinyCatalogue([check]), golden: recordedFrames() };
  const report = await runSuite(sources, tinyOptions({ target }), () => {});
  return { ...report.results[0], exitCode: report.verdict.exitCode };
}

const fails: Check['run'] = async (ctx) => ctx.assert.equal(1, 2, 'one is two');

describe('the broker of a check', () => {
  it('is killed, stopped and started, and serves each time', async () => {
    const result = await resultOf(async (ctx) => {
      await (await ctx.connect()).ping();
      await ctx.broker.crash();
      await ctx.broker.start();
      await (await ctx.connect()).ping();
      await ctx.broker.terminate();
      const { code } = await ctx.broker.exited();
      ctx.assert.equal(code, 0, 'the exit code');
      ctx.assert.equal(await ctx.broker.startOrRefusal(), undefined, 'why it refuses to start');
      await (await ctx.connect()).ping();
    });
    expect(result).toMatchObject({ outcome: 'pass', exitCode: 0, evidence: { frames: 6 } });
  });

  it('has a second one beside it where nothing forbids that, and serves on', async () => {
    const result = await resultOf(async (ctx) => {
      ctx.assert.equal(await ctx.broker.secondRefusal(), undefined, 'why the second one refuses');
      await (await ctx.connect()).ping();
    });
    expect(result).toMatchObject({ outcome: 'pass', exitCode: 0 });
  });

  it('is started with a limit on its files, and refuses connections when it has ended', async () => {
    const result = await resultOf(async (ctx) => {
      await ctx.broker.crash();
      ctx.assert.equal(await ctx.tryConnect(), undefined, 'a connection to a broker that has ended');
      ctx.assert.equal(await ctx.broker.startWithFileLimit(1_000_000), true, 'whether it starts');
      await (await ctx.connect()).ping();
    });
    expect(result).toMatchObject({ outcome: 'pass', exitCode: 0 });
  });

  it('cannot be damaged where it keeps no files: the check could not run', async () => {
    const result = await resultOf((ctx) => ctx.broker.damageStore());
    expect(result).toMatchObject({ outcome: 'could not run', exitCode: 3 });
    expect(result.reason).toContain('no files in its data directory');
  });

  it.each([
    'startOrRefusal',
    'startWithFileLimit',
    'refuseWrites',
    'allowWrites',
    'secondRefusal',
    'damageStore',
  ] as const)('is not touched by a check that shares it: %s is an error', async (act) => {
    const result = await resultOf(async (ctx) => void (await ctx.broker[act](0)), { isolation: 'shared' });
    expect(result).toMatchObject({ outcome: 'error', exitCode: 5 });
  });

  it('has connections with a name each, also when they are opened at the same time', async () => {
    const result = await resultOf(async (ctx) => {
      const connections = await Promise.all([1, 2, 3].map(() => ctx.connect({ own: true })));
      const names = connections.map(({ name }) => name).sort();
      ctx.assert.deepEqual(names, ['A', 'B', 'C'], 'the names');
    });
    expect(result).toMatchObject({ outcome: 'pass' });
  });
});

describe('a check of durable storage', () => {
  it('could not run where the adapter has no durable store', async () => {
    const target: Target = { ...tinyTarget({ TINY_UNSUPPORTED: 'storage' }), profiles: ['durable'] };
    const result = await resultOf(fails, durableBroker, target);
    expect(result).toMatchObject({ outcome: 'could not run', exitCode: 3 });
    expect(result.reason).toContain('does not support storage');
  });

  it('could not run where the hooks do not honour storage', async () => {
    const lifecycle = { kind: 'hooks', start: 'true', stop: 'true' } as const;
    const endpoints = { tcp: { host: '127.0.0.1', port: 1 } };
    const target: Target = { schema: 1, name: 'hooked', lifecycle, endpoints };
    const result = await resultOf(fails, durableBroker, { ...target, profiles: ['durable'] });
    expect(result).toMatchObject({ outcome: 'could not run', exitCode: 3 });
    expect(result.reason).toContain('storage = "durable"');
  });

  it('could not run on an attached broker', async () => {
    const endpoints = { tcp: { host: '127.0.0.1', port: 1 } };
    const target = { schema: 1, name: 'attached', lifecycle: { kind: 'attach' }, endpoints } as const;
    const result = await resultOf(fails, durableBroker, { ...target, profiles: ['durable'] });
    expect(result).toMatchObject({ outcome: 'could not run', exitCode: 3 });
  });
});
