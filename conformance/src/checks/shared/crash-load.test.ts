// A shift of publishers whose broker does not answer one of them: nobody waits for the others for ever.
import { describe, expect, it } from 'vitest';
import type { CheckContext } from '../../check.ts';
import type { Connection, FramePattern } from '../../connection.ts';
import { startShift } from './crash-load.ts';

const unanswered = new Error('the answer did not come');

/** Takes everything that is sent; no answer to a Publish ever comes, and neither does a Deliver. */
const silentConnection = {
  subscribe: async () => {},
  send: async () => {},
  expectOrClosed: (pattern: FramePattern) =>
    pattern === 'Deliver' ? new Promise(() => {}) : Promise.reject(unanswered),
} as unknown as Connection;

describe('startShift', () => {
  it('fails those who wait for confirmations when a publisher is not answered', async () => {
    let count = 0;
    const ctx = {
      connect: async () => silentConnection,
      id: () => {
        count += 1;
        return `m-${count}`;
      },
      timing: { stopMs: 10_000 },
    } as unknown as CheckContext;
    const shift = await startShift(ctx, { queues: ['q'], holding: false });
    await expect(shift.confirmed(5)).rejects.toBe(unanswered);
    await expect(shift.ended).rejects.toBe(unanswered);
    await expect(shift.confirmed(5)).rejects.toBe(unanswered);
  });
});
