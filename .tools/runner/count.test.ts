// Each way in which a runner's result can be wrong is seen as a failure; only what really passed counts as passed.
import { describe, expect, it } from 'vitest';
import {
  add,
  countCucumber,
  countExit,
  countLastLine,
  countVitest,
  failure,
  nothing,
  settle,
} from './count.ts';

const vitest = (...statuses: readonly string[]): string =>
  JSON.stringify({
    testResults: [
      {
        name: 'a.test.ts',
        status: 'passed',
        assertionResults: statuses.map((status) => ({ status, fullName: `a ${status} test` })),
      },
    ],
  });

const cucumber = (...statuses: readonly string[]): string =>
  JSON.stringify([
    {
      uri: 'features/a.feature',
      elements: [
        { name: 'a scenario', type: 'scenario', steps: statuses.map((status) => ({ result: { status } })) },
      ],
    },
  ]);

describe('settling a count', () => {
  it('fails a runner that ran nothing', () => {
    expect(settle(nothing, 0)).toEqual(failure('nothing ran'));
  });

  it('fails a bad exit code without a failed test', () => {
    expect(settle({ ...nothing, passed: 3 }, 2)).toMatchObject({ passed: 3, failed: 1 });
  });

  it('leaves a failed test and its bad exit code as one failure', () => {
    const count = { ...nothing, passed: 3, failed: 1, remarks: ['one'] };
    expect(settle(count, 1)).toEqual(count);
  });

  it('takes a good end with passed tests as it is', () => {
    expect(settle({ ...nothing, passed: 3 }, 0)).toEqual({ ...nothing, passed: 3 });
  });
});

describe('counting', () => {
  it('adds counts and keeps their remarks in order', () => {
    const sum = add([failure('a'), { ...nothing, passed: 2 }, failure('b')]);
    expect(sum).toEqual({ ...nothing, passed: 2, failed: 2, remarks: ['a', 'b'] });
  });

  it('takes an exit code as one test', () => {
    expect(countExit(0)).toEqual({ ...nothing, passed: 1 });
    expect(countExit(1).failed).toBe(1);
  });

  it('reads the last line of our own runners', () => {
    expect(countLastLine('phase one\n12 passed, 3 failed\n')).toMatchObject({ passed: 12, failed: 3 });
  });

  it.each(['', 'all good', '12 passed, 3 failed\nand then it broke', 'about 12 passed, 0 failed'])(
    'fails the output %j, which does not end with the count',
    (output) => {
      expect(countLastLine(output)).toMatchObject({ passed: 0, failed: 1 });
    },
  );
});

describe('the unit test report', () => {
  it('counts each test', () => {
    expect(countVitest(vitest('passed', 'passed', 'failed'), false)).toMatchObject({ passed: 2, failed: 1 });
  });

  it.each(['skipped', 'pending', 'todo', 'disabled'])('fails a test that is %s', (status) => {
    expect(countVitest(vitest('passed', status), false)).toEqual({
      ...nothing,
      passed: 1,
      failed: 1,
      remarks: [`${status}: a ${status} test`],
    });
  });

  it('counts what the machine cannot show by itself, and as failed where it must be shown', () => {
    const test = { status: 'skipped', fullName: 'a trace', meta: { notShown: 'no strace' } };
    const json = JSON.stringify({ testResults: [{ name: 'a.test.ts', assertionResults: [test] }] });
    expect(countVitest(json, false)).toEqual({ ...nothing, notShown: ['a trace: no strace'] });
    expect(countVitest(json, true)).toMatchObject({
      failed: 1,
      remarks: ['not shown here: a trace: no strace'],
    });
  });

  it('fails a file that ran no test', () => {
    expect(countVitest(vitest(), false)).toMatchObject({ passed: 0, failed: 1 });
  });

  it('counts nothing in an empty report', () => {
    expect(countVitest('{"testResults":[]}', false)).toEqual(nothing);
  });
});

describe('the features report', () => {
  it('passes a scenario all of whose steps passed', () => {
    expect(countCucumber(cucumber('passed', 'passed'))).toEqual({ ...nothing, passed: 1 });
  });

  it.each(['failed', 'undefined', 'pending', 'skipped', 'ambiguous'])(
    'fails a scenario with a step %s',
    (status) => {
      const count = countCucumber(cucumber('passed', status));
      expect(count).toEqual(failure(`features/a.feature: a scenario: ${status}`));
    },
  );

  it('fails a scenario without steps', () => {
    expect(countCucumber(cucumber())).toMatchObject({ passed: 0, failed: 1 });
  });

  it('counts nothing in an empty report', () => {
    expect(countCucumber('[]')).toEqual(nothing);
  });
});
