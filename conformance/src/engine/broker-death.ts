// The result of a check whose broker ended. Pure. The plan runner finds out which check ended it.
import type { CheckResult } from '../result.ts';
import type { BrokerExit } from '../target/broker-process.ts';

/** Whether a connection could not be opened, or was not closed by the runner. */
export function lostConnection({ trace, evidence, outcome }: CheckResult): boolean {
  if (outcome === 'could not run') return false;
  const ends = trace.filter(({ kind, text }) => kind === 'closed' && !text.endsWith('by the runner'));
  return ends.length > 0 || evidence.frames === 0;
}

export const blamedReason = 'the broker process ended while this check ran';

/** Whether the check has ended the broker. */
export function endedBroker({ outcome, reason }: CheckResult): boolean {
  return outcome === 'fail' && reason === blamedReason;
}

/** A broker must not end, whatever the level of the check that ended it. */
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

/** The runner cannot find out who ended an attached broker, so the check could not run. */
export function lost(result: CheckResult, death: BrokerExit): CheckResult {
  const { expected: _expected, actual, clause: _clause, ...rest } = result;
  const before = actual === undefined ? '' : `; it saw: ${actual}`;
  const reason = `the broker had ended before this check did: ${exitText(death)}${before}`;
  return { ...rest, outcome: 'could not run', reason };
}

export function exitText({ code, signal, fault }: BrokerExit): string {
  if (fault !== undefined) return fault;
  return signal === null ? `exit code ${code}` : `signal ${signal}`;
}
