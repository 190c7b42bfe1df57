// What is watched in every check, from end to end: the tiny broker does not name the queue in PublishAck, and no check here is about that.
import { expect, it } from 'vitest';
import { catalogueOf } from '../catalogue.ts';
import type { Check } from '../check.ts';
import type { CheckResult } from '../result.ts';
import type { Requirement } from '../suite-data.ts';
import { spawnBroker } from '../target/broker.ts';
import type { Target } from '../target/target-file.ts';
import { recordedFrames, tinyCheck, tinyOptions, tinyTarget } from '../testing/tiny-target.ts';
import { timingFor } from '../timing.ts';
import { Command } from '../wire/command.ts';
import { runSuite } from './suite.ts';

const publishes: Check['run'] = async (ctx) => {
  const client = await ctx.connect();
  await client.send({ command: Command.Publish, id: ctx.id(), queue: ctx.queue('orders') });
  const ack = await client.expect('PublishAck');
  ctx.assert.equal(ack.commandName, 'PublishAck', 'the answer');
};
const pings: Check['run'] = async (ctx) => {
  const pong = await (await ctx.connect()).ping();
  ctx.assert.equal(pong.commandName, 'Pong', 'the answer');
};
const fails: Check['run'] = async (ctx) => {
  await publishes(ctx);
  ctx.assert.equal(1, 2, 'one is two');
};
const shows: Check['run'] = async (ctx) => {
  const client = await ctx.connect();
  await client.send({ command: Command.Publish, id: ctx.id(), queue: ctx.queue('orders') });
  ctx.assert.equal((await client.expect('PublishAck')).queue, ctx.queue('orders'), 'the queue');
};

/** Longer than a runner may be late that is believed. */
function holdUpLoop(): void {
  const until = performance.now() + 3000;
  while (performance.now() < until);
}

async function resultsOf(
  checks: readonly Check[],
  more: Pick<Requirement, 'level' | 'profile'> = { level: 'MUST', profile: 'core' },
  target: Target = tinyTarget(),
): Promise<{ readonly exitCode: number; readonly results: readonly CheckResult[] }> {
  const requirements: readonly Requirement[] = [
    { id: 'CONN-001', level: 'MUST', sentence: 'A MUST.', profile: 'core' },
    { id: 'CONN-002', level: 'SHOULD', sentence: 'A SHOULD.', profile: 'core' },
    { id: 'CONN-010', sentence: 'The broker names the queue.', ...more },
  ];
  const sources = { catalogue: catalogueOf(checks, requirements), golden: recordedFrames() };
  const { results, verdict } = await runSuite(sources, tinyOptions({ target }), () => {});
  return { exitCode: verdict.exitCode, results };
}

it.each(['CONN-001a', 'CONN-002a'])('fails %s, whose assertions hold, whatever its level', async (id) => {
  const { exitCode, results } = await resultsOf([tinyCheck(id, publishes)]);
  expect(exitCode).toBe(1);
  expect(results).toMatchObject([
    {
      id,
      outcome: 'fail',
      clause: 'CONN-010',
      watched: true,
      reason: 'in every check, the answer names the queue of its command',
      expected: expect.stringMatching(/^queue .*orders$/),
    },
  ]);
  const { trace = [], brokenAtMs = Number.NaN } = results[0] ?? {};
  const [sent, came] = ['Publish ', 'PublishAck '].map((start) =>
    trace.find(({ text }) => text.startsWith(start)),
  );
  expect(brokenAtMs).toBeGreaterThanOrEqual(sent?.atMs ?? Number.NaN);
  expect(brokenAtMs).toBeLessThanOrEqual(came?.atMs ?? Number.NaN);
});

it('leaves a check alone that fails by itself, or in which nothing is broken', async () => {
  const { results } = await resultsOf([tinyCheck('CONN-001a', fails), tinyCheck('CONN-002a', pings)]);
  expect(results.map(({ outcome, reason }) => [outcome, reason])).toEqual([
    ['fail', 'one is two'],
    ['pass', undefined],
  ]);
  expect(results.every(({ watched, starved }) => (watched ?? starved) === undefined)).toBe(true);
});

it('leaves the fault of a check alone', async () => {
  const faulty: Check['run'] = async (ctx) => {
    await publishes(ctx);
    throw new TypeError('a fault of the check');
  };
  const { exitCode, results } = await resultsOf([tinyCheck('CONN-001a', faulty)]);
  expect([exitCode, results[0]?.outcome, results[0]?.watched]).toEqual([5, 'error', undefined]);
});

