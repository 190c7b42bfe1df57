// A rule's words come from the catalogue, its surroundings stay, and nothing in it is mistaken for markup.
import { describe, expect, it } from 'vitest';
import type { Requirement } from '../traceability/catalogue.ts';
import { refreshRules, renderRule } from './rules.ts';

const requirement: Requirement = {
  id: 'FRAME-001',
  level: 'SHOULD',
  sentence: 'A frame is read.',
  source: 'wire facts 1',
};

describe('a rule in the text', () => {
  it('has anchor, id, level and sentence', () => {
    expect(renderRule(requirement)).toBe('- <a id="FRAME-001"></a>[FRAME-001] SHOULD: A frame is read.\n');
  });

  it('names what else is right, and why', () => {
    const rich = { ...requirement, alternatives: ['It is dropped.', 'It is kept.'], why: 'Clients wait.' };
    expect(renderRule(rich).split('\n').slice(1)).toEqual([
      '  Also right: It is dropped.',
      '  Also right: It is kept.',
      '  Why: Clients wait.',
      '',
    ]);
  });

  it('says when it is withdrawn', () => {
    expect(renderRule({ ...requirement, withdrawn: 'Said twice.' })).toMatch(
      /\[FRAME-001\] withdrawn: Said twice\.\n$/,
    );
  });

  it('escapes what Markdown would take for markup', () => {
    expect(renderRule({ ...requirement, sentence: 'It is <queue>.dlq * 2.' })).toContain(
      'It is \\<queue>.dlq \\* 2.',
    );
  });

  it('is wrapped into indented lines of at most 120 characters', () => {
    const lines = renderRule({ ...requirement, sentence: `${'word '.repeat(60)}end.` })
      .trimEnd()
      .split('\n');
    expect(lines.length).toBeGreaterThan(2);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(120);
    for (const line of lines.slice(1)) expect(line).toMatch(/^ {2}\S/);
  });

  it('never wraps into a line that would begin a list', () => {
    for (let length = 60; length < 120; length += 1) {
      const sentence = `${'x'.repeat(length)} c + d - 3. e`;
      expect(renderRule({ ...requirement, sentence })).not.toMatch(/\n {2}(?:[-+]|\d+[.)])\s/);
    }
  });
});

describe('refreshing the rules of a text', () => {
  const catalogue = new Map([[requirement.id, requirement]]);
  const stale = 'Prose.\n\n- <a id="FRAME-001"></a>old words\n  and more of them\n\nMore prose.\n';

  it('replaces a rule with all its lines and leaves the prose', () => {
    expect(refreshRules(stale, catalogue)).toBe(`Prose.\n\n${renderRule(requirement)}\nMore prose.\n`);
  });

  it('changes nothing a second time', () => {
    const once = refreshRules(stale, catalogue);
    expect(refreshRules(once, catalogue)).toBe(once);
  });

  it('leaves an unknown id as it is', () => {
    expect(refreshRules(stale, new Map())).toBe(stale);
  });
});
