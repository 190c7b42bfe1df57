// What a verdict says nothing about is told: profiles without checks, and MUSTs that no check of the profiles stands on.
import { describe, expect, it } from 'vitest';
import { catalogueOf } from '../catalogue.ts';
import { checks } from '../checks/index.ts';
import type { Requirement } from '../suite-data.ts';
import { loadSuiteData } from '../suite-data.ts';
import { tinyCheck } from '../testing/tiny-target.ts';
import { scopeNotes, scopeOf } from './scope.ts';

const requirements: readonly Requirement[] = [
  { id: 'CONN-001', level: 'MUST', sentence: 'Covered.', profile: 'core' },
  { id: 'CONN-002', level: 'MUST', sentence: 'Covered in limits.', profile: 'core' },
  { id: 'CONN-003', level: 'SHOULD', sentence: 'Recommended.', profile: 'core' },
  { id: 'CONN-004', level: 'MUST', sentence: 'Covered by nobody.', profile: 'delivery' },
  { id: 'CONN-005', level: 'MUST', sentence: 'Of an implementation.' },
  { id: 'AUTH-001', level: 'MUST', sentence: 'Of a profile without checks.', profile: 'auth' },
];
const run = async (): Promise<void> => {};
const catalogue = catalogueOf(
  [
    tinyCheck('CONN-001a', run),
    tinyCheck('CONN-002a', run, { profile: 'limits' }),
    tinyCheck('CONN-003a', run, { profile: 'delivery' }),
  ],
  requirements,
);
const uncovered = (...names: Parameters<typeof scopeOf>[1]): readonly string[] =>
  scopeOf(catalogue, names).uncovered.map(({ id }) => id);

describe('scopeOf', () => {
  it('finds the MUSTs of the profiles that none of their checks stands on', () => {
    expect(uncovered('core')).toEqual(['CONN-002']);
    expect(uncovered('core', 'limits')).toEqual([]);
    expect(uncovered('delivery')).toEqual(['CONN-004']);
    expect(uncovered('full')).toEqual(['CONN-004', 'AUTH-001']);
  });

  it('names the profiles as they were asked for, and those without checks', () => {
    expect(scopeOf(catalogue, ['core', 'auth'])).toMatchObject({
      profiles: ['core', 'auth'],
      unbuilt: ['auth'],
    });
  });
});

it('tells every gap in a note', () => {
  expect(scopeNotes(scopeOf(catalogue, ['core', 'limits']))).toEqual([]);
  expect(scopeNotes(scopeOf(catalogue, ['delivery', 'auth']))).toEqual([
    'no checks in this version of the suite, so nothing is said about: auth',
    'no check of these profiles covers 1 MUST: CONN-004',
  ]);
});

it('says of each requirement of the suite a profile that contains one of its checks', () => {
  const wrong = loadSuiteData().requirements.filter(({ id, profile }) => {
    const standing = checks.filter(({ clauses }) => clauses.includes(id));
    return standing.length > 0 && standing.every((check) => check.profile !== profile);
  });
  expect(wrong.map(({ id }) => id)).toEqual([]);
});

it('knows what the profile full leaves out', () => {
  const suite = catalogueOf(checks, loadSuiteData().requirements);
  expect(scopeOf(suite, ['core']).uncovered).toEqual([]);
  const full = scopeOf(suite, ['full']);
  expect(full.unbuilt).toEqual([]);
  expect(full.uncovered.map(({ id }) => id)).toContain('DASH-035');
  expect(full.uncovered.filter(({ id }) => id.startsWith('CLIENT'))).toEqual([]);
});
