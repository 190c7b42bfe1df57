// What a failure says of the requirement that was broken: the one that was named, the one of the step, or the check's main one.
import { expect, it } from 'vitest';
import { ExpectationFailure } from './expectation.ts';
import type { RunEnd } from './outcome.ts';
import { judge } from './outcome.ts';

function judged(detail: { clause?: string; reliesOn?: string }, level: RunEnd['level'] = 'MUST') {
  const thrown = new ExpectationFailure('it comes', { expected: 'it', actual: 'nothing', ...detail });
  const { outcome, clause, reliesOn } = judge({
    thrown,
    level,
    clauses: ['DELIVERY-040', 'DELIVERY-038'],
    declared: false,
    warningCount: 0,
    hints: { seen: [], needed: [] },
    missingEvidence: undefined,
    starved: undefined,
  });
  return { outcome, clause, reliesOn };
}

it('names none for the main one', () => {
  expect(judged({})).toEqual({ outcome: 'fail', clause: undefined, reliesOn: undefined });
});

it('names that of the step where it is one of the check', () => {
  expect(judged({ reliesOn: 'DELIVERY-038' })).toMatchObject({ clause: 'DELIVERY-038', reliesOn: undefined });
});

it('leaves it open what else a step relies on', () => {
  expect(judged({ reliesOn: 'QUEUE-001' })).toMatchObject({ clause: undefined, reliesOn: 'QUEUE-001' });
});

it('keeps what the check itself named', () => {
  expect(judged({ clause: 'BODY-041' })).toMatchObject({ clause: 'BODY-041', reliesOn: 'BODY-041' });
  expect(judged({ clause: 'DELIVERY-038', reliesOn: 'QUEUE-001' })).toMatchObject({ clause: 'DELIVERY-038' });
});

it('never calls a requirement broken where a recommendation was decided otherwise', () => {
  const should = judged({ reliesOn: 'DELIVERY-038' }, 'SHOULD');
  expect(should).toEqual({ outcome: 'warn', clause: undefined, reliesOn: undefined });
});

it('keeps what else would explain a failure, but for what is blamed', () => {
  const thrown = new ExpectationFailure('it comes', { expected: 'it', actual: 'nothing' });
  const end = {
    thrown,
    level: 'MUST',
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
