// What a result means for the gate, for JUnit, TAP and Markdown. A check that could not run is not skipped: a CI system shows skipped as
// green, and an unchecked rule would look as if it were kept.
import type { LoggedResult, RunLog } from './event-log.ts';
import { verdictOfLog } from './event-log.ts';

export const gateStatuses = ['passed', 'failed', 'broken', 'expected', 'skipped'] as const;
/** `broken`: the check has no result although it should have one. `expected`: a failure that the baseline expects. */
export type GateStatus = (typeof gateStatuses)[number];

export function gateStatusOf(result: LoggedResult, strict: boolean): GateStatus {
  switch (result.outcome) {
    case 'pass':
      return 'passed';
    case 'warn':
      return strict ? unlessExpected(result) : 'passed';
    case 'fail':
      return unlessExpected(result);
    case 'blocked':
      return result.baseline === undefined ? 'broken' : 'expected';
    case 'not shown':
    case 'could not run':
    case 'error':
      return 'broken';
    case 'not applicable':
      return 'skipped';
  }
}

function unlessExpected({ baseline }: LoggedResult): GateStatus {
  return baseline === undefined ? 'failed' : 'expected';
}

/** Why the run is not green for another reason than a check: interrupted, a dead target, a stale baseline, checks not reached. */
export function wholeRunFault(log: RunLog): string | undefined {
  const { exitCode, reason } = verdictOfLog(log);
  if (exitCode === 0) return undefined;
  const told = log.results.map((result) => gateStatusOf(result, log.header.options.strict));
  const isStale = log.finish?.staleEntries !== undefined;
  if (exitCode === 1 && told.includes('failed') && !isStale) return undefined;
  return reason;
}

/** `FRAME-004a title (repetition 2)` */
export function caseName({ id, title, repetition }: LoggedResult): string {
  return repetition === 1 ? `${id} ${title}` : `${id} ${title} (repetition ${repetition})`;
}

/** What must run too, so that the check of a recommendation that ended at a step of a MUST is decided. */
export function unshownStepText({ id, requiredStep = '' }: LoggedResult): string {
  const all = `--only '${requiredStep}*' --only ${id}`;
  return `it ended at a step of ${requiredStep}, which no check of this run shows kept or broken; run them together: ${all}`;
}

/** One line about a result that is not a plain pass. */
export function headline(result: LoggedResult): string {
  if (result.outcome === 'blocked') return `blocked by ${result.blockedBy?.clause ?? 'another rule'}`;
  if (result.outcome === 'not shown' && result.requiredStep !== undefined) return unshownStepText(result);
  if (result.reason !== undefined) return result.reason.split('\n')[0] ?? '';
  const [warning] = result.warnings;
  return warning === undefined ? result.outcome : warning.text;
}

export function areaOf({ id }: { readonly id: string }): string {
  return id.slice(0, id.indexOf('-'));
}

/** The results by area, in alphabetical order. */
export function byArea(results: readonly LoggedResult[]): ReadonlyMap<string, readonly LoggedResult[]> {
  const areas = [...new Set(results.map(areaOf))].sort();
  return new Map(areas.map((area) => [area, results.filter((result) => areaOf(result) === area)]));
}
