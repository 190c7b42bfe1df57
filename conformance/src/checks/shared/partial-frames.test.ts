// A frame that is sent byte by byte is complete long before frameTimeout, however slow the network is.
import { expect, it } from 'vitest';
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { sendBytewise } from './partial-frames.ts';

/** Sends a frame of 100 bytes to a broker whose Pongs take so long. The time is virtual. */
async function sendingWith(roundTripMs: number, frameTimeoutMs: number) {
  let nowMs = 0;
  const sent: Buffer[] = [];
  /** The number of bytes that had been sent before each Ping. */
  const pings: number[] = [];
  const ctx = { now: () => nowMs, target: { frameTimeoutMs } } as unknown as CheckContext;
  const connection = { sendPieces: async (pieces: readonly Buffer[]) => void sent.push(...pieces) };
  const other = {
    ping: async () => {
      pings.push(sent.length);
      nowMs += roundTripMs;
    },
  };
  const frame = Buffer.from(Array.from({ length: 100 }, (_, index) => index));
  await sendBytewise(ctx, connection as unknown as Connection, other as unknown as Connection, frame);
  expect(sent).toEqual(Array.from(frame, (byte) => Buffer.from([byte])));
  return { pings, nowMs };
}

it('sends a Ping after each byte on a fast network', async () => {
  const { pings } = await sendingWith(20, 30_000);
  expect(pings).toEqual(Array.from({ length: 100 }, (_, index) => index + 1));
});

it.each([
  [400, 30_000],
  [3000, 30_000],
  [100, 1000],
])('with %i ms for a Pong it takes a tenth of %i ms, and two Pongs', async (roundTripMs, frameTimeoutMs) => {
  const { nowMs, pings } = await sendingWith(roundTripMs, frameTimeoutMs);
  expect(nowMs).toBeLessThanOrEqual(frameTimeoutMs / 10 + 2 * roundTripMs);
  expect(pings.length).toBeGreaterThan(1);
});

it('sends a Ping within the head and within the body, however slow the network is', async () => {
  const { pings } = await sendingWith(10_000, 30_000);
  expect(pings).toEqual([1, 51]);
});

it('spreads the Pings over the frame on a slow network', async () => {
  const { pings } = await sendingWith(400, 30_000);
  expect(pings).toEqual([1, 14, 27, 40, 51, 67, 80, 94]);
});
