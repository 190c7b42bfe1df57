// The medians of rounds, and whether the goal is met.

import { describe, expect, it } from 'vitest';
import { figuresOf } from './attack-figures.ts';
import { hostileDocument, hostileTables } from './hostile-report.ts';
import type { AttackResult } from './run-attack.ts';

const times = (p99Ms: number) => ({ confirmedCount: 5, receivedCount: 5, p50Ms: p99Ms / 2, p99Ms });

function round(alone: number, control: number, beside: number): AttackResult {
  return {
    attack: 'slow-loris',
    limitsRates: true,
    wentFirst: true,
    alone: times(alone),
    control: times(control),
    beside: times(beside),
    aloneResidentBytes: alone,
    residentBytes: beside,
    deeds: { connections: 1, ended: 0, bytes: 1 },
    exitCode: 0,
  };
}

describe('the figures of several rounds', () => {
  it('are medians of the times and maxima of the memory', () => {
    const figures = figuresOf([round(1, 2, 8), round(9, 1, 2), round(2, 3, 3)]);
    expect(figures).toMatchObject({
      alone: { p50Ms: 1, p99Ms: 2 },
      control: { p50Ms: 1, p99Ms: 2 },
      beside: { p50Ms: 1.5, p99Ms: 3 },
      ratio: 1.5,
      aloneResidentBytes: 9,
      residentBytes: 8,
    });
  });

  it('meet the goal up to twice the time alone, and miss it above', () => {
    expect(figuresOf([round(1, 1, 2)]).isMet).toBe(true);
    expect(figuresOf([round(1, 1, 2.01)]).isMet).toBe(false);
  });

  it('need a round', () => {
    expect(() => figuresOf([])).toThrow('no round');
  });

  it('have one line in the table of their broker, which says whether the goal is met and what the machine costs', () => {
    const unlimited = { ...round(1, 1.5, 1.2), limitsRates: false };
    const [limited, others] = hostileTables([figuresOf([round(1, 1.5, 3)]), figuresOf([unlimited])]).split(
      '## Without',
    );
    expect(limited).toContain('| 1.00 | 1.50 | 3.00 | 3.0 | 2.0 | missed |');
    expect(others).toContain('| 1.00 | 1.50 | 1.20 | 1.2 | 0.8 | met |');
  });

  it('stand in a document that says whether broker and workload went first', () => {
    const documentOf = (wentFirst: boolean) =>
      hostileDocument([figuresOf([round(1, 1.5, 3)])], { perSecond: 1, seconds: 1, rounds: 1, wentFirst });
    const [first, waited] = [documentOf(true), documentOf(false)];
    expect(first).toContain('went before everything else');
    expect(first).not.toContain('as other programs do');
    expect(waited).toContain('as other programs do');
    expect(waited).not.toContain('went before everything else');
  });
});
