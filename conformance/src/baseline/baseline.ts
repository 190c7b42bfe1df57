// Applies a baseline to results: the expected failures, the stale entries, and the entries to add for unexpected failures. Pure. It
// changes the gate and never the verdict: a broker that fails as expected is not conformant.
import type { Catalogue } from '../catalogue.ts';
import { endedBroker } from '../engine/broker-death.ts';
import type { CheckResult } from '../result.ts';
import type { Baseline, BaselineEntry } from './baseline-file.ts';

export type GateRules = {
  /** Warnings close the gate too, so that a baseline can expect them like failures. */
  readonly strict: boolean;
};

/** The result with the entry that expects it; unchanged if there is none. */
export function withBaseline(
  result: CheckResult,
  baseline: Baseline | undefined,
  rules: GateRules,
): CheckResult {
  const entry = baseline?.entries.find(({ id }) => id === result.id);
  if (entry === undefined || entry.expired || !closesGate(result, rules)) return result;
  const { expect, reason, issue, until } = entry;
  if (endedBroker(result) && expect !== 'crash') return result;
  const mark = {
    expect,
    reason,
    ...(issue === undefined ? {} : { issue }),
    ...(until === undefined ? {} : { until }),
  };
  return { ...result, baseline: mark };
}

/** A failure, a blocked check, or a warning with --strict. An error or a check that could not run cannot be expected. */
function closesGate({ outcome }: CheckResult, { strict }: GateRules): boolean {
  return outcome === 'fail' || outcome === 'blocked' || (strict && outcome === 'warn');
}

/**
 * The stale entries of the baseline, one sentence each with what to do. Entries of checks that this run did not select are ignored, so
 * that a shard or a run of one area can use the same file.
 */
export function staleEntries(
  baseline: Baseline,
  results: readonly CheckResult[],
  { catalogue, strict }: GateRules & { readonly catalogue: Catalogue },
): readonly string[] {
  return baseline.entries.flatMap((entry) => {
    const ofEntry = results.filter(({ id }) => id === entry.id);
    const why = staleReason(entry, ofEntry, { catalogue, strict });
    return why === undefined ? [] : [`${baseline.path} line ${entry.line}: ${why}`];
  });
}

function staleReason(
  entry: BaselineEntry,
  results: readonly CheckResult[],
  { catalogue, strict }: GateRules & { readonly catalogue: Catalogue },
): string | undefined {
  const { id, expect, until } = entry;
  if (catalogue.check(id) === undefined) {
    return `there is no check ${id}: remove the entry, or look up the id with "truemq-conformance list"`;
  }
  if (results.length === 0) return undefined;
  if (entry.expired) {
    const remedy = results.every((result) => hasPassed(result, strict))
      ? 'the check passes, so remove it'
      : 'repair the broker, or set a later day';
    return `the entry for ${id} ended on ${until}: ${remedy}`;
  }
  const endedCount = results.filter(endedBroker).length;
  if (endedCount > 0 && expect !== 'crash')
    return `${id} was expected to fail and ended the broker: repair that, or say "expect: crash"`;
  if (expect === 'flaky') return undefined;
  const passedCount = results.filter((result) => hasPassed(result, strict)).length;
  const isCrashGone =
    expect === 'crash' && endedCount === 0 && results.some((result) => hasFailed(result, strict));
  if (passedCount === 0) {
    return isCrashGone
      ? `${id} was expected to end the broker and only fails: say "expect: fail"`
      : undefined;
  }
  if (passedCount === results.length) return `${id} was expected to fail and passes: remove the entry`;
  return `${id} was expected to fail and passed ${passedCount} of ${results.length} times: say "expect: flaky" with a day in "until"`;
}

/** A blocked check may still end the broker when it runs. */
function hasFailed({ outcome }: CheckResult, strict: boolean): boolean {
  return outcome === 'fail' || (outcome === 'warn' && strict);
}

function hasPassed({ outcome }: CheckResult, strict: boolean): boolean {
  return outcome === 'pass' || (outcome === 'warn' && !strict);
}

/** The entries to add for unexpected failures, as YAML lines; empty if there are none. */
export function entriesToAdd(
  results: readonly CheckResult[],
  baseline: Baseline,
  rules: GateRules,
): readonly string[] {
  const listed = new Set(baseline.entries.map(({ id }) => id));
  const unexpected = results.filter((result) => closesGate(result, rules) && !listed.has(result.id));
  const byId = new Map(unexpected.map((result) => [result.id, result]));
  return [...byId.values()].flatMap((result) => [
    `- id: ${result.id}`,
    `  expect: ${endedBroker(result) ? 'crash' : 'fail'}`,
    `  reason: ${JSON.stringify(`to be explained; it said: ${result.reason ?? result.warnings[0]?.text ?? ''}`)}`,
    '  issue: https://...',
  ]);
}
