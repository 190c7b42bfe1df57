// The goals: what is met, missed and not measured, and that every goal of the document reads a committed figure.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { BenchResult, BenchRow } from '../src/bench/bench-result.ts';
import { figureEntries } from './figure-list.ts';
import type { Goal } from './goals.ts';
import { goalLines, goals, valueOfGoal, verdictOf } from './goals.ts';

const row = (target: string, load: string, values: BenchRow['values'], baseLoad?: string): BenchRow => ({
  job: 'job',
  load,
  target,
  values,
  faults: [],
  ...(baseLoad === undefined ? {} : { baseLoad }),
});

const result = (rows: readonly BenchRow[], commit = 'abc'): BenchResult => ({
  schema: 1,
  runner: { name: 'runner', version: '1' },
  at: '2026-01-01T00:00:00.000Z',
  machine: { cores: 2, node: 'v20', platform: 'linux', arch: 'x64', loadAverage: 0 },
  commit,
  settings: {},
  targets: [{ name: 'skeleton' }, { name: 'TrueMQ' }],
  rows,
});

const goalOf = (figure: string, text: string): Goal => {
  const goal = goals.find((one) => one.figure === figure && one.text.includes(text));
  if (goal === undefined) throw new Error(`no goal of ${figure} has ${text}`);
  return goal;
};

describe('a goal', () => {
  it.each([
    ['at least', 0.55, 'met'],
    ['at least', 0.549, 'met'],
    ['at least', 0.54, 'missed'],
    ['at most', 0.554, 'met'],
    ['at most', 0.56, 'missed'],
    ['at most', Number.NaN, 'not measured'],
    ['at least', undefined, 'not measured'],
  ] as const)('%s 0.55 with %s is %s', (kind, value, verdict) => {
    const goal = { ...(goals[0] as Goal), kind, limit: 0.55, digits: 2 };
    expect(verdictOf(goal, value)).toBe(verdict);
  });

  it('of the skeleton is the median of the ratios of the rounds', () => {
    const rows = [
      row('skeleton', '100 B', { messagesPerSecond: [100, 200, 400] }),
      row('TrueMQ', '100 B', { messagesPerSecond: [50, 80, 200] }),
    ];
    expect(valueOfGoal(goalOf('throughput', '100 B'), result(rows))).toBe(0.5);
    expect(valueOfGoal(goalOf('throughput', '100 B'), result(rows.slice(1)))).toBeUndefined();
    expect(valueOfGoal(goalOf('throughput', '100 B'), undefined)).toBeUndefined();
  });

  it('of growth is the worst of its rows, each against its base', () => {
    const rows = [
      row('TrueMQ', 'publish, 10 waiting', { serverCpuUs: [2, 2, 2] }),
      row('TrueMQ', 'publish, 1,000,000 waiting', { serverCpuUs: [3, 3, 3] }, 'publish, 10 waiting'),
      row('TrueMQ', 'take, 1,000,000 waiting', { serverCpuUs: [2, 2, 2] }, 'publish, 10 waiting'),
    ];
    expect(valueOfGoal(goalOf('depth', '1,000,000'), result(rows))).toBe(1.5);
    expect(valueOfGoal(goalOf('depth', '10,000 queues'), result(rows))).toBeUndefined();
  });

  it('of what is held counts all that is resident where a limit is tried', () => {
    const held = { growthMiB: [10], allowedMiB: [100], peakRssMiB: [900] };
    const tried = { growthMiB: [10], allowedMiB: [512], peakRssMiB: [256] };
    const rows = [row('TrueMQ', 'a', held), row('TrueMQ', 'b', tried)];
    expect(valueOfGoal(goalOf('memory-truth', 'allowed'), result(rows))).toBe(0.5);
  });
});

describe('the table of goals', () => {
  it('names every goal with what was measured, and one commit or several', () => {
    const rows = [row('TrueMQ', 'idle and filled', { startMs: [300] })];
    const goal = goalOf('start', 'handshake');
    expect(goalLines([goal], () => result(rows))).toEqual([
      '| part | goal | measured | |',
      '|---|---|--:|---|',
      '| Footprint | start to handshake: 250 ms | 300 | missed |',
      '',
      'All figures are of commit abc.',
    ]);
    const other = goalOf('loop-hold', '50 ms');
    const lines = goalLines([goal, other], (name) => (name === 'start' ? result(rows) : undefined));
    expect(lines.at(-3)).toContain('| - | not measured |');
    expect(lines.at(-1)).toContain('of 2 commits (abc, unknown)');
  });

  it('reads figures that exist, each with a value in the committed results', () => {
    const names = figureEntries.map(({ name }) => name);
    for (const goal of goals) {
      expect(names).toContain(goal.figure);
      const path = new URL(`results/${goal.figure}.json`, import.meta.url);
      const committed = JSON.parse(readFileSync(path, 'utf8')) as BenchResult;
      expect(valueOfGoal(goal, committed), `${goal.part}: ${goal.text}`).toBeGreaterThan(0);
    }
  });
});
