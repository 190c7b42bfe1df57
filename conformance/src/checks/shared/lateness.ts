// Shared by the checks that must do something while a time of the broker still runs: on a busy machine the time may have passed before, so
// that what they then see is right. Such a check is played again alone. Areas: TTL, OVERFLOW, DLQ, LIMIT.
import type { CheckContext } from '../../check.ts';

/** Says that the machine was too busy, if more than `maxMs` have passed since `sinceMs`. `step`: what was done late. */
export function noteIfLate(
  ctx: CheckContext,
  { sinceMs, maxMs, step }: { readonly sinceMs: number; readonly maxMs: number; readonly step: string },
): void {
  const tookMs = ctx.now() - sinceMs;
  if (tookMs < maxMs) return;
  ctx.noteLateness(`${step} took ${Math.round(tookMs)} ms, and ${Math.round(maxMs)} ms matter to it`);
}
