// The comment above a check: written where it is missing, replaced where it differs, and nothing else changed.
import { describe, expect, it } from 'vitest';
import type { Requirement } from '../traceability/catalogue.ts';
import { withRequirementComments } from './comments.ts';

const requirement = (id: string, sentence: string): [string, Requirement] => [
  id,
  { id, level: 'MUST', sentence, source: 's' },
];
const requirements = new Map([
  requirement('DEMO-001', 'The broker answers.'),
  requirement('DEMO-002', `The broker ${'sends '.repeat(30)}frames.`),
]);

const check = (id: string, clauses: string): string =>
  `  {\n    id: '${id}',\n    clauses: [${clauses}],\n  },\n`;
const list = (...checks: readonly string[]): string => `export const list = [\n${checks.join('')}];\n`;

const answers = '  // DEMO-001 (MUST): The broker answers.\n';

describe('the comments above checks', () => {
  it('are written where they are missing', () => {
    const result = withRequirementComments(list(check('DEMO-001a', "'DEMO-001'")), requirements);
    expect(result.text).toBe(list(answers + check('DEMO-001a', "'DEMO-001'")));
    expect(result.outdated).toEqual(['DEMO-001a']);
  });

  it('are replaced where they differ, and comments before them stay', () => {
    const old = '  // By hand.\n  // DEMO-001 (MAY): The broker\n  // is silent.\n';
    const result = withRequirementComments(list(old + check('DEMO-001a', "'DEMO-001'")), requirements);
    expect(result.text).toBe(list(`  // By hand.\n${answers}${check('DEMO-001a', "'DEMO-001'")}`));
    expect(result.outdated).toEqual(['DEMO-001a']);
  });

  it('are of the first clause, or of the requirement in the id where there is no list', () => {
    const built = "  {\n    id: 'DEMO-001b',\n  },\n";
    const { text } = withRequirementComments(
      list(built, check('DEMO-001a', "\n      'DEMO-002',\n      'DEMO-001',\n    ")),
      requirements,
    );
    expect(text.startsWith(list(answers + built).slice(0, -3))).toBe(true);
    expect(text).toContain('// DEMO-002 (MUST): The broker sends');
  });

  it('fit the line, and stay as they are when they are current', () => {
    const { text } = withRequirementComments(list(check('DEMO-002a', "'DEMO-002'")), requirements);
    expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(120);
    expect(text.match(/^ {2}\/\//gm)).toHaveLength(2);
    expect(withRequirementComments(text, requirements)).toEqual({ text, outdated: [], unknown: [] });
  });

  it('are left alone when the requirement is not in the catalogue', () => {
    const source = list(check('DEMO-009a', "'DEMO-009'"));
    expect(withRequirementComments(source, requirements)).toEqual({
      text: source,
      outdated: [],
      unknown: ['DEMO-009a'],
    });
  });
});
