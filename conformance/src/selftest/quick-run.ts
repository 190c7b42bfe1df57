// Runs checks that mostly have to fail, by a deadline: with short deadlines first, and those for which that was too short on this machine
// (the runner was starved, and nothing was shown; or a broker that had no time failed) again with the usual ones, fewer at a time.
import { withCauses } from '../engine/causes.ts';
import type { RunOptions, RunReport, SuiteSources } from '../engine/suite.ts';
import { runSuite } from '../engine/suite.ts';
import type { CheckResult } from '../result.ts';
import { exitCodes } from '../verdict.ts';

/** Each try has longer deadlines, and fewer checks that keep each other waiting. */
const tries = [
  { timeoutScale: 0.25 },
  { timeoutScale: 0.5, jobs: 16 },
  { timeoutScale: 1, jobs: 8 },
  { timeoutScale: 1, jobs: 1 },
] as const;

/** `isDoubted`: a result that longer deadlines have to bring as well, because nobody reckoned with it. */
export async function runQuick(
  sources: SuiteSources,
  options: RunOptions,
  isDoubted: (result: CheckResult) => boolean = () => false,
): Promise<RunReport> {
  const [quick, ...later] = tries;
  const run = (more: Partial<RunOptions>): Promise<RunReport> =>
    runSuite(sources, { ...options, leavesDoubts: true, ...more }, () => {});
  let report = await run(quick);
  for (const attempt of later) {
    const unproved = report.results.filter((result) => result.starved === true || isDoubted(result));
    if (unproved.length === 0) return report;
    const only = unproved.map((result) => result.id);
    report = merged(report, await run({ ...attempt, only, skip: [] }));
  }
  return report;
}

/** The first run with the results of a later one in the place of its own; a target that died in either has died. */
function merged(first: RunReport, later: RunReport): RunReport {
  const results = new Map(later.results.map((result) => [result.id, result]));
  const verdict = first.verdict.exitCode === exitCodes.target ? first.verdict : later.verdict;
  const all = first.results.map((result) => results.get(result.id) ?? result);
  // What one run shows broken may be what blocks a check of the other.
  return { ...first, verdict, results: withCauses(all) };
}
