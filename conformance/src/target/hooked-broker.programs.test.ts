// Brokers that shell commands start and stop, seen through whole runs: both kinds of start command, one broker at a time at a fixed
// address, what cannot be had, and that nothing stays behind.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Check } from '../check.ts';
import { runSuite } from '../engine/suite.ts';
import { freePort } from '../testing/free-port.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions } from '../testing/tiny-target.ts';
import { unreachableReason } from './listening.ts';
import type { HooksLifecycle, Target } from './target-file.ts';

const program = fileURLToPath(new URL('../testing/tiny-broker.mjs', import.meta.url));
const node = `'${process.execPath}' '${program}'`;
const pidFile = '"$CONFORMANCE_DATA_DIRECTORY/pid"';
const stop = `kill $(cat ${pidFile}) && while kill -0 $(cat ${pidFile}) 2>/dev/null; do sleep 0.02; done`;
const stays: HooksLifecycle = { kind: 'hooks', start: `exec ${node}`, stop };
const returns: HooksLifecycle = {
  kind: 'hooks',
  start: `${node} & while [ ! -s ${pidFile} ]; do sleep 0.02; done`,
  stop,
  crash: `kill -9 $(cat ${pidFile})`,
};

let folder: string;
let port: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'truemq-hooks-test-'));
  port = await freePort();
});

afterEach(async () => {
  expect(
    await unreachableReason({ host: '127.0.0.1', port }, 1000),
    'a broker was left behind',
  ).toBeDefined();
  rmSync(folder, { recursive: true });
});

function target(lifecycle: HooksLifecycle): Target {
  return { schema: 1, name: 'hooked', lifecycle, endpoints: { tcp: { host: '127.0.0.1', port } } };
}

async function run(checks: readonly Check[], lifecycle: HooksLifecycle, timeoutScale = 1) {
  const sources = { catalogue: tinyCatalogue(checks), golden: recordedFrames() };
  const options = tinyOptions({ target: target(lifecycle), timeoutScale });
  const { results, verdict } = await runSuite(sources, options, () => {});
  const first = [...results.map(({ reason, actual }) => actual ?? reason), verdict.reason].find(Boolean);
  return { outcomes: results.map(({ outcome }) => outcome), exitCode: verdict.exitCode, first };
}

const pings: Check['run'] = async (ctx) => {
  const connection = await ctx.connect();
  const pong = await connection.ping();
  ctx.assert.equal(pong.commandName, 'Pong', 'Ping is answered');
};

const restarts = tinyCheck(
  'CONN-001b',
  async (ctx) => {
    await pings(ctx);
    await ctx.broker.crash();
    await ctx.broker.start();
    await pings(ctx);
    await ctx.broker.terminate();
    await ctx.broker.exited();
    await ctx.broker.start();
    await pings(ctx);
  },
  { isolation: 'restart' },
);
const shared = ['CONN-001a', 'CONN-001c', 'CONN-001d'].map((id) => tinyCheck(id, pings));

