// Selecting checks: a pattern that matches nothing and a selection of nothing are refused.
import { describe, expect, it } from 'vitest';
import type { Check } from '../check.ts';
import { tinyCatalogue, tinyCheck } from '../testing/tiny-target.ts';
import { UsageError } from '../usage-error.ts';
import type { SelectionRequest } from './selection.ts';
import { selectChecks, shardOf } from './selection.ts';

const run: Check['run'] = async () => {};
const catalogue = tinyCatalogue([
  tinyCheck('CONN-001a', run),
  tinyCheck('CONN-001b', run, { profile: 'delivery', clauses: ['CONN-001', 'CONN-003'] }),
  tinyCheck('CONN-002a', run),
]);

function select(
  more: Partial<SelectionRequest>,
  claims?: readonly ('core' | 'delivery' | 'full')[],
): readonly string[] {
  const request: SelectionRequest = { profiles: [], level: 'MAY', only: [], skip: [], ...more };
  return selectChecks(catalogue, request, claims).checks.map((check) => check.id);
}

describe('selectChecks', () => {
  it.each<[string, Partial<SelectionRequest>, readonly string[]]>([
    ['core unless told otherwise', {}, ['CONN-001a', 'CONN-002a']],
    ['a profile', { profiles: ['delivery'] }, ['CONN-001b']],
    ['every profile', { profiles: ['full'] }, ['CONN-001a', 'CONN-001b', 'CONN-002a']],
    ['a level and above', { level: 'MUST' }, ['CONN-001a']],
    ['a requirement, of what is claimed', { only: ['conn-001'] }, ['CONN-001a']],
    ['a requirement', { only: ['conn-001'], profiles: ['full'] }, ['CONN-001a', 'CONN-001b']],
    ['a requirement that is not the main one', { only: ['CONN-003'], profiles: ['delivery'] }, ['CONN-001b']],
    ['an area, of what is claimed', { only: ['CONN'] }, ['CONN-001a', 'CONN-002a']],
    ['a star', { only: ['CONN-*a'] }, ['CONN-001a', 'CONN-002a']],
    ['all but', { skip: ['CONN-002'] }, ['CONN-001a']],
    ['an area within a profile', { only: ['CONN'], profiles: ['delivery'] }, ['CONN-001b']],
  ])('takes %s', (_name, more, ids) => {
    expect(select(more)).toEqual(ids);
  });

  it.each<[Partial<SelectionRequest>, string]>([
    [{ only: ['CONN-001x'] }, '--only CONN-001x matches no check; did you mean CONN-001a?'],
    [{ skip: ['TELEPORT-*'] }, '--skip TELEPORT-* matches no check'],
    [
      { profiles: ['dashboard'] },
      'the selection is empty: profile dashboard has no checks in this version of the suite',
    ],
    [{ profiles: ['auth', 'tls'] }, 'profiles auth, tls have no checks'],
    [{ skip: ['CONN'] }, 'the selection is empty'],
    [
      { only: ['CONN-001b'] },
      '--only CONN-001b matches only checks of profile delivery, which the target does not claim; to run them, use --profile delivery',
    ],
    [{ only: ['CONN-001a', 'CONN-003'] }, '--only CONN-003 matches only checks of profile delivery'],
    [
      { only: ['CONN-002'], profiles: ['delivery'] },
      '--only CONN-002 matches only checks of profile core, which --profile delivery leaves out; to run them, use --profile core',
    ],
    [
      { only: ['CONN-001a', 'CONN-002'], level: 'MUST' },
      '--only CONN-002 matches only checks below level MUST; to run them, use --level MAY',
    ],
  ])('refuses %o', (more, text) => {
    expect(() => select(more)).toThrow(UsageError);
    expect(() => select(more)).toThrow(text);
  });

  it('does not count random scenarios to what the target claims with full', () => {
    const scenario = tinyCheck('CONN-001m', run, { profile: 'model' });
    const request: SelectionRequest = { profiles: [], level: 'MAY', only: ['CONN-001*'], skip: [] };
    const withScenario = tinyCatalogue([...catalogue.checks, scenario]);
    const { checks } = selectChecks(withScenario, request, ['full']);
    expect(checks.map(({ id }) => id)).toEqual(['CONN-001a', 'CONN-001b']);
    expect(() => selectChecks(withScenario, { ...request, only: ['CONN-001m'] }, ['full'])).toThrow(
      'use --profile model',
    );
  });

  it('knows how much of what is claimed it leaves out', () => {
    const request: SelectionRequest = { profiles: [], level: 'MUST', only: [], skip: [] };
    expect(selectChecks(catalogue, request, ['full']).leftOutCount).toBe(1);
    expect(selectChecks(catalogue, { ...request, level: 'MAY' }, ['full']).leftOutCount).toBe(0);
  });
});

describe('shardOf', () => {
  const many = tinyCatalogue(
    [...'abcdefghij'].map((letter, index) =>
      tinyCheck(`CONN-001${letter}`, run, index < 4 ? { waits: true } : {}),
    ),
  );
  const request: SelectionRequest = { profiles: [], level: 'MAY', only: [], skip: [] };
  const whole = selectChecks(many, request, undefined);
  const idsOf = (index: number, count: number): readonly string[] =>
    shardOf(whole, { index, count }).checks.map(({ id }) => id);

  it('deals every check to exactly one shard, and what waits evenly', () => {
    const shards = [1, 2, 3, 4].map((index) => idsOf(index, 4));
    expect(shards.flat().sort()).toEqual(whole.checks.map(({ id }) => id));
    for (const ids of shards) expect(ids.filter((id) => /[a-d]$/.test(id))).toHaveLength(1);
    for (const ids of shards) expect([2, 3]).toContain(ids.length);
  });

  it('does not depend on the order in which the checks are listed', () => {
    const reversed = { ...whole, checks: [...whole.checks].reverse() };
    const ids = shardOf(reversed, { index: 2, count: 3 }).checks.map(({ id }) => id);
    expect([...ids].sort()).toEqual(idsOf(2, 3));
  });

  it('remembers the plan of all shards, and is the whole when it is the only one', () => {
    expect(shardOf(whole, { index: 1, count: 2 })).toMatchObject({ plan: whole.checks, leftOutCount: 0 });
    expect(shardOf(whole, { index: 1, count: 1 })).toBe(whole);
    expect(shardOf(whole, undefined)).toBe(whole);
  });

  it('refuses a shard with nothing to do', () => {
    expect(() => idsOf(11, 11)).toThrow('shard 11 of 11 is empty: the selection has only 10 checks');
  });
});
