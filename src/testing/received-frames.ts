// Waits for frames in tests over real sockets.

import { expect, vi } from 'vitest';
import type { ReceivedFrame, WireClient } from './wire-client.ts';

/** The next frames, at least so many. Fails the test when they do not come within 40 s: a busy machine takes its time. */
export async function receivedFrames(wire: WireClient, count: number): Promise<readonly ReceivedFrame[]> {
  const received: ReceivedFrame[] = [];
  await vi.waitFor(
    () => {
      received.push(...wire.take());
      expect(received.length).toBeGreaterThanOrEqual(count);
    },
    { timeout: 40_000, interval: 1 },
  );
  return received;
}
