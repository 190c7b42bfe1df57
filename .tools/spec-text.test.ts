// The text, the catalogue and the tables of spec/ agree: every requirement is anchored once, in the catalogue's words; tables
// name only what exists. A broken reference in the specification is found here and not by its reader.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { linksOf, namedAnchorsOf } from './markdown.ts';
import { refreshRules } from './spec-text/rules.ts';
import { parseCatalogue, readCatalogueFiles, requirementsOf } from './traceability/catalogue.ts';
import { rewriteCoverage } from './traceability/rewrite.ts';

const directory = fileURLToPath(new URL('../spec', import.meta.url));
const read = (path: string): string => readFileSync(join(directory, path), 'utf8');
const schema = JSON.parse(read('requirements.schema.json')) as object;
const files = readCatalogueFiles(join(directory, 'requirements'));
const catalogue = parseCatalogue(files, schema);
const requirements = new Map(
  requirementsOf(catalogue.areas).map((requirement) => [requirement.id, requirement]),
);
const texts = readdirSync(directory).filter((name) => name.endsWith('.md'));
const table = <Row>(name: string): Readonly<Record<string, readonly Row[]>> =>
  parse(read(`tables/${name}.yaml`));

const commands = table<{ value: number; name: string; answer: string; section: string; needsQueue: boolean }>(
  'commands',
);
const errors = table<{ code: string; endsConnection: string; closesWhen?: string }>('errors');
const headers = table<{ name: string; carriedBy: readonly string[] }>('headers');
const enums = table<{ name: string; values: readonly { name: string; value?: number }[] }>('enums');
const limits = table<{ name: string; default?: unknown; derived?: string; min?: number; max?: number }>(
  'limits',
);

const namesOf = (rows: readonly { name: string }[] | undefined): readonly string[] =>
  (rows ?? []).map(({ name }) => name);
const duplicatesIn = <T>(items: readonly T[]): readonly T[] =>
  items.filter((item, index) => items.indexOf(item) !== index);

describe('the catalogue', () => {
  it('keeps to its schema', () => {
    expect(catalogue.problems).toEqual([]);
    expect(requirements.size).toBeGreaterThan(600);
  });

  it('has ids in rising order within each area', () => {
    for (const { requirements: list } of catalogue.areas) {
      const ids = list.map(({ id }) => id);
      expect(ids).toEqual([...ids].sort());
    }
  });

  it('is laid out as a rewriting of its coverage leaves it, so that such a change shows nothing else', () => {
    for (const { path, text } of files) {
      expect(rewriteCoverage(text, (id) => requirements.get(id)?.coveredBy).text, path).toBe(text);
    }
  });

  it('says each thing once', () => {
    expect(duplicatesIn([...requirements.values()].map(({ sentence }) => sentence))).toEqual([]);
  });
});

describe('the text', () => {
  const anchors = texts.flatMap((name) => namedAnchorsOf(read(name)));

  it('anchors every requirement exactly once, and nothing else', () => {
    expect([...anchors].sort()).toEqual([...requirements.keys()].sort());
  });

  it.each(texts)('has the words of the catalogue, after a change by `npm run refresh`: %s', async (name) => {
    await expect(refreshRules(read(name), requirements)).toMatchFileSnapshot(join(directory, name));
  });

  it('shows a frame whose length is that of its body', () => {
    const shown = /^ {3}((?:[0-9a-f]{2} +){17}[0-9a-f]{2})$/m.exec(read('frame.md'))?.[1] ?? '';
    const bytes = Buffer.from(shown.replaceAll(' ', ''), 'hex');
    expect(bytes.readUInt32BE(0)).toBe(bytes.length - 5);
  });

  it('is all in the index', () => {
    const others = texts.filter((name) => name !== 'README.md');
    expect(linksOf(read('README.md'))).toEqual(expect.arrayContaining(others));
  });
});

describe('the tables', () => {
  it.each(readdirSync(join(directory, 'tables')))('name only requirements that hold: %s', (name) => {
    const ids = read(`tables/${name}`).match(/[A-Z]{3,10}-\d{3}/g) ?? [];
    expect(ids.length).toBeGreaterThan(0);
    expect(
      ids.filter((id) => requirements.get(id)?.withdrawn !== undefined || !requirements.has(id)),
    ).toEqual([]);
  });

  it('give each command one value, an answer that exists and a text', () => {
    const rows = commands['commands'] ?? [];
    expect(rows.length).toBeGreaterThan(20);
    expect(duplicatesIn(rows.map(({ value }) => value))).toEqual([]);
    expect(duplicatesIn(namesOf(rows))).toEqual([]);
    for (const { answer, section } of rows) {
      expect(['none', ...namesOf(rows)]).toContain(answer);
      expect(texts).toContain(section);
    }
  });

  it('have a row for every error code that the text names', () => {
    const codes = (errors['errors'] ?? []).map(({ code }) => code);
    const sentences = [...requirements.values()].map(({ sentence, alternatives = [] }) =>
      [sentence, ...alternatives].join(' '),
    );
    const named = sentences.join(' ').match(/\b[A-Z]+_[A-Z_]+\b|\bFORBIDDEN\b/g) ?? [];
    expect(duplicatesIn(codes)).toEqual([]);
    expect([...new Set(named)].sort()).toEqual([...codes].sort());
  });

  it('say when an error ends the connection, where that depends', () => {
    for (const { endsConnection, closesWhen } of errors['errors'] ?? []) {
      expect(['never', 'after', 'depends']).toContain(endsConnection);
      expect(closesWhen !== undefined).toBe(endsConnection === 'depends');
    }
  });

  it('put headers on commands that exist', () => {
    const known = namesOf(commands['commands']);
    for (const { carriedBy } of headers['headers'] ?? [])
      for (const name of carriedBy) expect(known).toContain(name);
  });

  it('give each value of an enumeration its own name and number', () => {
    for (const { values } of enums['enums'] ?? []) {
      expect(duplicatesIn(namesOf(values))).toEqual([]);
      expect(duplicatesIn(values.flatMap(({ value }) => value ?? []))).toEqual([]);
    }
  });

  it('have defaults within their ranges', () => {
    const rows = Object.values(limits).flat();
    expect(rows.length).toBeGreaterThan(50);
    for (const row of rows) {
      expect(row.default !== undefined || row.derived !== undefined, row.name).toBe(true);
      if (typeof row.default !== 'number') continue;
      expect(row.default, row.name).toBeGreaterThanOrEqual(row.min ?? row.default);
      expect(row.default, row.name).toBeLessThanOrEqual(row.max ?? row.default);
    }
  });
});
