// A delayed line carries everything, in order, within the given delays.

import { describe, expect, it } from 'vitest';
import { DelayedLine } from './delayed-line.ts';
import { VirtualEnvironment } from './virtual-environment.ts';

const SEEDS = [1, 2, 3, 4, 5];

/** Sends one piece per millisecond; returns the arrival times. */
async function arrivals(
  seed: number,
): Promise<readonly { readonly piece: number; readonly tookMs: number }[]> {
  const environment = new VirtualEnvironment();
  const line = new DelayedLine(environment, { seed, minDelayMs: 2, maxDelayMs: 9 });
  const arrived: { readonly piece: number; readonly tookMs: number }[] = [];
  for (let piece = 0; piece < 50; piece += 1) {
    const sentAt = environment.clock.now();
    line.send(() => void arrived.push({ piece, tookMs: environment.clock.now() - sentAt }));
    await environment.advance(1);
  }
  await environment.advance(9);
  expect(line.length).toBe(0);
  return arrived;
}

describe('a delayed line', () => {
  it.each(SEEDS)('carries in order, within the given delays (seed %d)', async (seed) => {
    const arrived = await arrivals(seed);
    expect(arrived.map(({ piece }) => piece)).toEqual(Array.from({ length: 50 }, (_, index) => index));
    const took = arrived.map(({ tookMs }) => tookMs);
    expect(Math.min(...took)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...took)).toBeLessThanOrEqual(9);
    expect(new Set(took).size).toBeGreaterThan(3);
  });

  it('has the same delays for the same seed, and others for another one', async () => {
    expect(await arrivals(1)).toEqual(await arrivals(1));
    expect(await arrivals(2)).not.toEqual(await arrivals(1));
  });

  it('does not carry within the call, however short the delay', async () => {
    const environment = new VirtualEnvironment();
    const line = new DelayedLine(environment, { seed: 1, minDelayMs: 0, maxDelayMs: 0 });
    let hasArrived = false;
    line.send(() => {
      hasArrived = true;
    });
    expect([hasArrived, line.length]).toEqual([false, 1]);
    await environment.settle();
    expect([hasArrived, line.length]).toEqual([true, 0]);
  });
});
