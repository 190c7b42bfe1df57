// A catalogue that cannot be trusted is refused in words that name the file and the id.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseCatalogue, requirementsOf } from './catalogue.ts';

const schema = JSON.parse(
  readFileSync(new URL('../../spec/requirements.schema.json', import.meta.url), 'utf8'),
) as object;

const entry = (id: string, more = 'planned: FRAME'): string =>
  `  - id: ${id}\n    level: MUST\n    sentence: A frame is read.\n    source: wire facts 1\n    ${more}\n`;

const file = (...entries: readonly string[]) => ({
  path: 'spec/requirements/frame.yaml',
  text: `area: FRAME\ntitle: Frames\nprofile: core\nrequirements:\n${entries.join('')}`,
});

const problemsOf = (...files: readonly { path: string; text: string }[]) =>
  parseCatalogue(files, schema).problems;

describe('the catalogue', () => {
  it('takes a file that keeps to the schema', () => {
    const catalogue = parseCatalogue([file(entry('FRAME-001'), entry('FRAME-002'))], schema);
    expect(catalogue.problems).toEqual([]);
    expect(requirementsOf(catalogue.areas).map(({ id }) => id)).toEqual(['FRAME-001', 'FRAME-002']);
  });

  it('refuses to be empty', () => {
    expect(problemsOf()).toEqual(['There are no files of requirements.']);
  });

  it.each([
    ['an unknown level', entry('FRAME-001').replace('MUST', 'OUGHT')],
    ['an unknown property', entry('FRAME-001', 'planed: FRAME')],
    ['a sentence without end', entry('FRAME-001').replace('read.', 'read')],
    ['an empty coverage', entry('FRAME-001', 'coveredBy: {}')],
    ['an unknown kind of coverage', entry('FRAME-001', 'coveredBy: { mutants: [a] }')],
  ])('names the id that has %s', (_, text) => {
    const problems = problemsOf(file(text));
    expect(problems.length).toBeGreaterThan(0);
    for (const problem of problems) expect(problem).toMatch(/frame\.yaml: FRAME-001: /);
  });

  it('names a file that is no YAML', () => {
    expect(problemsOf({ path: 'frame.yaml', text: 'area: [' })[0]).toMatch(/^frame\.yaml: is no YAML: /);
  });

  it('refuses an id that stands twice', () => {
    expect(problemsOf(file(entry('FRAME-001'), entry('FRAME-001')))).toEqual([
      'FRAME-001 stands twice; an id is given once and for all.',
    ]);
  });

  it('refuses an id of another area', () => {
    expect(problemsOf(file(entry('BODY-001')))[0]).toContain('BODY-001 is not of area FRAME');
  });

  it('refuses a file whose name is not its area', () => {
    expect(problemsOf({ ...file(entry('FRAME-001')), path: 'body.yaml' })[0]).toContain(
      'rename it to frame.yaml',
    );
  });

  it('refuses a plan for an area that is none', () => {
    expect(problemsOf(file(entry('FRAME-001', 'planned: FRAMES')))[0]).toContain('planned for FRAMES');
  });
});
