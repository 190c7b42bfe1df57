// The document of figures matches the committed results, and the results match the published schema.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import schema from '../schemas/bench.schema.json' with { type: 'json' };
import type { BenchResult } from '../src/bench/bench-result.ts';
import type { Schema } from '../src/target/schema-check.ts';
import { schemaFaults } from '../src/target/schema-check.ts';
import { documentWith, withGoals } from './figure-document.ts';
import type { FigureEntry } from './figure-list.ts';
import { figureEntries } from './figure-list.ts';
import { goals } from './goals.ts';

const folder = new URL('results/', import.meta.url);
const document = readFileSync(new URL('../../docs/internals/figures.md', import.meta.url), 'utf8');
const files = existsSync(folder) ? readdirSync(folder) : [];

function resultNamed(name: string): BenchResult | undefined {
  if (!files.includes(`${name}.json`)) return undefined;
  return JSON.parse(readFileSync(new URL(`${name}.json`, folder), 'utf8')) as BenchResult;
}

describe('the figures', () => {
  it('in the document match the committed results', () => {
    expect(withGoals(documentWith(document, figureEntries, resultNamed), goals, resultNamed)).toBe(document);
  });

  it('match the published schema and have the name of a measurement', () => {
    for (const file of files) {
      const name = file.replace('.json', '');
      expect(figureEntries.map((entry) => entry.name)).toContain(name);
      expect(schemaFaults(schema as Schema, resultNamed(name)), file).toEqual([]);
    }
  });

  it('have scripts that exist', () => {
    const paths = figureEntries.flatMap(({ command }) => command.filter((word) => word.endsWith('.ts')));
    expect(paths.length).toBeGreaterThan(3);
    for (const path of paths) expect(existsSync(new URL(`../../${path}`, import.meta.url)), path).toBe(true);
  });
});

describe('a document', () => {
  const entry: FigureEntry = {
    name: 'one',
    title: 'One',
    text: 'Of one.',
    command: ['one.mjs'],
    roundCount: 3,
  };
  const text = 'before\n<!-- figure one -->\nold\n<!-- end -->\nafter\n';

  it('changes nothing outside of its marks', () => {
    const made = documentWith(text, [entry], () => undefined);
    expect(made).toMatch(
      /^before\n<!-- figure one -->\n## One\n[\s\S]*Not measured yet\.\n<!-- end -->\nafter\n$/,
    );
    expect(made).not.toContain('old');
    expect(documentWith(made, [entry], () => undefined)).toBe(made);
  });

  it('is refused if a part has no figure, or a figure has no part', () => {
    expect(() => documentWith(text, [], () => undefined)).toThrow('nobody measures one');
    expect(() => withGoals('before', [], () => undefined)).toThrow('no place for the goals');
    expect(() => documentWith('before', [entry], () => undefined)).toThrow('no place for one');
  });
});
