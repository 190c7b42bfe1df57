// Counts what a check has seen, and the assertions that it made about its own requirements. The engine compares the counts with the
// check's floor: a check that returns with less, or without an assertion about one of its own requirements, has shown nothing, and
// does not pass. Also remembers the shortest wait of the check, by which the engine judges whether the runner itself was too slow to
// be believed.
import type { Check } from './check.ts';

export type EvidenceCounts = {
  readonly frames: number;
  readonly messages: number;
  readonly responses: number;
  readonly assertions: number;
};

export type EvidenceKind = keyof EvidenceCounts;

export class Evidence {
  readonly #counts = { frames: 0, messages: 0, responses: 0, assertions: 0 };
  readonly #ownClauses: readonly string[];
  #decisiveCount = 0;
  #shortestWindowMs = Number.POSITIVE_INFINITY;
  #lateness: string | undefined;

  /** `ownClauses`: the requirements that the check stands on. */
  constructor(ownClauses: readonly string[] = []) {
    this.#ownClauses = ownClauses;
  }

  get counts(): EvidenceCounts {
    return { ...this.#counts };
  }

  /** The shortest wait or window of silence so far; infinite before the first one. */
  get shortestWindowMs(): number {
    return this.#shortestWindowMs;
  }

  /** The assertions about the check's own requirements. */
  get decisiveCount(): number {
    return this.#decisiveCount;
  }

  count(kind: Exclude<EvidenceKind, 'assertions'>): void {
    this.#counts[kind] += 1;
  }

  /**
   * Why what did not come in time proves nothing, in words: the broker, or the machine, was so slow that it may come later. Undefined when
   * there is no such doubt.
   */
  get lateness(): string | undefined {
    return this.#lateness;
  }

  /** After a wait of `windowMs` ended in vain, the broker answered a Ping within `durationMs`. */
  answeredAfterWait(durationMs: number, windowMs: number): void {
    if (durationMs <= windowMs / 4) return;
    this.#lateness ??= `a wait of ${windowMs} ms ended in vain, and the Ping after it was answered in ${Math.round(durationMs)} ms: the broker had not caught up`;
  }

  /** The check was ended at its deadline, while it waited for the broker. */
  endedAtDeadline(durationMs: number): void {
    this.#lateness ??= `the check waited for the broker when its ${durationMs} ms were over`;
  }

  /** Counts an assertion about a requirement; the check's main one unless `clause` names another. */
  assertion(clause?: string): void {
    this.#counts.assertions += 1;
    if (clause === undefined || this.#ownClauses.includes(clause)) this.#decisiveCount += 1;
  }

  /** Counts an assertion that prepares what the check is about. */
  preparation(clause?: string): void {
    if (clause === undefined) this.#counts.assertions += 1;
    else this.assertion(clause);
  }

  window(durationMs: number): void {
    this.#shortestWindowMs = Math.min(this.#shortestWindowMs, durationMs);
  }
}

/** What is missing for a pass, in words; undefined when nothing is. An assertion about one of the check's own requirements always is. */
export function missingEvidence(
  { evidence: floor, clauses }: Pick<Check, 'evidence' | 'clauses'>,
  { counts: seen, decisiveCount }: Evidence,
): string | undefined {
  const required: EvidenceCounts = {
    frames: floor.frames ?? 0,
    messages: floor.messages ?? 0,
    responses: floor.responses ?? 0,
    assertions: floor.assertions ?? 0,
  };
  const kinds: readonly EvidenceKind[] = ['frames', 'messages', 'responses', 'assertions'];
  const short = kinds.filter((kind) => seen[kind] < required[kind]);
  const missing = short.map((kind) => `${seen[kind]} of at least ${required[kind]} ${kind}`);
  if (decisiveCount === 0) missing.push(`no assertion about ${clauses.join(' or ')}`);
  return missing.length === 0 ? undefined : missing.join(', ');
}