describe('a hooked broker', () => {
  it.each([
    ['that stays', stays],
    ['that returns', returns],
  ])('is shared, stopped, crashed and started again, with a start command %s', async (_kind, lifecycle) => {
    const { outcomes, exitCode, first } = await run([...shared, restarts], lifecycle);
    expect({ outcomes, exitCode, first }).toEqual({
      outcomes: ['pass', 'pass', 'pass', 'pass'],
      exitCode: 0,
      first: 'nothing failed',
    });
  });

  it('is told what to do, and has a data directory that goes with it', async () => {
    const told = join(folder, 'told');
    const start = `env > '${told}'; exec ${node}`;
    const lifecycle = { ...stays, start, environment: { OWN: 'mine' } };
    expect((await run(shared, lifecycle)).exitCode).toBe(0);
    const text = readFileSync(told, 'utf8');
    expect(text).toContain('CONFORMANCE_HOOK=start\n');
    expect(text).toContain(`CONFORMANCE_TCP_PORT=${port}\n`);
    expect(text).toContain('CONFORMANCE_HEALTH_PORT=0\n');
    expect(text).toContain('OWN=mine\n');
    expect(text).toMatch(/CONFORMANCE_CONFIGURATION=\{"protocol":1,"tcp":\{"host":"127.0.0.1"/);
    const directory = /CONFORMANCE_DATA_DIRECTORY=(.*)/.exec(text)?.[1] ?? '';
    expect(directory).not.toBe('');
    expect(existsSync(directory)).toBe(false);
  });

  it('is reset before each new instance, and not before a restart', async () => {
    const counter = join(folder, 'resets');
    writeFileSync(counter, '');
    const lifecycle = { ...stays, reset: `echo reset >> '${counter}'` };
    expect((await run([...shared, restarts], lifecycle)).exitCode).toBe(0);
    expect(readFileSync(counter, 'utf8')).toBe('reset\nreset\n');
  });

  it('is given another configuration where its hooks honour it, and could not run else', async () => {
    const needs = tinyCheck('CONN-001b', pings, {
      requires: { configuration: { limits: { maxConnections: 3 } } },
    });
    const refused = await run([...shared, needs], stays);
    expect(refused).toMatchObject({ exitCode: 3, outcomes: ['pass', 'could not run', 'pass', 'pass'] });
    expect(refused.first).toContain('limits.maxConnections = 3, and the hooks of this target do not honour');
    const told = join(folder, 'told');
    const start = `echo "$CONFORMANCE_CONFIGURATION" >> '${told}'; exec ${node}`;
    const honoured = await run([...shared, needs], { ...stays, start, honours: ['limits'] });
    expect(honoured.exitCode).toBe(0);
    expect(readFileSync(told, 'utf8').split('\n')).toHaveLength(3);
    expect(readFileSync(told, 'utf8')).toContain('"limits":{"maxConnections":3}');
  });

  it('that a check kills is started again, and the check is blamed', async () => {
    const kills = tinyCheck('CONN-001b', async (ctx) => {
      await (await ctx.connect()).publish(ctx.queue('q'), '1');
      ctx.assert.ok(true, 'published', { actual: 'it' });
    });
    const lifecycle = { ...stays, environment: { TINY_DIE_ON: '20' } };
    const { outcomes, exitCode, first } = await run([...shared, kills], lifecycle);
    expect({ outcomes, exitCode }).toEqual({ outcomes: ['pass', 'fail', 'pass', 'pass'], exitCode: 1 });
    expect(first).toContain('exit code 7');
  });

  it('cannot be crashed without a hook when its process is not ours: could not run', async () => {
    // Its command has ended long before a broker listens that has only begun to start then.
    const { crash: _crash, ...without } = { ...returns, start: `${node} &` };
    expect(await run([restarts], without)).toMatchObject({ outcomes: ['could not run'], exitCode: 3 });
  });
});

describe('hooks that fail are exit code 4', () => {
  it.each([
    ['no such program', { ...stays, start: 'no-such-broker-anywhere' }, 'it ended with exit code 127'],
    ['a failing reset', { ...stays, reset: 'exit 3' }, 'the reset hook failed: exit code 3'],
    ['a start that ends badly', { ...stays, start: 'echo oops >&2; exit 5' }, 'oops'],
    ['a stop that ends badly', { ...stays, stop: `${stop}; exit 7` }, 'the stop hook failed: exit code 7'],
    [
      'a crash that ends badly',
      { ...returns, crash: `${returns.crash}; exit 8` },
      'the crash hook failed: exit code 8',
    ],
  ])('%s', async (_title, lifecycle, text) => {
    const { exitCode, first } = await run(shared, lifecycle);
    expect({ exitCode, first }).toEqual({ exitCode: 4, first: expect.stringContaining(text) });
  });

  it('a stop that returns too soon', async () => {
    const { exitCode, first } = await run(shared, { ...stays, stop: 'true' }, 0.2);
    const text = expect.stringContaining('the stop hook returned, but a process still listens at');
    expect({ exitCode, first }).toEqual({ exitCode: 4, first: text });
  });

  it('is also where the check that calls them could blame the broker', async () => {
    const stops = tinyCheck(
      'CONN-001b',
      async (ctx) => {
        await pings(ctx);
        await ctx.broker.terminate();
        await ctx.broker.exited(300);
      },
      { isolation: 'restart' },
    );
    // The broker goes on running until the crash hook ends it.
    const never = { ...returns, stop: 'exit 7' };
    const stopped = await run([stops], never, 0.2);
    expect(stopped).toMatchObject({
      exitCode: 4,
      first: expect.stringContaining('the stop hook failed: exit code 7'),
    });
    const crash = `[ -e '${folder}/once' ] || { touch '${folder}/once'; exit 8; }; ${returns.crash}`;
    const crashed = await run([restarts], { ...returns, crash });
    expect(crashed).toMatchObject({
      exitCode: 4,
      first: expect.stringContaining('the crash hook failed: exit code 8'),
    });
  });

  it('but a stop that ends badly after the broker has ended is no failure of the check', async () => {
    const stop = `${returns.stop}; [ -e '${folder}/once' ] || { touch '${folder}/once'; exit 7; }`;
    expect(await run([restarts], { ...returns, stop })).toMatchObject({ exitCode: 0, outcomes: ['pass'] });
  });
});
