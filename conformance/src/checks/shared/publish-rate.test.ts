// Many publishes stay under the rate that a target declares, and are as fast as the broker where none is known.
import { expect, it } from 'vitest';
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { publishMany } from './subscribers.ts';

/** When each message was published, in ms. */
async function timesOf(count: number, publishesPerSecond: number | undefined): Promise<readonly number[]> {
  const startedAt = performance.now();
  const now = (): number => performance.now() - startedAt;
  const times: number[] = [];
  const publisher = { publish: async () => void times.push(now()) } as unknown as Connection;
  let idCount = 0;
  const id = (): string => {
    idCount += 1;
    return `m-${idCount}`;
  };
  const ctx = { now, id, target: { publishesPerSecond } } as unknown as CheckContext;
  await publishMany(ctx, publisher, 'q', count);
  return times;
}

it('sends no more than the declared rate', async () => {
  const times = await timesOf(1000, 5000);
  expect(times).toHaveLength(1000);
  // Never more than four fifths of the rate, and a fifth of it at once.
  const tooEarly = times.filter((atMs, index) => index + 1 > 4 * atMs + 1000);
  expect(tooEarly).toEqual([]);
  expect(times.at(-1)).toBeGreaterThanOrEqual(200 - 1);
});

it('sends groups that are no larger than a fifth of the rate', async () => {
  const times = await timesOf(40, 100);
  expect(times.at(-1)).toBeGreaterThanOrEqual(250 - 1);
});

it('does not wait where no rate is known', async () => {
  expect(await timesOf(1000, undefined)).toHaveLength(1000);
});
