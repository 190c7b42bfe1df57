// Several runs on one attached broker: the built reference broker without rate limits. Runs can use the same seed, also at the same time,
// and no run leaves a queue. Brokers that demand credentials are right brokers too, for a run that has them.
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import targetSchema from '../schemas/target.schema.json' with { type: 'json' };
import type { AuthenticationSettings, ConfigurationRequest } from '../src/configuration.ts';
import type { RunOptions, RunReport } from '../src/engine/suite.ts';
import { runSuite } from '../src/engine/suite.ts';
import { ProbeClient } from '../src/observation/probe-client.ts';
import { loadSuiteData } from '../src/suite-data.ts';
import type { Broker } from '../src/target/broker.ts';
import { attachedBroker, spawnBroker } from '../src/target/broker.ts';
import type { Schema } from '../src/target/schema-check.ts';
import { schemaFaults } from '../src/target/schema-check.ts';
import type { Target } from '../src/target/target-file.ts';
import { readTarget } from '../src/target/target-file.ts';
import { tinyOptions } from '../src/testing/tiny-target.ts';
import { timingFor } from '../src/timing.ts';
import { catalogue, volumeChecks } from './phases.ts';
import { root } from './root.ts';

let broker: Broker;

function started(request: ConfigurationRequest): Promise<Broker> {
  const { lifecycle } = readTarget(join(root, 'conformance/targets/truemq.json'));
  if (lifecycle.kind !== 'spawn') throw new Error('the reference broker is spawned');
  return spawnBroker(lifecycle, request, timingFor(1));
}

beforeAll(async () => {
  broker = await started({});
});

afterAll(() => broker.dispose());

function attached({ endpoints }: Pick<Broker, 'endpoints'> = broker): Target {
  return {
    schema: 1,
    name: 'attached',
    lifecycle: { kind: 'attach' },
    endpoints,
    profiles: ['core', 'delivery', 'retry-dlq', 'compression', 'dashboard'],
    capabilities: ['brotli', 'gzip', 'nack', 'maxInFlight', 'prometheus'],
  };
}

function run(more: Partial<RunOptions>): Promise<RunReport> {
  const sources = { catalogue: catalogue(), golden: loadSuiteData().golden };
  return runSuite(sources, tinyOptions({ target: attached(), timeoutScale: 2, ...more }), () => {});
}

/** The failures of a run. Leaves out checks whose runner had too little CPU time: they show nothing about names. */
function blamed({ results }: RunReport): readonly string[] {
  const others = results.filter(({ outcome, starved }) => outcome !== 'pass' && starved !== true);
  return others.map(({ id, outcome, reason, actual }) => `${outcome} ${id}: ${reason}; ${actual}`);
}

async function queuesLeft(): Promise<readonly string[]> {
  const client = new ProbeClient({ tcp: broker.endpoints.tcp, timing: timingFor(1), name: 'look' });
  const names = await (await client.connect()).listQueues();
  await client.cleanUp();
  return names;
}

const part = {
  seed: 7,
  profiles: ['core', 'retry-dlq'],
  only: ['QUEUE-00*', 'PUBLISH-00*', 'DLQ-001a', 'DLQ-003a', 'FRAME-01*', 'CONN'],
  // Thousands of messages show nothing more about names.
  skip: volumeChecks,
} as const;

describe('runs on an attached broker', () => {
  it('pass with the same seed twice, one after the other, and leave no queue', async () => {
    for (const seed of [part.seed, part.seed]) {
      const report = await run({ ...part, seed });
      expect(blamed(report)).toEqual([]);
      expect(report.notes).toEqual([]);
      expect(await queuesLeft()).toEqual([]);
    }
  });

  it('pass with the same seed at the same time, and leave no queue', async () => {
    const reports = await Promise.all([run(part), run(part)]);
    expect(reports.map(blamed)).toEqual([[], []]);
    expect(await queuesLeft()).toEqual([]);
  });

  it('make the same choices with the same seed, with other names', async () => {
    const choices = async (): Promise<readonly string[]> => {
      const { results } = await run({ seed: 7, only: ['PUBLISH-002a', 'QUEUE-001a'] });
      return results.map(({ id, names = '', trace }) => {
        const sent = trace.filter(({ kind }) => kind === 'sent').map(({ text }) => text);
        expect(sent.join('\n')).toContain(names);
        return `${id}\n${sent.join('\n').replaceAll(names, 'NAMES')}`;
      });
    };
    expect(await choices()).toEqual(await choices());
  });

  it('leave no queue of interrupted checks', async () => {
    const interrupt = new AbortController();
    const running = run({ ...part, signal: interrupt.signal });
    await expect.poll(queuesLeft, { timeout: 10_000 }).not.toEqual([]);
    interrupt.abort();
    await running;
    await expect.poll(queuesLeft, { timeout: 10_000 }).toEqual([]);
  });
});

it('with the smallest messages that a target may declare nothing is too large for it', async () => {
  const maxMessageSizeBytes = 16_384;
  const small = await started({ limits: { maxMessageSizeBytes } });
  try {
    const target: Target = { ...attached(small), limits: { maxMessageSizeBytes } };
    expect(schemaFaults(targetSchema as Schema, target)).toEqual([]);
    const large = ['DASH-014a', 'DELIVERY-028a', 'DELIVERY-048a', 'DELIVERY-048b', 'DELIVERY-053c'];
    const only = ['FRAME-00*', 'FRAME-018a', 'BODY', 'COMPRESS', ...large];
    const report = await run({ target, profiles: [], only });
    expect(report.results.length).toBeGreaterThan(60);
    expect(blamed(report).filter((line) => !line.includes('and this target is attached'))).toEqual([]);
  } finally {
    await small.dispose();
  }
});

describe('runs on a broker that demands credentials', () => {
  const someChecks = {
    profiles: ['core', 'auth'],
    only: ['CONN-00*', 'FRAME-01*', 'QUEUE-001a', 'AUTH-046a'],
    // They are about these rules too, and need a broker with a token or users of their own.
    skip: ['AUTH-008b', 'FRAME-025b'],
  } as const;

  async function runOnBrokerWith(
    authentication: AuthenticationSettings,
    options: (broker: Broker) => Partial<RunOptions>,
  ): Promise<RunReport> {
    const secured = await started({ authentication });
    try {
      return await run({ ...someChecks, ...options(secured) });
    } finally {
      await secured.dispose();
    }
  }

  it('pass as a user, but for what does not apply when authorization is on', async () => {
    const superuser = { username: 'root', password: 'secret' };
    const report = await runOnBrokerWith({ superuser, passwordCost: 4 }, (secured) => ({
      target: attached(secured),
      credentials: { authUsername: 'root', authPassword: 'secret' },
    }));
    expect(report.results.length).toBeGreaterThan(20);
    expect(blamed(report)).toEqual([
      'not applicable AUTH-046a: the runner logs in as a user, so authorization is on; undefined',
    ]);
  });

  it('pass with a token, also the checks that need a broker of their own', async () => {
    const token = 'a-token-of-thirty-two-characters';
    const report = await runOnBrokerWith({ token }, ({ endpoints: { tcp } }) => ({
      target: { ...attached({ endpoints: { tcp } }), lifecycle: { kind: 'hooks', start: '', stop: '' } },
      // What the hooks start is one broker for all checks, so that the test starts one program.
      startBroker: ({ timing }) => attachedBroker({ tcp }, timing),
      only: [...someChecks.only, 'FRAME-009a'],
      credentials: { authToken: token },
    }));
    expect(report.results.map(({ id }) => id)).toContain('FRAME-009a');
    expect(blamed(report)).toEqual([]);
  });
});
