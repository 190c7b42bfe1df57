// Counts what a check has seen. The engine compares the counts with the check's floor: a check that ends without having seen
// anything has shown nothing, and a pass must not come of it. Also remembers the shortest wait of the check, by which the
// engine judges whether the runner itself was too slow to be believed.
import type { EvidenceFloor } from './check.ts';

export type EvidenceCounts = {
  readonly frames: number;
  readonly messages: number;
  readonly responses: number;
  readonly assertions: number;
};

export type EvidenceKind = keyof EvidenceCounts;

export class Evidence {
  readonly #counts = { frames: 0, messages: 0, responses: 0, assertions: 0 };
  #shortestWindowMs = Number.POSITIVE_INFINITY;
  #lateness: string | undefined;

  get counts(): EvidenceCounts {
    return { ...this.#counts };
  }

  /** The shortest wait or window of silence so far; infinite before the first one. */
  get shortestWindowMs(): number {
    return this.#shortestWindowMs;
  }

  count(kind: EvidenceKind): void {
    this.#counts[kind] += 1;
  }

  /**
   * Why a wait that ended in vain is not believed, in words: the broker answered a Ping after it only slowly, so that it, or the machine,
   * was busy with other things. Undefined when there is no such doubt.
   */
  get lateness(): string | undefined {
    return this.#lateness;
  }

  /** After a wait of `windowMs` ended in vain, the broker answered a Ping within `durationMs`. */
  answeredAfterWait(durationMs: number, windowMs: number): void {
    if (durationMs <= windowMs / 4) return;
    this.#lateness ??= `a wait of ${windowMs} ms ended in vain, and the Ping after it was answered in ${Math.round(durationMs)} ms: the broker had not caught up`;
  }

  window(durationMs: number): void {
    this.#shortestWindowMs = Math.min(this.#shortestWindowMs, durationMs);
  }
}

/** What is missing for a pass, in words; undefined when nothing is. At least one assertion is always required. */
export function missingEvidence(floor: EvidenceFloor, seen: EvidenceCounts): string | undefined {
  const required: EvidenceCounts = {
    frames: floor.frames ?? 0,
    messages: floor.messages ?? 0,
    responses: floor.responses ?? 0,
    assertions: Math.max(1, floor.assertions ?? 0),
  };
  const kinds: readonly EvidenceKind[] = ['frames', 'messages', 'responses', 'assertions'];
  const short = kinds.filter((kind) => seen[kind] < required[kind]);
  if (short.length === 0) return undefined;
  return short.map((kind) => `${seen[kind]} of at least ${required[kind]} ${kind}`).join(', ');
}
