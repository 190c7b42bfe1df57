// The assertions of the checks. Every call is counted, whether it holds or not. A failure contains the rule in words, the expected value
// and the actual value. Assertions judge the broker: a failed assertion is never the runner's fault.
import { isDeepStrictEqual } from 'node:util';
import type { Assertions, Detail } from './check.ts';
import type { Evidence } from './evidence.ts';
import { display, ExpectationFailure } from './expectation.ts';
import type { JsonText } from './json-value.ts';
import { isSameJson } from './json-value.ts';

type AssertionResult = {
  readonly holds: boolean;
  readonly expected: string;
  readonly actual: unknown;
  /** The unit of `actual`, if it is a number with a unit. */
  readonly unit?: string;
};

export function assertionsFor(evidence: Evidence): Assertions {
  const judge = (
    result: AssertionResult,
    what: string,
    clause: string | undefined,
    possibleCauses: readonly string[] = [],
  ): void => {
    evidence.addAssertion(clause);
    if (result.holds) return;
    throw new ExpectationFailure(what, {
      expected: result.expected,
      actual: `${display(result.actual)}${result.unit === undefined ? '' : ` ${result.unit}`}`,
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
    sameJson: (actual, expected, what, clause) => judge(jsonResult(actual, expected), what, clause),
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
    between: (actual, low, high, what, clause) => judge(betweenResult(actual, low, high), what, clause),
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
          expected: `text that matches ${pattern}`,
          actual,
        },
        what,
        clause,
      ),
    ok: (condition, what, detail) =>
      judge(okResult(condition, what, detail), what, detail.clause, detail.possibleCauses),
    fail: (what, detail) => {
      evidence.addAssertion(detail?.clause);
      throw failureOf(what, detail);
    },
  };
}

function jsonResult(actual: JsonText | undefined, expected: JsonText): AssertionResult {
  const holds = actual !== undefined && isSameJson(actual, expected);
  return { holds, expected: `the JSON value ${display(expected.toString())}`, actual: actual?.toString() };
}

function betweenResult(actual: unknown, low: number, high: number): AssertionResult {
  const holds = typeof actual === 'number' && actual >= low && actual <= high;
  return { holds, expected: `a number from ${low} to ${high}`, actual };
}

function okResult(condition: boolean, what: string, detail: Detail): AssertionResult {
  return { holds: condition, expected: expectedText(what, detail), actual: detail.actual };
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
