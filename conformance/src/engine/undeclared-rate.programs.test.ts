// A run on a broker that limits the rate of connections, with a target file that does not say so: what the broker refuses then is the fault
// of the runner, unless the broker refuses it at the rate of the protocol's defaults too.
import { afterEach, describe, expect, it } from 'vitest';
import type { Check } from '../check.ts';
import type { Broker } from '../target/broker.ts';
import { spawnBroker } from '../target/broker.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions, tinyTarget } from '../testing/tiny-target.ts';
import { timingFor } from '../timing.ts';
import type { RunReport } from './suite.ts';
import { runSuite } from './suite.ts';

let broker: Broker | undefined;

afterEach(() => broker?.dispose());

const windowMs = 1500;

/** `rate`: connections / milliseconds. */
async function judged(rate: string, checks: readonly Check[]): Promise<RunReport & { notices: string[] }> {
  const { lifecycle } = tinyTarget({ TINY_RATE: rate });
  if (lifecycle.kind !== 'spawn') throw new Error('the tiny broker is spawned');
  broker = await spawnBroker(lifecycle, {}, timingFor(1));
  const notices: string[] = [];
  const options = tinyOptions({
    target: {
      schema: 1,
      name: 'tiny',
      lifecycle: { kind: 'attach' },
      endpoints: broker.endpoints,
      limits: { connectionWindowMs: windowMs },
    },
    timeoutScale: 0.5,
    notice: (text) => notices.push(text),
  });
  const sources = { catalogue: tinyCatalogue(checks), golden: recordedFrames() };
  return { ...(await runSuite(sources, options, () => {})), notices };
}

function outcomes({ results }: RunReport): readonly string[] {
  return results.map(({ id, outcome }) => `${id} ${outcome}`);
}

/** Each opens eight connections of its own. */
const greedy = ['a', 'b', 'c'].map((letter) =>
  tinyCheck(`CONN-001${letter}`, async (ctx) => {
    for (let count = 0; count < 8; count += 1) {
      const pong = await (await ctx.connect({ own: true })).ping();
      ctx.assert.equal(pong.commandName, 'Pong', 'Ping is answered');
    }
  }),
);

const tellsTheKeys =
  /^the broker refused .* keeps to 20 connections in 1\.5 s.* Declare limits\.maxConnectionsPerIpPerWindow/;

describe('a rate limit that the target file does not declare', () => {
  it('fails no check: the run keeps to the defaults, and says so at once and under the verdict', async () => {
    const report = await judged(`20/${windowMs}`, greedy);
    expect(outcomes(report)).toEqual(greedy.map(({ id }) => `${id} pass`));
    expect(report.notices).toEqual([expect.stringMatching(tellsTheKeys)]);
    expect(report.notes).toContain(report.notices[0]);
    expect(report.verdict.exitCode).toBe(0);
  });

  it('fails checks when it is lower than the defaults, with the same note', async () => {
    const report = await judged('19/1000000', greedy);
    expect(report.verdict.exitCode).toBe(1);
    expect(report.notes).toContainEqual(expect.stringMatching(tellsTheKeys));
  });

  it('is not seen in a connection that the broker ends for another reason', async () => {
    const leaving = tinyCheck('CONN-001a', async (ctx) => {
      const connection = await ctx.rawConnect();
      await connection.disconnect();
      await connection.closed();
      ctx.assert.ok(true, 'the broker ends the connection', { actual: 'it did' });
    });
    const report = await judged(`20/${windowMs}`, [leaving]);
    expect(outcomes(report)).toEqual(['CONN-001a pass']);
    expect(report.notes).toEqual([]);
  });
});
