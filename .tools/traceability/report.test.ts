// The report counts requirements, names what is planned, and never makes a failure look like a pass.
import { describe, expect, it } from 'vitest';
import { renderProblems, renderReport } from './report.ts';

const requirement = { level: 'MUST', sentence: 'A frame is read.', source: 'wire facts 1' } as const;
const areas = [
  {
    area: 'FRAME',
    title: 'Frames',
    profile: 'core',
    requirements: [
      { ...requirement, id: 'FRAME-001', coveredBy: { tests: ['a.test.ts'] } },
      { ...requirement, id: 'FRAME-002', planned: 'FRAME' },
      { ...requirement, id: 'FRAME-003', planned: 'FRAME', level: 'MAY' as const },
      { ...requirement, id: 'FRAME-004', withdrawn: 'said twice' },
      { ...requirement, id: 'FRAME-005', coveredBy: { checks: ['FRAME-005a'], features: ['a.feature'] } },
    ],
  },
];

const linesOf = (report: string): readonly string[] => report.trimEnd().split('\n');

describe('the report', () => {
  it('counts what is judged, tested and planned, and leaves withdrawn ids out', () => {
    expect(linesOf(renderReport(areas, []))[1]?.trim()).toMatch(/^FRAME +4 +1 +2 +2 +1$/);
    expect(linesOf(renderReport(areas, []))[2]?.trim()).toMatch(/^all +4 +1 +2 +2 +1$/);
  });

  it('ends with the requirements that passed when there are no findings', () => {
    expect(linesOf(renderReport(areas, [])).at(-1)).toBe('4 passed, 0 failed');
  });

  it('counts a requirement with two findings once, and unknown ids too', () => {
    const findings = ['FRAME-001', 'FRAME-001', 'FRAME-999'].map((id, index) => ({
      id,
      text: `is wrong ${index}.`,
    }));
    const lines = linesOf(renderReport(areas, findings));
    expect(lines.at(-1)).toBe('3 passed, 2 failed');
    expect(lines).toContain('FRAME-999 is wrong 2.');
  });

  it('passes nothing in a run that cannot be judged', () => {
    expect(linesOf(renderProblems(['a', 'b']))).toEqual(['a', 'b', '0 passed, 2 failed']);
  });
});
