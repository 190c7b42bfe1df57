// The result of one run of a check, from which all reports are written. The field names and their order are those of the report JSON.
import type { Level, Profile } from './catalogue-words.ts';
import type { EvidenceCounts } from './evidence.ts';
import type { Outcome, Warning } from './outcome.ts';
import type { TraceEvent } from './trace.ts';

export type BaselineMark = {
  readonly expect: 'fail' | 'flaky' | 'crash';
  readonly reason: string;
  readonly issue?: string;
  readonly until?: string;
};

/** A broken requirement, and the checks that show it. */
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
  /** The requirement that was broken, if it is not the first of `clauses`. */
  readonly clause?: string;
  /** The requirement of the step at which the check ended, if it is not one of `clauses`. */
  readonly reliesOn?: string;
  /** Other requirements that would explain the failure if the broker breaks them, according to what the check observed. */
  readonly possibleCauses?: readonly string[];
  /** In a check of a SHOULD or MAY: the MUST of the step at which it ended. Not shown, unless another check shows that one kept or broken. */
  readonly requiredStep?: string;
  /** With outcome `blocked`: the broken requirement that explains the failure. */
  readonly blockedBy?: Blocker;
  /** With outcome `warn` or `not applicable`: a recommendation that the broker does not follow, and that explains the result. */
  readonly explainedBy?: Blocker;
  /** The check itself did not fail, but a frame or an HTTP answer broke a MUST, which is `clause`. */
  readonly watched?: true;
  /** With `watched`: when that came, in milliseconds since the start of the run. */
  readonly brokenAtMs?: number;
  /** The runner was too slow for a reliable result; with `watched`, for one of the check itself. */
  readonly starved?: true;
  /** The baseline entry that expects this outcome; then the outcome does not close the gate. */
  readonly baseline?: BaselineMark;
  readonly notes: readonly string[];
  readonly warnings: readonly Warning[];
  readonly durationMs: number;
  /** The prefix of all queue names and ids of the check; absent in logs of older runners. */
  readonly names?: string;
  /** One command line that runs this check again under the same conditions. */
  readonly reproduce: string;
  /** Starts at 1; greater than 1 only with --repeat. */
  readonly repetition: number;
  readonly trace: readonly TraceEvent[];
  /** The last lines of the broker's log, if the runner started the broker. */
  readonly brokerLog: readonly string[];
};
