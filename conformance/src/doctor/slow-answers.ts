// The doctor waits longer than a run, so that it can tell a slow broker from one that does not answer; and its finding for a slow broker.
import type { Timing } from '../timing.ts';
import type { DoctorFinding } from './finding.ts';

/** The doctor's deadlines are those of a run times this factor. */
export const slowFactor = 4;

/** Deadlines that are long enough for slow answers. */
export function extendedTiming(timing: Timing): Timing {
  return { ...timing, answerMs: timing.answerMs * slowFactor, startMs: timing.startMs * slowFactor };
}

/** A finding if something took longer than a run waits; `scale` is the timeout scale of `deadlineMs`. */
export function slownessFinding(
  what: string,
  took: { readonly elapsedMs: number; readonly deadlineMs: number; readonly scale: number },
): DoctorFinding | undefined {
  const { elapsedMs, deadlineMs, scale } = took;
  if (elapsedMs <= deadlineMs) return undefined;
  const needed = Math.ceil(((elapsedMs * 1.5) / deadlineMs) * scale * 2) / 2;
  return {
    mistake: 'too-slow',
    seen: `${what} took ${seconds(elapsedMs)}, and a run waits ${seconds(deadlineMs)}: use --timeout-scale ${needed}`,
  };
}

export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
