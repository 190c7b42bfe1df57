// Which requirement a failure names as broken: the one that the assertion names, the one of the failed step, or the check's main one.
import { expect, it } from 'vitest';
import { ExpectationFailure } from './expectation.ts';
import type { RunEnd } from './outcome.ts';
import { judge } from './outcome.ts';

function judged(
  detail: { clause?: string; reliesOn?: string; broken?: string },
  level: RunEnd['level'] = 'MUST',
  isRequired = true,
) {
  const thrown = new ExpectationFailure('it comes', { expected: 'it', actual: 'nothing', ...detail });
  const { outcome, clause, reliesOn } = judge({
    thrown,
    level,
    isRequired: () => isRequired,
    clauses: ['DELIVERY-040', 'DELIVERY-038'],
    declared: false,
    warningCount: 0,
    hints: { seen: [], needed: [] },
    missingEvidence: undefined,
    starved: undefined,
  });
  return { outcome, clause, reliesOn };
}

it('names no clause if the main requirement is broken', () => {
  expect(judged({})).toEqual({ outcome: 'fail', clause: undefined, reliesOn: undefined });
});

it('names the requirement of the step if it is one of the check', () => {
  expect(judged({ reliesOn: 'DELIVERY-038' })).toMatchObject({ clause: 'DELIVERY-038', reliesOn: undefined });
});

it('keeps a requirement that the step only relies on apart from the clause', () => {
  expect(judged({ reliesOn: 'QUEUE-001' })).toMatchObject({ clause: undefined, reliesOn: 'QUEUE-001' });
});

it('keeps the requirement that the assertion names', () => {
  expect(judged({ clause: 'BODY-041' })).toMatchObject({ clause: 'BODY-041', reliesOn: 'BODY-041' });
  expect(judged({ clause: 'DELIVERY-038', reliesOn: 'QUEUE-001' })).toMatchObject({ clause: 'DELIVERY-038' });
});

it('fails for a MUST that what came breaks by itself, also in a check of a recommendation', () => {
  const expected = { outcome: 'fail', clause: 'FRAME-018', reliesOn: undefined };
  for (const level of ['MUST', 'SHOULD', 'MAY'] as const)
    expect(judged({ broken: 'FRAME-018', clause: 'FRAME-025', reliesOn: 'QUEUE-001' }, level)).toEqual(
      expected,
    );
});

it('fails for a MUST that the assertion names, also in a check of a recommendation', () => {
  const named = { clause: 'OVERFLOW-012', reliesOn: 'QUEUE-001' };
  for (const level of ['MUST', 'SHOULD', 'MAY'] as const)
    expect(judged(named, level)).toMatchObject({ outcome: 'fail', clause: 'OVERFLOW-012' });
  expect(judged(named, 'SHOULD', false)).toMatchObject({ outcome: 'warn', clause: 'OVERFLOW-012' });
  expect(judged(named, 'MAY', false)).toMatchObject({ outcome: 'not applicable', clause: 'OVERFLOW-012' });
});

it('names no broken requirement if a recommendation is not followed', () => {
  const should = judged({ reliesOn: 'DELIVERY-038' }, 'SHOULD');
  expect(should).toEqual({ outcome: 'warn', clause: undefined, reliesOn: undefined });
});

it('keeps the MUST of the step at which the check of a recommendation ended', () => {
  const stepOf = (
    detail: { clause?: string; reliesOn?: string },
    level: RunEnd['level'],
    isRequired = true,
  ): string | undefined => {
    const thrown = new ExpectationFailure('it comes', { expected: 'it', actual: 'nothing', ...detail });
    const end = {
      thrown,
      level,
      isRequired: () => isRequired,
      clauses: ['DELIVERY-040', 'DELIVERY-038'],
      declared: false,
      warningCount: 0,
      hints: { seen: [], needed: [] },
      missingEvidence: undefined,
      starved: undefined,
    };
    return judge(end).requiredStep;
  };
  expect(stepOf({ reliesOn: 'QUEUE-001' }, 'SHOULD')).toBe('QUEUE-001');
  expect(stepOf({ reliesOn: 'DELIVERY-038' }, 'SHOULD')).toBe('DELIVERY-038');
  expect(stepOf({ reliesOn: 'QUEUE-001' }, 'SHOULD', false)).toBeUndefined();
  expect(stepOf({ reliesOn: 'QUEUE-001' }, 'MUST')).toBeUndefined();
  expect(stepOf({ clause: 'QUEUE-001' }, 'MAY')).toBeUndefined();
  expect(stepOf({}, 'SHOULD')).toBeUndefined();
});

it('keeps the possible causes except the requirement that it names as broken', () => {
  const thrown = new ExpectationFailure('it comes', { expected: 'it', actual: 'nothing' });
  const end = {
    thrown,
    level: 'MUST',
    isRequired: () => true,
    clauses: ['DELIVERY-040', 'DELIVERY-038'],
    declared: false,
    warningCount: 0,
    hints: { seen: ['DELIVERY-040', 'DELIVERY-038'], needed: ['DELIVERY-010'] },
    missingEvidence: undefined,
    starved: undefined,
  } as const;
  expect(judge(end).possibleCauses).toEqual(['DELIVERY-038', 'DELIVERY-010']);
  expect(judge({ ...end, thrown: undefined })).toEqual({ outcome: 'pass' });
});

it('takes a step of another requirement for one of its own, where it saw that one broken', () => {
  const detail = { expected: 'it', actual: 'nothing', reliesOn: 'RETRY-001' };
  const end = {
    thrown: new ExpectationFailure('it comes', detail),
    level: 'MUST',
    isRequired: () => true,
    clauses: ['DELIVERY-056', 'DELIVERY-016'],
    declared: false,
    warningCount: 0,
    missingEvidence: undefined,
    starved: undefined,
  } as const;
  expect(judge({ ...end, hints: { seen: ['DELIVERY-057'], needed: ['DELIVERY-016'] } })).toMatchObject({
    reliesOn: 'RETRY-001',
  });
  const seen = judge({ ...end, hints: { seen: ['DELIVERY-057', 'DELIVERY-016'], needed: [] } });
  expect(seen).toMatchObject({ clause: 'DELIVERY-016', possibleCauses: ['RETRY-001', 'DELIVERY-057'] });
  expect(seen.reliesOn).toBeUndefined();
});
