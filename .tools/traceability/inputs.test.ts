// A report that is missing, broken or empty is a problem that names the file and what makes it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { inputs, readRun } from './inputs.ts';

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'traceability-'));
  mkdirSync(join(root, 'out/test'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true }));

const scenario =
  '[{"uri":"features/a.feature","elements":[{"type":"scenario","tags":[{"name":"@FRAME-001"}],"steps":[]}]}]';
const tests =
  '{"testResults":[{"name":"a","assertionResults":[{"title":"a [FRAME-001]","status":"passed"}]}]}';
const good: Readonly<Record<string, string>> = {
  'out/test/vitest.json': tests,
  'out/test/programs.json': tests,
  'out/test/features-inprocess.json': scenario,
  'out/test/features-delayed.json': scenario,
  'out/test/features-tcp.json': scenario,
  'out/test/conformance.json': '{"results":[{"id":"FRAME-001a","outcome":"pass","clauses":["FRAME-001"]}]}',
};

const write = (reports: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(reports)) writeFileSync(join(root, path), text);
};

describe('the reports of a run', () => {
  it('are read from all runners', () => {
    write(good);
    const { evidence, problems } = readRun(root);
    expect(problems).toEqual([]);
    expect(evidence.map(({ kind }) => kind)).toEqual([
      'tests',
      'tests',
      'features',
      'features',
      'features',
      'checks',
    ]);
  });

  it.each(inputs.map(({ path }) => path))('must all be there: %s', (path) => {
    write(good);
    rmSync(join(root, path));
    expect(readRun(root).problems).toEqual([expect.stringMatching(`^${path}: is not there`)]);
  });

  it.each(inputs.map(({ path }) => path))('must all be readable: %s', (path) => {
    write({ ...good, [path]: '{' });
    expect(readRun(root).problems).toEqual([expect.stringMatching(`^${path}: cannot be read`)]);
  });

  it.each([
    ['out/test/vitest.json', '{"testResults":[]}'],
    ['out/test/features-tcp.json', '[]'],
    ['out/test/conformance.json', '{"results":[]}'],
  ])('must not be empty: %s', (path, text) => {
    write({ ...good, [path]: text });
    expect(readRun(root).problems).toEqual([expect.stringMatching(`^${path}: it holds no`)]);
  });
});
