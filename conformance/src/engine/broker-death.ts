// What becomes of the result of a check whose broker ended. Pure. Who is to blame is found out by the plan runner.
import type { CheckResult } from '../result.ts';
import type { BrokerExit } from '../target/broker-process.ts';

/** A connection was not to be had, or ended by another hand than the runner's. */
export function lostConnection({ trace, evidence, outcome }: CheckResult): boolean {
  if (outcome === 'could not run') return false;
  const ends = trace.filter(({ kind, text }) => kind === 'closed' && !text.endsWith('by the runner'));
  return ends.length > 0 || evidence.frames === 0;
}

export const blamedReason = 'the broker process ended while this check ran';

/** A broker that ends is never right, whatever the level of the check that ended it. */
export function blamed(result: CheckResult, death: BrokerExit): CheckResult {
  const actual =
    result.actual === undefined ? exitText(death) : `${exitText(death)}; before that: ${result.actual}`;
  return {
    ...result,
    outcome: 'fail',
    reason: blamedReason,
    expected: 'a broker that keeps running',
    actual,
  };
}

/** Whether this check or somebody else ended an attached broker cannot be found out, so nothing is said about the check. */
export function lost(result: CheckResult, death: BrokerExit): CheckResult {
  const { expected: _expected, actual, clause: _clause, ...rest } = result;
  const before = actual === undefined ? '' : `; it saw: ${actual}`;
  const reason = `the broker was gone when this check ended: ${exitText(death)}${before}`;
  return { ...rest, outcome: 'could not run', reason };
}

export function exitText({ code, signal, fault }: BrokerExit): string {
  if (fault !== undefined) return fault;
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
