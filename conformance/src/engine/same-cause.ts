// Sees that a run is of no use: the first checks all fail at the same step and none passes, because the broker does not answer, cannot be
// reached or speaks another protocol. A broker that is only half built is given more time, so that what it can do is seen to pass. Pure.
import type { CheckResult } from '../result.ts';
import { Command } from '../wire/command.ts';
import { answerRule } from '../wire/reliance.ts';
import { shellWord } from './reproduce.ts';

/** So many different checks failed at one step. */
export type SameCause = {
  readonly checkCount: number;
  /** What the last of them saw. */
  readonly reason: string;
  /** The requirement of the step; undefined where no connection could be opened, for example. */
  readonly clause?: string;
};

/** How many times more checks have to fail alike on a broker that answers. */
const answeringFactor = 4;

export class SameCauseWatch {
  readonly #limit: number;
  readonly #checksByCause = new Map<string, Set<string>>();
  #hasPassed = false;
  #reached: SameCause | undefined;

  /** `limit`: different checks that got no answer, from 1, or no ConnectAck; undefined is never reached. */
  constructor(limit: number | undefined) {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
  }

  /** Undefined as long as the run may go on. */
  get reached(): SameCause | undefined {
    return this.#reached;
  }

  add(result: CheckResult): void {
    if (isContent(result)) this.#hasPassed = true;
    if (this.#hasPassed || result.reason === undefined || !isViolation(result)) return;
    const { id, reliesOn: clause, reason } = result;
    const key = clause ?? reason;
    const ids = (this.#checksByCause.get(key) ?? new Set<string>()).add(id);
    this.#checksByCause.set(key, ids);
    const factor = isWithoutAnswer(result) ? 1 : answeringFactor;
    if (ids.size < factor * this.#limit) return;
    this.#reached ??= { checkCount: ids.size, reason, ...(clause === undefined ? {} : { clause }) };
  }
}

/** A warning without a reason is one beside a pass. */
function isContent({ outcome, reason }: CheckResult): boolean {
  return outcome === 'pass' || (outcome === 'warn' && reason === undefined);
}

/** Nothing came from the broker, or nothing that accepts a Connect: no check can pass. */
function isWithoutAnswer({ reliesOn, trace }: CheckResult): boolean {
  const isAnswered = trace.some(({ kind }) => kind === 'received' || kind === 'http');
  return !isAnswered || reliesOn === answerRule(Command.Connect);
}

/** Also where nothing but a recommendation, or an option, was asked for: it may have ended at the same step. */
function isViolation({ outcome, expected }: CheckResult): boolean {
  return outcome === 'fail' || outcome === 'warn' || (outcome === 'not applicable' && expected !== undefined);
}

/** Says what was seen, and which command finds out more. */
export function sameCauseNote(
  { checkCount, reason, clause }: SameCause,
  told: {
    readonly sentence: string | undefined;
    readonly targetPath: string;
    readonly notReachedCount: number;
  },
): string {
  const { sentence, targetPath, notReachedCount } = told;
  const rule =
    clause === undefined ? '' : ` They need ${clause}${sentence === undefined ? '' : `: ${sentence}`}`;
  return `the run was stopped: ${checkCount} checks failed for the same reason and none passed (${reason}); ${notReachedCount} were not reached.${rule} To find the cause: truemq-conformance doctor --target ${shellWord(targetPath)}`;
}

const firstOfArea = 2;

/**
 * The same entries with some of every area at the beginning: a broker that keeps the rules of one area alone is seen to pass before a
 * run would be stopped.
 */
export function someOfEachAreaFirst<Entry extends { readonly check: { readonly id: string } }>(
  entries: readonly Entry[],
): readonly Entry[] {
  const counts = new Map<string, number>();
  const isFirst = entries.map(({ check }) => {
    const area = check.id.slice(0, check.id.indexOf('-'));
    const count = (counts.get(area) ?? 0) + 1;
    counts.set(area, count);
    return count <= firstOfArea;
  });
  return [...entries.filter((_, index) => isFirst[index]), ...entries.filter((_, index) => !isFirst[index])];
}
