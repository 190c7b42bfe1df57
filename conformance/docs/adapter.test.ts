// The page about the adapter protocol shows lines that keep to the schema, and a value for each setting of the groups that it fills.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import adapterSchema from '../schemas/adapter.schema.json' with { type: 'json' };
import type { Schema } from '../src/target/schema-check.ts';
import { schemaFaults } from '../src/target/schema-check.ts';

type Line = Readonly<Record<string, unknown>>;

const page = readFileSync(new URL('adapter.md', import.meta.url), 'utf8');
const lines = page.split('\n').filter((line) => line.startsWith('{'));
const shown = lines.map((line): Line => JSON.parse(line));
const isAnswer = (line: Line): boolean => 'ready' in line;
const request = shown.find((line) => 'tcp' in line && !isAnswer(line));

function faultsOf(line: Line): readonly string[] {
  const { $defs } = adapterSchema;
  const [schema, value] = isAnswer(line) ? [$defs.answer, line] : [$defs.request, { ...request, ...line }];
  return schemaFaults(schema as Schema, value, '', adapterSchema as Schema);
}

it.each(lines)('shows a line that keeps to the schema: %s', (line) => {
  expect(faultsOf(JSON.parse(line))).toEqual([]);
});

it.each(['authentication', 'tls', 'limits'] as const)('shows a value for every setting of %s', (group) => {
  const { properties } = adapterSchema.$defs.request.properties[group];
  const filled = shown.flatMap((line) => Object.keys(line[group] ?? {}));
  expect([...new Set(filled)].sort()).toEqual(Object.keys(properties).sort());
});
