// Shared by the checks that measure the broker's timers: a measurement counts only if the broker answered another client all the while, so
// that a busy machine is not taken for a late timer, nor for a slow one. Areas: RETRY, DELIVERY.
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';

/** Time between two Pings. */
const intervalMs = 50;
const maxTries = 3;

/**
 * Measures until a Ping of another client was never answered later than `maxDelayMs` meanwhile, and the measurement counts, at most three
 * times. Returns the last measurement; if the machine was too busy each time, the check is played again alone.
 */
export async function measureSteadily<T>(
  ctx: CheckContext,
  maxDelayMs: number,
  measure: (number: number) => Promise<T>,
  counts: (value: T) => boolean = () => true,
): Promise<T> {
  const witness = await ctx.connect({ own: true });
  for (let number = 1; ; number += 1) {
    const { value, delayMs } = await withPings(ctx, witness, measure(number));
    const isSteady = delayMs <= maxDelayMs;
    if (isSteady && counts(value)) return value;
    if (number < maxTries) continue;
    if (!isSteady) {
      ctx.noteLateness(
        `a Ping was answered only after ${Math.round(delayMs)} ms while the check measured, and ${maxDelayMs} ms matter to it`,
      );
    }
    return value;
  }
}

/** The longest delay of a Ping, or of its answer, until the work is done. */
async function withPings<T>(
  ctx: CheckContext,
  witness: Connection,
  work: Promise<T>,
): Promise<{ readonly value: T; readonly delayMs: number }> {
  let isDone = false;
  const pings = async (): Promise<number> => {
    let delayMs = 0;
    for (let dueAt = ctx.now(); !isDone; dueAt = ctx.now() + intervalMs) {
      await pause(Math.max(0, dueAt - ctx.now()));
      await witness.ping();
      delayMs = Math.max(delayMs, ctx.now() - dueAt);
    }
    return delayMs;
  };
  const pinging = pings().catch(() => Number.POSITIVE_INFINITY);
  const finished = work.finally(() => {
    isDone = true;
  });
  const [value, delayMs] = await Promise.all([finished, pinging]);
  return { value, delayMs };
}
