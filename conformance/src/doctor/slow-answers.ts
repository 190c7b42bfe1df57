// How much longer than the runner the doctor waits, to tell the slow from the silent, and what it says of the slow.
import type { Timing } from '../timing.ts';
import type { DoctorFinding } from './finding.ts';

/** Times the deadline of a run. */
export const slowFactor = 4;

/** The deadlines of a visitor who waits for slow answers too. */
export function extendedTiming(timing: Timing): Timing {
  return { ...timing, answerMs: timing.answerMs * slowFactor, startMs: timing.startMs * slowFactor };
}

/** A finding when something took longer than a run would wait; `scale` is the one that the deadline was made with. */
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
