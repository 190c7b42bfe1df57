// Short deadlines come first, and what they alone brought about is not believed where it is doubted.
import { describe, expect, it } from 'vitest';
import type { CheckResult } from '../result.ts';
import { recordedFrames, tinyCatalogue, tinyCheck, tinyOptions } from '../testing/tiny-target.ts';
import { startNullBroker } from './null-broker.ts';
import { runQuick } from './quick-run.ts';

const answersWithin = (neededMs: number) =>
  tinyCheck('CONN-001a', async (ctx) =>
    ctx.assert.ok(ctx.timing.answerMs >= neededMs, 'the answer comes in time', { actual: 'it' }),
  );

async function outcomeOf(neededMs: number, isDoubted?: (result: CheckResult) => boolean) {
  const sources = { catalogue: tinyCatalogue([answersWithin(neededMs)]), golden: recordedFrames() };
  const options = tinyOptions({ startBroker: () => startNullBroker('closes') });
  const { results, verdict } = await runQuick(sources, options, isDoubted);
  return [results.map(({ outcome }) => outcome), verdict.exitCode];
}

const failed = ({ outcome }: CheckResult): boolean => outcome === 'fail';

describe('runQuick', () => {
  it('judges by short deadlines', async () => {
    expect(await outcomeOf(1000)).toEqual([['pass'], 0]);
    expect(await outcomeOf(4000)).toEqual([['fail'], 1]);
  });

  it('judges by the usual ones what is doubted', async () => {
    expect(await outcomeOf(4000, failed)).toEqual([['pass'], 0]);
    expect(await outcomeOf(4001, failed)).toEqual([['fail'], 1]);
  });
});
