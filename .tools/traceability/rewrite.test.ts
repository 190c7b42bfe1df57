// Rewriting touches coveredBy and planned and nothing else.
import { describe, expect, it } from 'vitest';
import type { Coverage } from './catalogue.ts';
import { rewriteCoverage } from './rewrite.ts';

const text = `# Opening words.

area: FRAME
title: Frames
profile: core
requirements:
  # Why this one stands first.
  - id: FRAME-001
    level: MUST
    sentence: A frame is read.
    planned: FRAME

  - id: FRAME-002
    level: MUST
    sentence: A frame is written.
    coveredBy:
      tests:
        - old.test.ts

  - id: FRAME-003
    level: MUST
    sentence: A frame is lost.
    withdrawn: Nobody needs it.
`;

const rewrite = (coverage: Readonly<Record<string, Coverage>>, from = text) =>
  rewriteCoverage(from, (id) => coverage[id]);

describe('rewriting the coverage', () => {
  it('puts lists in the place of a plan and keeps comments, order and blank lines', () => {
    const covered = text.replace(
      'read.\n    planned: FRAME',
      'read.\n    coveredBy:\n      features:\n        - a.feature\n      checks:\n        - FRAME-001a',
    );
    const coverage = {
      'FRAME-001': { checks: ['FRAME-001a'], features: ['a.feature'] },
      'FRAME-002': { tests: ['old.test.ts'] },
    };
    expect(rewrite(coverage)).toEqual({ text: covered, lost: [] });
  });

  it('plans again what nothing covers any more, and says so', () => {
    const { text: planned, lost } = rewrite({});
    expect(lost).toEqual(['FRAME-002']);
    expect(planned).toContain('sentence: A frame is written.\n    planned: FRAME\n');
    expect(planned).not.toContain('old.test.ts');
  });

  it('changes nothing a second time', () => {
    const once = rewrite({ 'FRAME-001': { tests: ['a.test.ts'] } }).text;
    expect(rewrite({ 'FRAME-001': { tests: ['a.test.ts'] } }, once).text).toBe(once);
  });

  it('leaves a withdrawn id alone', () => {
    expect(rewrite({ 'FRAME-003': { tests: ['a.test.ts'] } }).text).toContain(
      'withdrawn: Nobody needs it.\n',
    );
    expect(rewrite({ 'FRAME-003': { tests: ['a.test.ts'] } }).text).not.toContain('a.test.ts');
  });

  it('refuses a file that is no catalogue', () => {
    expect(() => rewriteCoverage('a: 1\n', () => undefined)).toThrow('no file of requirements');
  });
});
