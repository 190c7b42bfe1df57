// The kept file of the gate: per row the ratio, the noise of repeated measurements, and the threshold that follows from it. Made from
// several whole measurements, each with processes of its own. Pure.
import { estimateOf } from '../../conformance/src/bench/statistics/estimate.ts';
import type { KeptRow, MeasuredRow } from './judge.ts';

export type KeptFile = {
  readonly schema: 1;
  /** How the figures were measured, for people. */
  readonly about: string;
  readonly at: string;
  readonly commit: string;
  readonly machine: string;
  readonly rows: readonly (KeptRow & {
    /** From the lowest to the highest of the measurements, as a share of their median. */
    readonly spread: number;
  })[];
};

/** All rows of one measurement. */
export type Run = readonly MeasuredRow[];

/** Less would be red by chance sooner or later, and more would not find a fifth. */
const thresholds = { least: 0.08, most: 0.12 } as const;

/** Throws if a row was not measured in every run. */
export function keptRows(runs: readonly Run[]): KeptFile['rows'] {
  const names = [...new Set(runs.flatMap((rows) => rows.map(({ name }) => name)))];
  if (runs.length < 2 || names.length === 0)
    throw new Error('at least two measurements with rows are needed');
  return names.map((name) => keptRow(name, runs));
}

function keptRow(name: string, runs: readonly Run[]): KeptFile['rows'][number] {
  const estimate = estimateOf(runs.map((rows) => ratioOf(rows, name)));
  if (estimate === undefined) throw new Error(`${name}: not measured`);
  const { median, high, spread } = estimate;
  return {
    name,
    ratio: rounded(median),
    threshold: thresholdFor(high / median - 1),
    spread: rounded(spread),
  };
}

/** One and a half times by how much the highest measurement was above the median, within bounds: only upwards can a row become red. */
export function thresholdFor(above: number): number {
  return rounded(Math.min(thresholds.most, Math.max(thresholds.least, above * 1.5)));
}

function ratioOf(rows: Run, name: string): number {
  const row = rows.find((candidate) => candidate.name === name);
  if (row?.ratio === undefined) throw new Error(`${name}: not measured: ${row?.fault ?? 'no ratio'}`);
  return row.ratio;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
