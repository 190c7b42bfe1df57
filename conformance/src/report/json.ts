// The report as JSON, for programs: one document of a versioned form. Traces and logs are left out; what failed says how to see them.
import type { RunReport } from '../engine/suite.ts';
import type { CheckResult } from '../result.ts';
import { countOutcomes } from '../verdict.ts';

export function reportJson(
  report: RunReport,
  runner: { readonly name: string; readonly version: string },
): string {
  const document = {
    schema: 1,
    runner,
    target: report.target,
    seed: report.seed,
    verdict: report.verdict,
    counts: countOutcomes(report.results),
    results: report.results.map(withoutTrace),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function withoutTrace({
  trace: _trace,
  brokerLog: _log,
  ...result
}: CheckResult): Omit<CheckResult, 'trace' | 'brokerLog'> {
  return result;
}
