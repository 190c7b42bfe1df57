// Reports are read for what really passed; an empty one is a problem, and an id in the wrong place is found.
import { describe, expect, it } from 'vitest';
import { readConformance, readCucumber, readVitest } from './evidence.ts';

const vitest = (title: string, status = 'passed', ...ancestorTitles: readonly string[]): string =>
  JSON.stringify({
    testResults: [{ name: '/repo/src/a.test.ts', assertionResults: [{ title, status, ancestorTitles }] }],
  });

const cucumber = (tags: readonly string[], ...statuses: readonly string[]): string =>
  JSON.stringify([
    {
      uri: 'features/a.feature',
      elements: [
        { type: 'background', steps: [{ result: { status: 'failed' } }] },
        {
          type: 'scenario',
          tags: tags.map((name) => ({ name })),
          steps: statuses.map((status) => ({ result: { status } })),
        },
      ],
    },
  ]);

const conformance = (id: string, outcome: string, ...clauses: readonly string[]): string =>
  JSON.stringify({ results: [{ id, outcome, clauses }] });

describe('the report of the unit tests', () => {
  it('takes every id of a title, from the brackets at its end', () => {
    const by = 'src/a.test.ts';
    expect(readVitest(vitest('reads [1] frame [FRAME-001, BODY-002]'), '/repo').evidence).toEqual([
      { kind: 'tests', id: 'FRAME-001', by, passed: true },
      { kind: 'tests', id: 'BODY-002', by, passed: true },
    ]);
  });

  it.each(['failed', 'skipped', 'todo', 'pending'])(
    'does not count a test that is %s as passed',
    (status) => {
      expect(readVitest(vitest('reads [FRAME-001]', status), '/repo').evidence[0]?.passed).toBe(false);
    },
  );

  it('takes nothing from a test that the machine could not show', () => {
    const test = { title: 'reads [FRAME-001]', status: 'skipped', meta: { notShown: 'no strace' } };
    const json = JSON.stringify({ testResults: [{ name: 'a.test.ts', assertionResults: [test] }] });
    expect(readVitest(json, '/repo')).toMatchObject({ evidence: [], problems: [] });
  });

  it.each([
    vitest('[FRAME-001] reads a frame'),
    vitest('reads', 'passed', 'frames [FRAME-001]'),
    vitest('reads [BODY-001]', 'passed', 'frames [FRAME-001]'),
  ])('points out an id that stands where it proves nothing', (report) => {
    expect(readVitest(report, '/repo').findings).toMatchObject([{ id: 'src/a.test.ts' }]);
  });

  it('says when there is no test', () => {
    expect(readVitest('{"testResults":[]}', '/repo').problems).toEqual(['it holds no test']);
  });
});

describe('the report of the features', () => {
  it('takes the ids from the tags and leaves other tags alone', () => {
    expect(readCucumber(cucumber(['@FRAME-001', '@slow'], 'passed', 'passed'), '/repo').evidence).toEqual([
      { kind: 'features', id: 'FRAME-001', by: 'features/a.feature', passed: true },
    ]);
  });

  it.each([[['passed', 'undefined']], [['passed', 'skipped']], [['failed']], [[]]])(
    'does not count a scenario with steps %j as passed',
    (statuses) => {
      expect(readCucumber(cucumber(['@FRAME-001'], ...statuses), '/repo').evidence[0]?.passed).toBe(false);
    },
  );

  it('says when there is no scenario', () => {
    expect(readCucumber('[{"uri":"features/a.feature","elements":[]}]', '/repo').problems).toEqual([
      'it holds no scenario',
    ]);
  });
});

describe('the report of the runner', () => {
  it('lets a check show each of its clauses', () => {
    expect(readConformance(conformance('FRAME-001a', 'pass', 'FRAME-001', 'BODY-001')).evidence).toEqual([
      { kind: 'checks', id: 'FRAME-001', by: 'FRAME-001a', passed: true },
      { kind: 'checks', id: 'BODY-001', by: 'FRAME-001a', passed: true },
    ]);
  });

  it.each(['fail', 'warn', 'error'])('does not count the outcome %s as passed', (outcome) => {
    expect(readConformance(conformance('FRAME-001a', outcome, 'FRAME-001')).evidence[0]?.passed).toBe(false);
  });

  it.each(['not applicable', 'could not run'])('has seen nothing of a check with outcome %s', (outcome) => {
    const reading = readConformance(conformance('FRAME-001a', outcome, 'FRAME-001'));
    expect(reading.evidence).toEqual([]);
    expect(reading.problems).toEqual(['it holds no check that ran']);
  });

  it.each(['FRAME-002a', 'FRAME-001', 'frame'])(
    'points out the check id %s, which is none of its clauses',
    (id) => {
      expect(readConformance(conformance(id, 'pass', 'FRAME-001')).findings).toMatchObject([{ id }]);
    },
  );
});
