// Shared connections: used again where nothing speaks against it, never where a check says that it needs its own, and only on a
// broker that the runner did not start.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Check } from '../check.ts';
import type { Broker } from '../target/broker.ts';
import { spawnBroker } from '../target/broker.ts';
import type { Target } from '../target/target-file.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions, tinyTarget } from '../testing/tiny-target.ts';
import { timingFor } from '../timing.ts';
import { runSuite } from './suite.ts';

let broker: Broker;

beforeAll(async () => {
  const { lifecycle } = tinyTarget();
  if (lifecycle.kind !== 'spawn') throw new Error('the tiny broker is spawned');
  broker = await spawnBroker(lifecycle, {}, timingFor(1));
});

afterAll(() => broker.dispose());

function attached(): Target {
  return { schema: 1, name: 'tiny', lifecycle: { kind: 'attach' }, endpoints: broker.endpoints };
}

/** Runs the checks one after another; returns how many connections were opened, and every outcome. */
async function openedBy(checks: readonly Check[], target: Target) {
  const sources = { catalogue: tinyCatalogue(checks), golden: recordedFrames() };
  const { results } = await runSuite(sources, tinyOptions({ target, jobs: 1, timeoutScale: 0.25 }), () => {});
  const opened = results.flatMap(({ trace }) => trace).filter(({ kind }) => kind === 'opened');
  return { opened: opened.length, outcomes: results.map(({ outcome }) => outcome) };
}

const pings: Check['run'] = async (ctx) => {
  const connection = await ctx.connect();
  await connection.ping();
  ctx.assert.deepEqual(
    connection.received.map(({ commandName, sequence }) => [commandName, sequence]),
    [
      ['ConnectAck', 0],
      ['Pong', 1],
    ],
    'what the check sees of its connection',
  );
};

describe('connections of checks', () => {
  const two = ['CONN-001a', 'CONN-001b'].map((id) => tinyCheck(id, pings, { evidence: { frames: 2 } }));

  it('are shared on an attached broker, and look new', async () => {
    expect(await openedBy(two, attached())).toEqual({ opened: 1, outcomes: ['pass', 'pass'] });
  });

  it('are not shared on a broker that the runner starts', async () => {
    expect(await openedBy(two, tinyTarget())).toEqual({ opened: 2, outcomes: ['pass', 'pass'] });
  });

  it('are not shared with a check that needs its own, sends headers, or failed', async () => {
    const checks = [
      tinyCheck('CONN-001a', async (ctx) => void (await (await ctx.connect({ own: true })).expect('Pong'))),
      tinyCheck('CONN-001b', async (ctx) => {
        const connection = await ctx.connect({ headers: { clientVersion: '1' } });
        await connection.ping();
        ctx.assert.equal(connection.isClosed, false, 'it is open');
      }),
      ...two.map((check) => ({
        ...check,
        id: `CONN-002${check.id.slice(-1)}`,
        clauses: ['CONN-002'] as const,
      })),
    ];
    const { opened, outcomes } = await openedBy(checks, attached());
    expect({ opened, outcomes }).toEqual({ opened: 3, outcomes: ['fail', 'pass', 'pass', 'pass'] });
  });

  it('are not shared when the check that used one closed it', async () => {
    const leaves = tinyCheck('CONN-001a', async (ctx) => {
      const connection = await ctx.connect();
      await connection.disconnect();
      await connection.closed();
    });
    const [, second = leaves] = two;
    expect(await openedBy([leaves, second], attached())).toEqual({ opened: 2, outcomes: ['pass', 'pass'] });
  });
});
