// Tests that each null broker behaves as its name says, and that the runner tests an attached broker like a started one.
import { connect } from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { catalogueOf } from '../src/catalogue.ts';
import type { Check } from '../src/check.ts';
import type { RunOptions, RunReport } from '../src/engine/suite.ts';
import { runSuite } from '../src/engine/suite.ts';
import type { NullBrokerKind } from '../src/selftest/null-broker.ts';
import { isStateless, nullBrokerKinds, startNullBroker } from '../src/selftest/null-broker.ts';
import type { Broker } from '../src/target/broker.ts';
import { spawnBroker } from '../src/target/broker.ts';
import type { Target } from '../src/target/target-file.ts';
import {
  recordedFrames,
  tinyCatalogue,
  tinyCheck,
  tinyOptions,
  tinyTarget,
} from '../src/testing/tiny-target.ts';
import { timingFor } from '../src/timing.ts';

import { smokeCheck, smokeRequirement } from './smoke-check.ts';

const healthCheck: Check = {
  ...smokeCheck,
  id: 'SMOKE-000b',
  run: async (ctx) => {
    const answer = await ctx.http.get('/health/');
    ctx.assert.equal(answer.status, 200, 'the health server answers 200');
    ctx.assert.deepEqual(Object.keys(answer.json() as object), ['status'], 'the health record has a status');
  },
  evidence: { responses: 1 },
};

function judge(target: Target, more: Partial<RunOptions> = {}): Promise<RunReport> {
  const catalogue = catalogueOf([smokeCheck, healthCheck], [smokeRequirement]);
  return runSuite(
    { catalogue, golden: recordedFrames() },
    tinyOptions({ target, timeoutScale: 0.5, ...more }),
    () => {},
  );
}

function judgeNull(kind: NullBrokerKind): Promise<RunReport> {
  return judge(tinyTarget(), { startBroker: () => startNullBroker(kind) });
}

describe('null brokers', () => {
  it.each(nullBrokerKinds.filter((kind) => !isStateless(kind)))(
    '%s: passes neither a handshake nor a health check',
    async (kind) => {
      const report = await judgeNull(kind);
      expect(report.results.map((result) => result.outcome)).toEqual(['fail', 'fail']);
      expect(report.verdict).toMatchObject({ exitCode: 1, status: 'not conformant' });
    },
  );

  it.each(nullBrokerKinds.filter(isStateless))('%s: answers, and nothing else', async (kind) => {
    const counts: Check = {
      ...smokeCheck,
      id: 'SMOKE-000c',
      run: async (ctx) => {
        const connection = await ctx.connect();
        await connection.createQueue('q');
        await connection.publish('q', '1');
        const info = await connection.queueInfo('q');
        ctx.assert.equal(info?.['messageCount'], 1, 'messages that wait');
      },
    };
    const catalogue = catalogueOf([smokeCheck, counts], [smokeRequirement]);
    const options = tinyOptions({ startBroker: () => startNullBroker(kind) });
    const { results } = await runSuite({ catalogue, golden: recordedFrames() }, options, () => {});
    expect(results.map(({ outcome }) => outcome)).toEqual(['pass', 'fail']);
  });

  it.each([
    ['closes', 'the connection was closed'],
    ['silent', 'no matching frame within 2000 ms'],
    ['echoes', 'Connect id='],
    ['garbage', 'bytes that are not a frame'],
  ] as const)('%s: the report says "%s"', async (kind, text) => {
    const report = await judgeNull(kind);
    expect(report.results[0]?.actual).toContain(text);
  });

  it('can stop and start like a process', async () => {
    const broker = await startNullBroker('silent');
    const { port } = broker.endpoints.tcp;
    const exit = broker.exit;
    await broker.crash();
    expect(await exit).toEqual({ code: null, signal: 'SIGKILL' });
    await broker.start();
    expect(broker.endpoints.tcp.port).not.toBe(port);
    await broker.dispose();
  });
});

describe('an attached broker', () => {
  const started: Broker[] = [];
  afterAll(async () => {
    for (const broker of started) await broker.dispose();
  });

  async function attach(limits: Target['limits'] = {}): Promise<Target> {
    const { lifecycle } = tinyTarget();
    if (lifecycle.kind !== 'spawn') throw new Error('the tiny broker is spawned');
    const broker = await spawnBroker(lifecycle, {}, timingFor(1));
    started.push(broker);
    return {
      schema: 1,
      name: 'attached',
      lifecycle: { kind: 'attach' },
      endpoints: broker.endpoints,
      limits,
    };
  }

  it('is tested, and still runs afterwards', async () => {
    const target = await attach();
    const report = await judge(target);
    expect(report.results.map((result) => result.outcome)).toEqual(['pass', 'pass']);
    expect(report.verdict.exitCode).toBe(0);
    const { host, port } = target.endpoints?.tcp ?? { host: '', port: 0 };
    const socket = connect({ host, port });
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    socket.destroy();
  });

  it('gets no more connections than it declares to accept', async () => {
    const target = await attach({ maxConnectionsPerIpPerWindow: 1, connectionWindowMs: 700 });
    const twice: Check = {
      ...smokeCheck,
      run: async (ctx) => {
        const first = ctx.now();
        await ctx.rawConnect();
        await ctx.rawConnect();
        ctx.assert.between(ctx.now() - first, 690, 5000, 'the second connection waited for its turn');
      },
      evidence: {},
    };
    const sources = { catalogue: catalogueOf([twice], [smokeRequirement]), golden: recordedFrames() };
    const report = await runSuite(sources, tinyOptions({ target }), () => {});
    expect(report.results[0]).toMatchObject({ outcome: 'pass' });
  });
});

describe('a run in which no check passes', () => {
  const letters = [...'abcdefghijklmnopqrstuvwxyz'];
  const connects: Check['run'] = async (ctx) => {
    await ctx.connect();
    ctx.assert.ok(true, 'it is connected', { actual: 'it' });
  };
  const catalogue = tinyCatalogue(letters.map((letter) => tinyCheck(`CONN-001${letter}`, connects)));
  const judged = (more: Partial<RunOptions>): Promise<RunReport> =>
    runSuite(
      { catalogue, golden: recordedFrames() },
      tinyOptions({ timeoutScale: 0.25, sameCauseLimit: 6, ...more }),
      () => {},
    );

  it('is stopped, closes the gate, and names the command that finds the cause', async () => {
    const { results, notReachedCount, notes, verdict } = await judged({
      startBroker: () => startNullBroker('silent'),
    });
    // Checks that already run at the sixth failure run to their end.
    expect(results.length).toBeGreaterThanOrEqual(6);
    expect(results.length).toBeLessThan(6 + 4);
    expect(results.length + notReachedCount).toBe(letters.length);
    expect(verdict).toMatchObject({ gate: 'closed', exitCode: 1 });
    expect(notes?.[0]).toMatch(/^the run was stopped: 6 checks failed .* They need CONN-005/);
    expect(notes?.[0]).toContain('truemq-conformance doctor --target tiny.json');
  });

  it('is not stopped if the broker answers, or without a limit', async () => {
    const answered = await judged({});
    expect([answered.results.length, answered.notReachedCount]).toEqual([letters.length, 0]);
    const closing = { startBroker: () => startNullBroker('closes') };
    const { sameCauseLimit: _, ...unlimited } = tinyOptions({ timeoutScale: 0.25, ...closing });
    const whole = await runSuite({ catalogue, golden: recordedFrames() }, unlimited, () => {});
    expect(whole.notReachedCount).toBe(0);
  });
});
