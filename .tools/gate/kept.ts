// The kept file of the gate: the commit of the kept broker, per row its ratio, the noise of repeated measurements, and the threshold that follows
// from it. Made from several whole measurements of one broker as both, each with processes of its own. Pure.
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
    /** By which part the ratios of the measurements differed, from the lowest to the highest. */
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
  const highest = Math.max(...runs.map((rows) => changeOf(rows, name)));
  const { median, spread } = estimate;
  return { name, ratio: rounded(median), threshold: thresholdFor(highest), spread: rounded(spread) };
}

/** Twice by how much the broker seemed slower than itself at most, within bounds. */
export function thresholdFor(above: number): number {
  return rounded(Math.min(thresholds.most, Math.max(thresholds.least, above * 2)));
}

function ratioOf(rows: Run, name: string): number {
  const row = rows.find((candidate) => candidate.name === name);
  if (row?.ratio === undefined) throw new Error(`${name}: not measured: ${row?.fault ?? 'no ratio'}`);
  return row.ratio;
}

function changeOf(rows: Run, name: string): number {
  const row = rows.find((candidate) => candidate.name === name);
  if (row?.change === undefined) throw new Error(`${name}: not measured beside itself`);
  return row.change;
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
