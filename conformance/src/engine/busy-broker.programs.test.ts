// A broker that other checks keep busy may not answer a Connect in time: that is told from one that never answers it.
import { describe, expect, it } from 'vitest';
import type { Check } from '../check.ts';
import type { CheckResult } from '../result.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions, tinyTarget } from '../testing/tiny-target.ts';
import { runSuite } from './suite.ts';

/** The broker ignores so many Connects that contain the word ignored. */
async function resultsOf(checks: readonly Check[], ignoredCount: number): Promise<readonly CheckResult[]> {
  const options = { target: tinyTarget({ TINY_IGNORE: String(ignoredCount) }), timeoutScale: 0.25 };
  const sources = { catalogue: tinyCatalogue(checks), golden: recordedFrames() };
  return (await runSuite(sources, tinyOptions(options), () => {})).results;
}

describe('a check whose Connect got no answer while the broker was busy with another check', () => {
  const connects = tinyCheck('CONN-001a', async (ctx) => {
    const connection = await ctx.connect({ headers: { 'client-name': 'ignored' } });
    const pong = await connection.ping();
    ctx.assert.equal(pong.commandName, 'Pong', 'Ping is answered');
  });
  const busy = tinyCheck('CONN-002a', async (ctx) => {
    const connection = await ctx.connect();
    const until = performance.now() + 2500;
    while (performance.now() < until) {
      const pong = await connection.ping();
      ctx.assert.equal(pong.commandName, 'Pong', 'Ping is answered');
    }
  });

  it('is played again alone, and passes when it was that', async () => {
    const results = await resultsOf([connects, busy], 1);
    expect(results.map(({ outcome }) => outcome)).toEqual(['pass', 'pass']);
    expect(results[0]?.notes).toEqual([expect.stringContaining('too busy')]);
  });

  it('is played again alone, and fails when it was not', async () => {
    const results = await resultsOf([connects, busy], 100);
    expect(results.map(({ outcome }) => outcome)).toEqual(['fail', 'pass']);
    expect(results[0]?.notes).toEqual([expect.stringContaining('too busy')]);
  });

  it('is played again alone when the broker answered nobody until soon after it', async () => {
    const later = tinyCheck('CONN-001a', async (ctx) => {
      await (await ctx.connect()).expectSilence('Deliver', 300, 'no delivery');
      await connects.run(ctx);
    });
    const heldUp = tinyCheck('CONN-002a', async (ctx) => {
      const connection = await ctx.connect();
      // 300 ms of silence, 1 s in which the Connect got no answer, and half of the second in which the broker may still send.
      await connection.expectSilence('Deliver', 1800, 'no delivery');
      const pong = await connection.ping();
      ctx.assert.equal(pong.commandName, 'Pong', 'Ping is answered');
    });
    const results = await resultsOf([later, heldUp], 1);
    expect(results.map(({ outcome }) => outcome)).toEqual(['pass', 'pass']);
    expect(results[0]?.notes).toEqual([expect.stringContaining('too busy')]);
  });

  it('fails when the broker answered nobody, not even soon afterwards', async () => {
    const results = await resultsOf([connects], 1);
    expect(results).toMatchObject([{ outcome: 'fail', notes: [] }]);
  });
});
