// Inconsistent catalogues are rejected; the catalogue of this suite is consistent.
import { describe, expect, it } from 'vitest';
import { catalogueFaults } from './catalogue.ts';
import { checks } from './checks/index.ts';
import { loadSuiteData } from './suite-data.ts';
import { tinyCheck } from './testing/tiny-target.ts';
import { Command } from './wire/command.ts';

const requirements = [
  { id: 'CONN-001', level: 'SHOULD', sentence: '' },
  { id: 'CONN-002', level: 'MUST', sentence: '' },
] as const;
const run = async (): Promise<void> => {};

describe('catalogueFaults', () => {
  it.each([
    ['an id twice', [tinyCheck('CONN-001a', run), tinyCheck('CONN-001a', run)], 'occurs twice'],
    ['an unknown clause', [tinyCheck('CONN-009a', run)], 'CONN-009, which is not a requirement'],
    ['an id with a wrong form', [tinyCheck('conn-1', run)], 'is not a requirement id followed by a letter'],
    [
      'an id that does not start with its main clause',
      [tinyCheck('CONN-001a', run, { clauses: ['CONN-002'] })],
      'main clause CONN-002',
    ],
    [
      'a level above the level of its clause',
      [tinyCheck('CONN-001a', run, { level: 'MUST' })],
      'CONN-001 is only a SHOULD',
    ],
  ])('finds %s', (_name, list, text) => {
    expect(catalogueFaults(list, requirements).join('; ')).toContain(text);
  });

  it('accepts a level below the level of the clause', () => {
    expect(catalogueFaults([tinyCheck('CONN-002a', run, { level: 'SHOULD' })], requirements)).toEqual([]);
  });

  it('finds nothing in the checks of this suite', () => {
    expect(catalogueFaults(checks, loadSuiteData().requirements)).toEqual([]);
  });
});

describe('the data of the suite', () => {
  it('has the same commands as the published table', () => {
    const table = loadSuiteData().commands as {
      readonly commands: readonly { name: string; value: number }[];
    };
    const published = Object.fromEntries(table.commands.map(({ name, value }) => [name, value]));
    expect(published).toEqual(Command);
  });

  it('is not empty', () => {
    const data = loadSuiteData();
    expect(data.requirements.length).toBeGreaterThan(200);
    expect(data.golden.length).toBeGreaterThan(5);
    expect(data.faults.length).toBeGreaterThan(300);
  });
});
