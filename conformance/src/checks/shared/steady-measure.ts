// Shared by the checks that measure the broker's timers: a measurement counts only if the broker answered another client all the while, so
// that a busy machine is not taken for a late timer, nor for a slow one. Areas: RETRY, DELIVERY.
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';

/** Time between two Pings. */
const intervalMs = 50;
const maxTries = 3;

/** Which measurements count; without it each during which no Ping was answered late. */
export type SteadyMeasure<T> = {
  readonly counts?: (value: T) => boolean;
  /** The moments at which a delay changes what is measured, in time of `ctx.now()`; without it, all of the time. */
  readonly moments?: (value: T) => readonly number[];
};

type LatePing = { readonly dueAt: number; readonly answeredAt: number };

/**
 * Measures until no Ping of another client was answered later than `maxDelayMs` at a moment that matters, and the measurement counts, at most
 * three times. Returns the last measurement; if the machine was too busy each time, the check is played again alone.
 */
export async function measureSteadily<T>(
  ctx: CheckContext,
  maxDelayMs: number,
  measure: (number: number) => Promise<T>,
  { counts = () => true, moments }: SteadyMeasure<T> = {},
): Promise<T> {
  const witness = await ctx.connect({ own: true });
  for (let number = 1; ; number += 1) {
    const { value, late } = await withPings(ctx, witness, { maxDelayMs, work: measure(number) });
    const at = moments?.(value);
    const disturbing = late.filter((ping) => at === undefined || at.some((moment) => isAt(ping, moment)));
    if (disturbing.length === 0 && counts(value)) return value;
    if (number < maxTries) continue;
    if (disturbing.length > 0) {
      const delayMs = Math.max(...disturbing.map(({ dueAt, answeredAt }) => answeredAt - dueAt));
      ctx.noteLateness(
        `a Ping was answered only after ${Math.round(delayMs)} ms while the check measured, and ${maxDelayMs} ms matter to it`,
      );
    }
    return value;
  }
}

/** What delays a Ping may begin up to one interval before the Ping is due, and what it delays may come after the Pong. */
function isAt({ dueAt, answeredAt }: LatePing, moment: number): boolean {
  return moment >= dueAt - intervalMs && moment <= answeredAt + intervalMs;
}

/** The Pings that were late, by themselves or with their answer, until the work is done. */
async function withPings<T>(
  ctx: CheckContext,
  witness: Connection,
  { maxDelayMs, work }: { readonly maxDelayMs: number; readonly work: Promise<T> },
): Promise<{ readonly value: T; readonly late: readonly LatePing[] }> {
  const late: LatePing[] = [];
  let isDone = false;
  const pings = async (): Promise<void> => {
    for (let dueAt = ctx.now(); !isDone; dueAt = ctx.now() + intervalMs) {
      await pause(Math.max(0, dueAt - ctx.now()));
      const isAnswered = await witness.ping().then(
        () => true,
        () => false,
      );
      const answeredAt = isAnswered ? ctx.now() : Number.POSITIVE_INFINITY;
      if (answeredAt - dueAt > maxDelayMs) late.push({ dueAt, answeredAt });
      if (!isAnswered) return;
    }
  };
  const finished = work.finally(() => {
    isDone = true;
  });
  const [value] = await Promise.all([finished, pings()]);
  return { value, late };
}