it('fails a check that the runner was too slow to believe, which may not meet the same when it is played again', async () => {
  let playCount = 0;
  const hungry: Check['run'] = async (ctx) => {
    playCount += 1;
    if (playCount > 1) return pings(ctx);
    await publishes(ctx);
    const wait = (await ctx.connect()).ping();
    holdUpLoop();
    await wait;
  };
  const { exitCode, results } = await resultsOf([tinyCheck('CONN-001a', hungry)]);
  expect([exitCode, playCount]).toEqual([1, 2]);
  // Of its own assertions nothing is known: whoever asks for those plays it again.
  expect(results).toMatchObject([{ outcome: 'fail', clause: 'CONN-010', watched: true, starved: true }]);
});

const core = { level: 'MUST', profile: 'core' } as const;

it.each([
  ['', false],
  [', and that the runner was too slow to believe', true],
])(
  'fails a check whose broker died meanwhile%s, though nothing is broken on a broker of its own',
  async (_, isHungry) => {
    let playCount = 0;
    let mayDie = false;
    const lives: Check['run'] = async (ctx) => {
      playCount += 1;
      if (playCount > 1) return pings(ctx);
      await publishes(ctx);
      const connection = await ctx.connect();
      mayDie = true;
      if (isHungry) holdUpLoop();
      await connection.closed();
    };
    const kills: Check['run'] = async (ctx) => {
      while (!mayDie) await pings(ctx);
      await (await ctx.connect()).send({ command: Command.CreateQueue, id: ctx.id(), queue: ctx.queue('q') });
      await (await ctx.connect()).closed();
    };
    const checks = [tinyCheck('CONN-001a', lives), tinyCheck('CONN-002a', kills)];
    const { exitCode, results } = await resultsOf(checks, core, tinyTarget({ TINY_DIE_ON: '40' }));
    expect([exitCode, playCount]).toEqual([1, isHungry ? 3 : 2]);
    expect(results[0]).toMatchObject({ outcome: 'fail', clause: 'CONN-010', watched: true });
    if (!isHungry)
      expect(results[0]?.notes).toContainEqual(
        expect.stringMatching(/^the broker died .* from before that$/),
      );
  },
);

it('fails a check whose result is discarded, because the broker limits a rate that no target file declared', async () => {
  const { lifecycle } = tinyTarget({ TINY_RATE: '20/1500' });
  if (lifecycle.kind !== 'spawn') throw new Error('the tiny broker is spawned');
  const broker = await spawnBroker(lifecycle, {}, timingFor(1));
  let playCount = 0;
  const greedy: Check['run'] = async (ctx) => {
    playCount += 1;
    if (playCount > 1) return pings(ctx);
    await publishes(ctx);
    for (let count = 0; count < 25; count += 1) await (await ctx.connect({ own: true })).ping();
  };
  const target: Target = {
    ...{ schema: 1, name: 'tiny', lifecycle: { kind: 'attach' }, endpoints: broker.endpoints },
    limits: { connectionWindowMs: 1500 },
  };
  const { exitCode, results } = await resultsOf([tinyCheck('CONN-001a', greedy)], core, target);
  await broker.dispose();
  expect([exitCode, playCount]).toEqual([1, 1]);
  expect(results).toMatchObject([{ outcome: 'fail', clause: 'CONN-010', watched: true }]);
});

it('is blocked by a check of the broken requirement', async () => {
  const { exitCode, results } = await resultsOf([
    tinyCheck('CONN-001a', publishes),
    tinyCheck('CONN-010a', shows),
  ]);
  expect(exitCode).toBe(1);
  expect(results.map(({ id, outcome, blockedBy }) => [id, outcome, blockedBy])).toEqual([
    ['CONN-001a', 'blocked', { clause: 'CONN-010', shownBy: ['CONN-010a'] }],
    ['CONN-010a', 'fail', undefined],
  ]);
});

it.each([
  ['that is only recommended', { level: 'SHOULD', profile: 'core' }],
  ['of a profile that the target does not claim', { level: 'MUST', profile: 'delivery' }],
] as const)('does not judge by a requirement %s', async (_, requirement) => {
  const { exitCode, results } = await resultsOf([tinyCheck('CONN-001a', publishes)], requirement);
  expect([exitCode, results[0]?.outcome]).toEqual([0, 'pass']);
});
