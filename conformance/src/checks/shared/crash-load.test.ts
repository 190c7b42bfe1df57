// The crash load when a Publish is not answered: the wait for confirmations fails and does not hang.
import { describe, expect, it } from 'vitest';
import type { CheckContext } from '../../check.ts';
import type { Connection, FramePattern } from '../../connection.ts';
import { startCrashLoad } from './crash-load.ts';

const unanswered = new Error('no answer arrived');

/** Accepts everything that is sent. The wait for an answer to a Publish fails, and no Deliver arrives. */
const silentConnection = {
  subscribe: async () => {},
  send: async () => {},
  expectOrClosed: (pattern: FramePattern) =>
    pattern === 'Deliver' ? new Promise(() => {}) : Promise.reject(unanswered),
} as unknown as Connection;

describe('startCrashLoad', () => {
  it('rejects the wait for confirmations when a Publish is not answered', async () => {
    let count = 0;
    const ctx = {
      connect: async () => silentConnection,
      id: () => {
        count += 1;
        return `m-${count}`;
      },
      timing: { stopMs: 10_000 },
    } as unknown as CheckContext;
    const load = await startCrashLoad(ctx, { queues: ['q'], skipsAcks: false });
    await expect(load.waitForConfirmed(5)).rejects.toBe(unanswered);
    await expect(load.ended).rejects.toBe(unanswered);
    await expect(load.waitForConfirmed(5)).rejects.toBe(unanswered);
  });
});
