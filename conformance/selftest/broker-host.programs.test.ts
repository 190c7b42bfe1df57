// Tests that brokers in a host are independent, and that only the check that ends the host fails. Uses the reference broker with a fault
// that ends its process.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Check } from '../src/check.ts';
import type { StartBroker } from '../src/engine/broker-pool.ts';
import type { RunReport } from '../src/engine/suite.ts';
import { runSuite } from '../src/engine/suite.ts';
import { spawnBroker } from '../src/target/broker.ts';
import type { SpawnLifecycle } from '../src/target/target-file.ts';
import {
  recordedFrames,
  tinyCatalogue,
  tinyCheck,
  tinyOptions,
  tinyTarget,
} from '../src/testing/tiny-target.ts';
import { timingFor } from '../src/timing.ts';
import { BrokerHost } from './broker-host.ts';
import { buildBroker, mutantFolder } from './mutant-build.ts';
import { root } from './root.ts';

const deadly = {
  id: 'host-dies-of-pings',
  find: "return { kind: 'answer', fields: { command: Command.Pong, id: message.id } };",
  replace: 'process.exit(7);',
};

const pings: Check['run'] = async (ctx) => {
  await (await ctx.connect()).ping();
};
const createsQueues: Check['run'] = async (ctx) => {
  const connection = await ctx.connect();
  for (const name of ['a', 'b', 'c', 'd']) {
    const { commandName } = await connection.createQueue(ctx.queue(name));
    ctx.assert.ok(commandName !== 'Error', 'the queue is created', { actual: 'it' });
  }
};

const timing = timingFor(1);
const started: BrokerHost[] = [];
const programs = { host: '', program: '' };

beforeAll(async () => {
  programs.host = await buildBroker([deadly], 'host');
  programs.program = await buildBroker([deadly]);
});

afterAll(async () => {
  for (const host of started) await host.end();
  rmSync(join(root, mutantFolder), { recursive: true, force: true });
});

function lifecycleOf(...args: readonly string[]): SpawnLifecycle {
  return { kind: 'spawn', command: [process.execPath, ...args], cwd: root };
}

function newHost(bundle = programs.host): BrokerHost {
  const host = new BrokerHost(lifecycleOf(bundle));
  started.push(host);
  return host;
}

function judge(runs: Readonly<Record<string, Check['run']>>, more: Partial<Check> = {}): Promise<RunReport> {
  const checks = Object.entries(runs).map(([id, run]) => tinyCheck(id, run, more));
  const host = newHost();
  const startBroker: StartBroker = ({ request, timing: within, ownProcess }) =>
    ownProcess
      ? spawnBroker(lifecycleOf(programs.program, 'adapter'), request, within)
      : host.start({ request, timing: within });
  const sources = { catalogue: tinyCatalogue(checks), golden: recordedFrames() };
  return runSuite(sources, tinyOptions({ target: tinyTarget(), startBroker }), () => {});
}

describe('brokers in a host', () => {
  it('share its process, but not address or data', async () => {
    const host = newHost();
    const [one, other] = await Promise.all([
      host.start({ request: {}, timing }),
      host.start({ request: { limits: { maxConnections: 3 } }, timing }),
    ]);
    expect(one.processId).toBe(other.processId);
    expect(one.endpoints.tcp.port).not.toBe(other.endpoints.tcp.port);
    expect(one.dataDirectory).not.toBe(other.dataDirectory);
    expect(one.identity?.name).toBe('TrueMQ');
    expect([one.unwantedEnd, other.unwantedEnd]).toEqual([undefined, undefined]);
  });

  it('end with it, and expect it if the runner ends it', async () => {
    const host = newHost();
    const broker = await host.start({ request: {}, timing });
    await host.end();
    expect(await broker.exit).toEqual({ code: null, signal: 'SIGKILL' });
    expect(broker.unwantedEnd).toBeUndefined();
  });

  it('refuse what the adapter refuses, and the host continues', async () => {
    const host = newHost();
    const refused = host.start({ request: { limits: { maxConnections: -1 } }, timing });
    await expect(refused).rejects.toMatchObject({ kind: 'refused' });
    const broker = await host.start({ request: {}, timing });
    expect(broker.unwantedEnd).toBeUndefined();
  });

  it('cannot start if the host ends immediately', async () => {
    const host = newHost('conformance/no-such-bundle.mjs');
    await expect(host.start({ request: {}, timing })).rejects.toMatchObject({ kind: 'ended' });
  });
});

describe('a check that ends the process', () => {
  it.each([{ isolation: 'shared' }, { isolation: 'fresh' }] as const)(
    'is blamed, and those beside it are not: %o',
    async (more) => {
      const { results, verdict } = await judge({ 'CONN-001a': pings, 'CONN-001b': createsQueues }, more);
      const [pinging, creating] = results;
      expect(pinging).toMatchObject({ outcome: 'fail', reason: expect.stringContaining('process ended') });
      expect(creating).toMatchObject({ outcome: 'pass' });
      expect(verdict.exitCode).toBe(1);
    },
  );

  it('leaves the next one a new host', async () => {
    const { results } = await judge({ 'CONN-001a': pings, 'CONN-001b': pings, 'CONN-001c': createsQueues });
    expect(results.map(({ outcome }) => outcome)).toEqual(['fail', 'fail', 'pass']);
  });
});
