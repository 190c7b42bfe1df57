// Counts the frames, messages and HTTP answers that a check received, and its assertions. A check that returns with less than its minimum
// evidence, or without an assertion about one of its own requirements, does not pass: its outcome is not shown. Also keeps the shortest
// wait of the check: if the runner was delayed too long compared with it, the result is not reliable.
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
  #ownAssertionCount = 0;
  #minWaitMs = Number.POSITIVE_INFINITY;
  #lateness: string | undefined;
  #slowestAnswerMs = 0;

  /** `ownClauses`: the requirements that the check is about. */
  constructor(ownClauses: readonly string[] = []) {
    this.#ownClauses = ownClauses;
  }

  get counts(): EvidenceCounts {
    return { ...this.#counts };
  }

  /** The shortest wait so far, for a frame or for silence; infinite before the first one. */
  get minWaitMs(): number {
    return this.#minWaitMs;
  }

  /** How many assertions were about the check's own requirements. */
  get ownAssertionCount(): number {
    return this.#ownAssertionCount;
  }

  count(kind: Exclude<EvidenceKind, 'assertions'>): void {
    this.#counts[kind] += 1;
  }

  /**
   * Why a missing frame or a time proves nothing, in words: the broker or the machine was so slow that the frame may come later, or that the
   * time was its own. Undefined if neither was too slow.
   */
  get lateness(): string | undefined {
    return this.#lateness;
  }

  /** A wait of `waitMs` ended without its frame, and the broker answered the next Ping within `pingMs`. */
  addPingAfterWait(pingMs: number, waitMs: number): void {
    if (pingMs <= waitMs / 4) return;
    this.#lateness ??= `the awaited frame did not come within ${waitMs} ms, and the next Ping was answered only after ${Math.round(pingMs)} ms`;
  }

  /** The broker took so long for the answer to a command. */
  addAnswerTime(tookMs: number): void {
    this.#slowestAnswerMs = Math.max(this.#slowestAnswerMs, tookMs);
  }

  /**
   * Why times of the broker prove nothing, in words: an answer took half as long as a timer may be late, `lateMs`, or longer. Undefined if
   * none did.
   */
  overload(lateMs: number): string | undefined {
    if (this.#slowestAnswerMs < lateMs / 2) return undefined;
    return `an answer came only after ${Math.round(this.#slowestAnswerMs)} ms, so the times of this machine prove nothing`;
  }

  /** The check was still waiting for the broker at its deadline, after `checkMs`. */
  addWaitAtDeadline(checkMs: number): void {
    this.#lateness ??= `the check was still waiting for the broker at its deadline, after ${checkMs} ms`;
  }

  /** The broker or the machine was too slow for what the check measured. */
  addLateness(reason: string): void {
    this.#lateness ??= reason;
  }

  /** Counts an assertion about a requirement; the check's main one unless `clause` names another. */
  addAssertion(clause?: string): void {
    this.#counts.assertions += 1;
    if (clause === undefined || this.#ownClauses.includes(clause)) this.#ownAssertionCount += 1;
  }

  /** Counts an assertion of a step that prepares the check; about the check's own requirement only if `clause` names it. */
  addPreparation(clause?: string): void {
    if (clause === undefined) this.#counts.assertions += 1;
    else this.addAssertion(clause);
  }

  /** Call it at the start of each wait of at most `durationMs`. */
  addWait(durationMs: number): void {
    this.#minWaitMs = Math.min(this.#minWaitMs, durationMs);
  }
}

/** What is missing for a pass, in words; undefined if nothing is. One assertion about the check's own requirements is always needed. */
export function missingEvidence(
  { evidence: minimum, clauses }: Pick<Check, 'evidence' | 'clauses'>,
  { counts: seen, ownAssertionCount }: Evidence,
): string | undefined {
  const required: EvidenceCounts = {
    frames: minimum.frames ?? 0,
    messages: minimum.messages ?? 0,
    responses: minimum.responses ?? 0,
    assertions: minimum.assertions ?? 0,
  };
  const kinds: readonly EvidenceKind[] = ['frames', 'messages', 'responses', 'assertions'];
  const incomplete = kinds.filter((kind) => seen[kind] < required[kind]);
  const missing = incomplete.map((kind) => `${seen[kind]} of at least ${required[kind]} ${kind}`);
  if (ownAssertionCount === 0) missing.push(`no assertion about ${clauses.join(' or ')}`);
  return missing.length === 0 ? undefined : missing.join(', ');
}
