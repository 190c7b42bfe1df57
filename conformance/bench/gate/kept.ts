// The kept file of the gate: per row the ratio, the noise of repeated measurements, and the threshold that follows from it. Made from
// several whole measurements, each with processes of its own, half of them beside busy loops. Pure.
import { estimateOf } from '../../src/bench/statistics/estimate.ts';
import type { KeptRow, MeasuredRow } from './judge.ts';

export type KeptFile = {
  readonly schema: 1;
  /** How the figures came about, for people. */
  readonly about: string;
  readonly at: string;
  readonly commit: string;
  readonly machine: string;
  readonly rows: readonly (KeptRow & Noise)[];
};

export type Noise = {
  /** From the lowest to the highest of the measurements, as a share of their median. */
  readonly spread: number;
  /** The median beside busy loops, to that without; 1 when load changes nothing. */
  readonly loadShift: number;
  /** The same spread for messages per second, which is not judged. */
  readonly rateSpread: number;
};

export type Run = { readonly isBesideLoad: boolean; readonly rows: readonly MeasuredRow[] };

/** Less would be red by chance sooner or later, and more would not find a fifth. */
const thresholds = { least: 0.08, most: 0.14 } as const;

/** Throws if a row was not measured in every run. */
export function keptRows(runs: readonly Run[]): KeptFile['rows'] {
  const names = [...new Set(runs.flatMap(({ rows }) => rows.map(({ name }) => name)))];
  if (runs.length < 2 || names.length === 0)
    throw new Error('at least two measurements with rows are needed');
  return names.map((name) => keptRow(name, runs));
}

function keptRow(name: string, runs: readonly Run[]): KeptFile['rows'][number] {
  const cpu = runs.map((run) => figureOf(run, name, 'cpuRatio'));
  const rate = runs.map((run) => figureOf(run, name, 'rateRatio'));
  const { median, high, spread } = estimate(cpu);
  const beside = cpu.filter((_, index) => runs[index]?.isBesideLoad === true);
  const alone = cpu.filter((_, index) => runs[index]?.isBesideLoad !== true);
  const isBoth = beside.length > 0 && alone.length > 0;
  return {
    name,
    cpuRatio: rounded(median),
    threshold: thresholdFor(high / median - 1),
    spread: rounded(spread),
    loadShift: isBoth ? rounded(estimate(beside).median / estimate(alone).median) : 1,
    rateSpread: rounded(estimate(rate).spread),
  };
}

/** One and a half times by how much the highest measurement was above the median, within bounds: only upwards can a row become red. */
export function thresholdFor(above: number): number {
  return rounded(Math.min(thresholds.most, Math.max(thresholds.least, above * 1.5)));
}

function figureOf({ rows }: Run, name: string, key: 'cpuRatio' | 'rateRatio'): number {
  const row = rows.find((candidate) => candidate.name === name);
  const value = row?.[key];
  if (value === undefined) throw new Error(`${name}: not measured: ${row?.fault ?? `no ${key}`}`);
  return value;
}

function estimate(values: readonly number[]): { median: number; high: number; spread: number } {
  const found = estimateOf(values);
  if (found === undefined) throw new Error('no values');
  return found;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
