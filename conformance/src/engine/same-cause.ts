// Detects a useless run: the first checks all fail at the same step and none passes, because the broker does not answer, cannot be reached
// or speaks another protocol. A broker that answers gets more checks before the run is stopped, so that the checks of its finished parts
// can pass. Pure.
import type { CheckResult } from '../result.ts';
import { answerRule } from '../wire/check-traffic.ts';
import { Command } from '../wire/command.ts';
import type { ReachOptions } from './reproduce.ts';
import { reachWords, scaleWords } from './reproduce.ts';
import type { RunOptions } from './suite.ts';

/** How many different checks failed at one step, and why. */
export type SameCause = {
  readonly checkCount: number;
  /** The reason of the last failure. */
  readonly reason: string;
  /** The requirement of the step; undefined if there is none, for example if no connection could be opened. */
  readonly clause?: string;
};

/** The limit is this many times higher for a broker that answers. */
const answeringFactor = 4;

export class SameCauseWatch {
  readonly #limit: number;
  readonly #checksByCause = new Map<string, Set<string>>();
  #hasPassed = false;
  #reached: SameCause | undefined;

  /** `limit`: the number of different checks that got no answer or no ConnectAck, from 1; undefined: no limit. */
  constructor(limit: number | undefined) {
    this.#limit = limit ?? Number.POSITIVE_INFINITY;
  }

  /** The cause to stop the run for; undefined if the run may continue. */
  get reached(): SameCause | undefined {
    return this.#reached;
  }

  add(result: CheckResult): void {
    if (isPassed(result)) this.#hasPassed = true;
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

/** A warning without a reason belongs to a check that passed. */
function isPassed({ outcome, reason }: CheckResult): boolean {
  return outcome === 'pass' || (outcome === 'warn' && reason === undefined);
}

/** The broker sent nothing, or no ConnectAck: no check can pass. */
function isWithoutAnswer({ reliesOn, trace }: CheckResult): boolean {
  const isAnswered = trace.some(({ kind }) => kind === 'received' || kind === 'http');
  return !isAnswered || reliesOn === answerRule(Command.Connect);
}

/** Also for checks of recommendations and options: they may have failed at the same step. */
function isViolation({ outcome, expected }: CheckResult): boolean {
  return outcome === 'fail' || outcome === 'warn' || (outcome === 'not applicable' && expected !== undefined);
}

/** The note for the report: what happened, and which command finds the cause. */
export function sameCauseNote(
  { checkCount, reason, clause }: SameCause,
  told: ReachOptions &
    Pick<RunOptions, 'timeoutScale'> & {
      readonly sentence: string | undefined;
      readonly notReachedCount: number;
    },
): string {
  const { sentence, notReachedCount } = told;
  const rule =
    clause === undefined ? '' : ` They need ${clause}${sentence === undefined ? '' : `: ${sentence}`}`;
  return `the run was stopped: ${checkCount} checks failed for the same reason and none passed (${reason}); ${notReachedCount} were not reached.${rule} To find the cause: truemq-conformance doctor ${reachWords(told)}${scaleWords(told)}`;
}

const firstOfArea = 2;

/**
 * The same entries with a few of every area at the beginning, so that a broker that follows the rules of one area only passes a check
 * before the run would be stopped.
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
