// Runs checks of which most must fail by a deadline. The first run has short deadlines. Checks for which they were too short on this
// machine (the runner was delayed, or a correct broker failed) run again with the usual deadlines, fewer at a time.
import { withCauses } from '../engine/causes.ts';
import type { RunOptions, RunReport, SuiteSources } from '../engine/suite.ts';
import { runSuite } from '../engine/suite.ts';
import type { CheckResult } from '../result.ts';
import { exitCodes } from '../verdict.ts';

/** Each try has longer deadlines, and fewer checks at the same time; in the last, what a busy machine still holds up is judged alone. */
const tries = [
  { timeoutScale: 0.25 },
  { timeoutScale: 0.5, jobs: 16 },
  { timeoutScale: 1, jobs: 8 },
  { timeoutScale: 1, jobs: 1, skipsReruns: false },
] as const;

/** `isDoubted`: an unexpected result, which must be confirmed with longer deadlines. */
export async function runQuick(
  sources: SuiteSources,
  options: RunOptions,
  isDoubted: (result: CheckResult) => boolean = () => false,
): Promise<RunReport> {
  const [quick, ...later] = tries;
  const run = (more: Partial<RunOptions>): Promise<RunReport> =>
    runSuite(sources, { ...options, skipsReruns: true, ...more }, () => {});
  let report = await run(quick);
  for (const attempt of later) {
    const unproved = report.results.filter((result) => result.starved === true || isDoubted(result));
    if (unproved.length === 0) return report;
    const only = unproved.map((result) => result.id);
    report = merged(report, await run({ ...attempt, only, skip: [] }), options);
  }
  return report;
}

/** The first run, with its results replaced by those of the later run; a target that died in either run has died. */
function merged(first: RunReport, later: RunReport, { isPart }: RunOptions): RunReport {
  const results = new Map(later.results.map((result) => [result.id, result]));
  const verdict = first.verdict.exitCode === exitCodes.target ? first.verdict : later.verdict;
  const all = first.results.map((result) => results.get(result.id) ?? result);
  // A rule that one run shows broken may block a check of the other run.
  return { ...first, verdict, results: withCauses(all, { isPart }) };
}
