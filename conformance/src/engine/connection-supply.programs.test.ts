// A check on a broker that counts connections never waits for one while it has something under way: it has what it needs before it
// begins. Around the tiny broker, which counts none, and a target that says it does.
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

const windowMs = 1500;

async function judged(checks: readonly Check[]) {
  const target: Target = {
    schema: 1,
    name: 'tiny',
    lifecycle: { kind: 'attach' },
    endpoints: broker.endpoints,
    limits: { maxConnectionsPerIpPerWindow: 4, connectionWindowMs: windowMs },
  };
  const sources = { catalogue: tinyCatalogue(checks), golden: recordedFrames() };
  const report = await runSuite(sources, tinyOptions({ target, timeoutScale: 0.5 }), () => {});
  return report.results.map(({ id, outcome, reason }) => `${id} ${outcome} ${reason ?? ''}`.trim());
}

/** Publishes, opens one connection after another, and tells how long that took. */
function opening(more: Readonly<{ own: number; shared: number }>, times: number[]): Check['run'] {
  return async (ctx) => {
    const first = await ctx.connect();
    await first.publish(ctx.queue('q'), '1');
    const beganAt = ctx.now();
    for (let count = 0; count < more.own; count += 1) await (await ctx.connect({ own: true })).ping();
    for (let count = 0; count < more.shared; count += 1) await (await ctx.connect()).ping();
    const pong = await first.ping();
    ctx.assert.equal(pong.commandName, 'Pong', 'the answer');
    times.push(ctx.now() - beganAt);
  };
}

describe('a check on a broker that counts connections', () => {
  it.each([
    ['of its own', { own: 2, shared: 0 }],
    ['that it shares, more than one window has', { own: 0, shared: 6 }],
  ])('has its connections %s before it begins', async (_title, more) => {
    const times: number[] = [];
    const checks = ['CONN-001a', 'CONN-001b', 'CONN-001c'].map((id) => tinyCheck(id, opening(more, times)));
    expect(await judged(checks)).toEqual(['CONN-001a pass', 'CONN-001b pass', 'CONN-001c pass']);
    expect(times).toHaveLength(3);
    for (const timeMs of times) expect(timeMs).toBeLessThan(windowMs / 2);
  });

  it('waits for those of its own that no window has', async () => {
    const times: number[] = [];
    expect(await judged([tinyCheck('CONN-001a', opening({ own: 5, shared: 0 }, times))])).toEqual([
      'CONN-001a pass',
    ]);
    expect(times).toHaveLength(1);
  });

  it('is cut off from its connections when it is run again', async () => {
    const late: string[] = [];
    const strays = tinyCheck('CONN-001a', async (ctx) => {
      const first = await ctx.connect();
      const stray = async (): Promise<void> => {
        await first.ping();
        await first.ping();
        late.push((await first.ping()).id);
      };
      const others = Array.from({ length: 5 }, () => ctx.connect());
      await Promise.all([stray(), ...others]);
      const own = ctx.id().replace(/\.c-\d+$/, '.');
      const foreign = first.received.filter(
        ({ commandName, id }) => commandName === 'Pong' && !id.startsWith(own),
      );
      ctx.assert.deepEqual(foreign, [], 'Pongs of another run');
    });
    expect(await judged([strays])).toEqual(['CONN-001a pass']);
    expect(late).toHaveLength(1);
  });
});
