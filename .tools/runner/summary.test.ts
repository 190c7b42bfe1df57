// The summary's last line is what continuous integration reads, and the budgets are what people read in CONTRIBUTING.md.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { sectionOf, tableRowsOf } from '../markdown.ts';
import { failure, nothing } from './count.ts';
import { type Part, parts, stages } from './parts.ts';
import { type PartResult, renderSummary } from './summary.ts';

const check: PartResult = {
  name: 'check',
  count: { ...nothing, passed: 12 },
  seconds: 3.04,
  budgetSeconds: 60,
};
const slow: PartResult = { name: 'features', count: failure('a scenario'), seconds: 61, budgetSeconds: 60 };

describe('the summary', () => {
  it('ends with the sum over all parts', () => {
    expect(renderSummary([check, slow]).endsWith('\n12 passed, 1 failed\n')).toBe(true);
  });

  it('names what this machine did not show', () => {
    const unshown = { ...check, count: { ...nothing, passed: 1, notShown: ['a trace: no strace'] } };
    const text = renderSummary([unshown]);
    expect(text).toContain('NOT SHOWN ON THIS MACHINE a trace: no strace');
    expect(text).toMatch(/^check +1 +0 +1 /m);
  });

  it('names what failed and what took longer than its budget', () => {
    const text = renderSummary([check, slow]);
    expect(text).toContain('FAILED a scenario');
    expect(text).toMatch(/^features .*over budget$/m);
    expect(text).toMatch(/^check .*3\.0 +60$/m);
  });
});

const budgetOf = (track: readonly Part[]): number =>
  track.reduce((seconds, part) => seconds + part.budgetSeconds, 0);

describe('the parts', () => {
  it('have the budgets that CONTRIBUTING.md states', () => {
    const contributing = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');
    const rows = tableRowsOf(sectionOf(contributing, 'The budget of the tests'));
    const stated = rows.map(([name, , budget]) => [name, budget]);
    expect(stated).toEqual(parts.map((part) => [`\`${part.name}\``, `${part.budgetSeconds} s`]));
  });

  it('fit into twice the twelve minutes that all of them take on an idle machine', () => {
    const sums = stages.map((tracks) => tracks.map((track) => budgetOf(track)));
    const sum = sums.reduce((seconds, tracks) => seconds + Math.max(...tracks), 0);
    expect(sum).toBeGreaterThan(0);
    expect(sum).toBeLessThanOrEqual(2 * 12 * 60);
  });

  it('have different names', () => {
    expect(new Set(parts.map(({ name }) => name)).size).toBe(parts.length);
  });
});
