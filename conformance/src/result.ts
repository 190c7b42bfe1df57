// What is known of one check after it ran: the record that every report is made from. The order of the fields and their names are
// those of the report JSON.
import type { Level, Profile } from './catalogue-words.ts';
import type { EvidenceCounts } from './evidence.ts';
import type { Outcome, Warning } from './outcome.ts';
import type { TraceEvent } from './trace.ts';

export type BaselineMark = {
  readonly expect: 'fail' | 'flaky';
  readonly reason: string;
  readonly issue?: string;
  readonly until?: string;
};

/** A requirement that checks about it show broken. */
export type Blocker = { readonly clause: string; readonly shownBy: readonly string[] };

export type CheckResult = {
  readonly id: string;
  readonly title: string;
  readonly level: Level;
  readonly profile: Profile;
  readonly clauses: readonly string[];
  readonly outcome: Outcome;
  readonly evidence: EvidenceCounts;
  readonly reason?: string;
  readonly expected?: string;
  readonly actual?: string;
  /** The requirement that was broken, where it is not the first of `clauses`. */
  readonly clause?: string;
  /** The requirement at whose step the check ended, where it is none of `clauses`. */
  readonly reliesOn?: string;
  /** Other requirements whose breach would explain the failure, by what the check saw of the broker. */
  readonly possibleCauses?: readonly string[];
  /** With outcome `blocked`: why nothing could be shown. */
  readonly blockedBy?: Blocker;
  /** The runner was too slow to be believed. */
  readonly starved?: true;
  /** The entry of the baseline that expects what came, where one does: a failure that closes no gate. */
  readonly baseline?: BaselineMark;
  readonly notes: readonly string[];
  readonly warnings: readonly Warning[];
  readonly durationMs: number;
  /** The beginning of every queue name and id that it used; absent in logs of older runners. */
  readonly names?: string;
  /** One command line that runs this check again under the same conditions. */
  readonly reproduce: string;
  /** From 1; more than 1 with --repeat. */
  readonly repetition: number;
  readonly trace: readonly TraceEvent[];
  /** The last lines of the broker's log, where the runner started it. */
  readonly brokerLog: readonly string[];
};
