// The assertions that checks make. Each call counts, whether it holds or not; each failure says the rule in words, what was
// expected and what came. They judge the broker: a broken assertion is never the runner's fault.
import { isDeepStrictEqual } from 'node:util';
import type { Assertions, Detail } from './check.ts';
import type { Evidence } from './evidence.ts';
import { display, ExpectationFailure } from './expectation.ts';
import type { JsonText } from './json-value.ts';
import { isSameJson } from './json-value.ts';

type Verdict = {
  readonly holds: boolean;
  readonly expected: string;
  readonly actual: unknown;
  /** Of `actual`, where it is a number that needs one. */
  readonly unit?: string;
};

export function assertionsFor(evidence: Evidence): Assertions {
  const judge = (
    verdict: Verdict,
    what: string,
    clause: string | undefined,
    possibleCauses: readonly string[] = [],
  ): void => {
    evidence.assertion(clause);
    if (verdict.holds) return;
    throw new ExpectationFailure(what, {
      expected: verdict.expected,
      actual: `${display(verdict.actual)}${verdict.unit === undefined ? '' : ` ${verdict.unit}`}`,
      clause,
      possibleCauses,
    });
  };
  return {
    equal: (actual, expected, what, clause) =>
      judge({ holds: Object.is(actual, expected), expected: display(expected), actual }, what, clause),
    notEqual: (actual, unexpected, what, clause) =>
      judge(
        { holds: !Object.is(actual, unexpected), expected: `not ${display(unexpected)}`, actual },
        what,
        clause,
      ),
    sameJson: (actual, expected, what, clause) => judge(jsonVerdict(actual, expected), what, clause),
    deepEqual: (actual, expected, what, clause) =>
      judge(
        { holds: isDeepStrictEqual(actual, expected), expected: display(expected), actual },
        what,
        clause,
      ),
    oneOf: (actual, expected, what, clause) =>
      judge(
        { holds: expected.includes(actual), expected: `one of ${display(expected)}`, actual },
        what,
        clause,
      ),
    between: (actual, low, high, what, clause) => judge(betweenVerdict(actual, low, high), what, clause),
    betweenMs: (actualMs, lowMs, highMs, what, clause) =>
      judge(
        {
          holds: actualMs >= lowMs && actualMs <= highMs,
          expected: `from ${Math.round(lowMs)} to ${Math.round(highMs)} ms`,
          actual: Number(actualMs.toFixed(1)),
          unit: 'ms',
        },
        what,
        clause,
      ),
    matches: (actual, pattern, what, clause) =>
      judge(
        {
          holds: typeof actual === 'string' && pattern.test(actual),
          expected: `text like ${pattern}`,
          actual,
        },
        what,
        clause,
      ),
    ok: (condition, what, detail) =>
      judge(okVerdict(condition, what, detail), what, detail?.clause, detail?.possibleCauses),
    fail: (what, detail) => {
      evidence.assertion(detail?.clause);
      throw failureOf(what, detail);
    },
  };
}

function jsonVerdict(actual: JsonText | undefined, expected: JsonText): Verdict {
  const holds = actual !== undefined && isSameJson(actual, expected);
  return { holds, expected: `the JSON value ${display(expected.toString())}`, actual: actual?.toString() };
}

function betweenVerdict(actual: unknown, low: number, high: number): Verdict {
  const holds = typeof actual === 'number' && actual >= low && actual <= high;
  return { holds, expected: `a number from ${low} to ${high}`, actual };
}

function okVerdict(condition: boolean, what: string, detail: Detail | undefined): Verdict {
  return {
    holds: condition,
    expected: expectedText(what, detail),
    actual: detail === undefined || !('actual' in detail) ? 'it does not hold' : detail.actual,
  };
}

export function failureOf(what: string, detail: Detail | undefined): ExpectationFailure {
  return new ExpectationFailure(what, {
    expected: expectedText(what, detail),
    actual: display(detail?.actual),
    clause: detail?.clause,
    possibleCauses: detail?.possibleCauses ?? [],
  });
}

function expectedText(what: string, detail: Detail | undefined): string {
  if (detail === undefined || detail.expected === undefined) return what;
  return typeof detail.expected === 'string' ? detail.expected : display(detail.expected);
}
