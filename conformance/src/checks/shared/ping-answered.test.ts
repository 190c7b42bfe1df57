// A broker that had no processor is told from one that has stopped reading from a connection.
import { expect, it } from 'vitest';
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import type { ReceivedFrame } from '../../wire/frame.ts';
import { isPingAnswered } from './ping-answered.ts';

const SILENCE_MS = 20;

/**
 * A broker that does nothing before `heldMs`, and then answers the Pings of both connections, that of a blocked connection only if it
 * reads from it, and `lagMs` later. The time is virtual: it passes when somebody looks at it or waits for a Pong.
 */
async function seenOf(broker: {
  readonly heldMs: number;
  readonly isReading: boolean;
  readonly lagMs?: number;
}): Promise<boolean> {
  let nowMs = 0;
  const ctx = {
    now: () => {
      nowMs += 1;
      return nowMs;
    },
    id: () => 'ping',
    timing: { silenceMs: SILENCE_MS },
  } as unknown as CheckContext;
  const blocked = {
    send: async () => {},
    get received(): readonly ReceivedFrame[] {
      const isAnswered = broker.isReading && nowMs >= broker.heldMs + (broker.lagMs ?? 0);
      return isAnswered ? [{ id: 'ping' } as ReceivedFrame] : [];
    },
  } as unknown as Connection;
  const ping = async () => {
    nowMs = Math.max(nowMs, broker.heldMs);
    return { atMs: nowMs };
  };
  return isPingAnswered(ctx, blocked, { ping } as unknown as Connection);
}

it.each([
  ['reads', { heldMs: 0, isReading: true }, true],
  ['reads, and had no processor for a long time', { heldMs: 10 * SILENCE_MS, isReading: true }, true],
  ['reads, and answers it last', { heldMs: 10 * SILENCE_MS, isReading: true, lagMs: 5 }, true],
  ['does not read from it', { heldMs: 0, isReading: false }, false],
  ['does not read from it, and had no processor', { heldMs: 10 * SILENCE_MS, isReading: false }, false],
])('of a broker that %s', async (_title, broker, isAnswered) => {
  expect(await seenOf(broker)).toBe(isAnswered);
});
