// Results as text: one table per job, a line per load and target. Each figure has the noise of its rounds and its ratio to the first target
// or to the smallest load. Markdown, which also reads well on a terminal. Pure.
import type { BenchResult, BenchRow } from './bench-result.ts';
import { roundsOf } from './bench-result.ts';
import { benchMetrics, metricNamed } from './metrics.ts';
import type { Estimate } from './statistics/estimate.ts';
import { estimateOf, ratioOf } from './statistics/estimate.ts';

export function resultLines(result: BenchResult): readonly string[] {
  const { machine } = result;
  const head = `${result.at}: ${machine.cores} cores, Node ${machine.node}, ${machine.platform} ${machine.arch}`;
  const jobs = [...new Set(result.rows.map(({ job }) => job))];
  return [head, ...jobs.flatMap((job) => ['', `${job}:`, '', ...jobLines(result, job)])];
}

/** The table of one job, and what failed in it. */
export function jobLines(result: BenchResult, job: string): readonly string[] {
  const rows = result.rows.filter((row) => row.job === job);
  const names = Object.keys(benchMetrics).filter((name) => rows.some((row) => name in row.values));
  const heads = ['load', 'target', ...names.map((name) => metricNamed(name)?.label ?? name)];
  const lines = rows.map((row) => [row.load, row.target, ...names.map((name) => cell(result, row, name))]);
  const faults = rows.flatMap(({ load, target, faults }) =>
    faults.map((fault) => `failed: ${load}, ${target}, ${fault}`),
  );
  return [...aligned(heads, lines), ...(faults.length > 0 ? ['', ...faults] : [])];
}

/** `412,345 ±4% (0.61)`: the median, the spread of the rounds, the ratio. */
function cell(result: BenchResult, row: BenchRow, name: string): string {
  const estimate = estimateOf(roundsOf(row, name));
  if (estimate === undefined) return '-';
  const metric = metricNamed(name);
  const base = baseOf(result, row);
  const ratio =
    base === undefined || metric?.better === undefined
      ? undefined
      : ratioOf(roundsOf(row, name), roundsOf(base, name));
  return [
    numberText(estimate.median, metric?.digits ?? 2),
    ...(estimate.roundCount > 1 && metric?.better !== undefined ? [noiseText(estimate)] : []),
    ...(ratio === undefined ? [] : [`(${numberText(ratio.median, 2)})`]),
  ].join(' ');
}

/** The row that a row is compared with; undefined for the first one. */
function baseOf({ rows, targets }: BenchResult, row: BenchRow): BenchRow | undefined {
  const first = row.baseLoad === undefined ? targets[0]?.name : row.target;
  const wanted = row.baseLoad ?? row.load;
  const base = rows.find(({ job, load, target }) => job === row.job && load === wanted && target === first);
  return base === row ? undefined : base;
}

function noiseText({ spread }: Estimate): string {
  return `±${Math.round((spread / 2) * 100)}%`;
}

/** Thousands apart, as people read them. */
export function numberText(value: number, digits: number): string {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** A Markdown table: words to the left, figures to the right. */
export function aligned(heads: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = heads.map((head, column) =>
    Math.max(3, head.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const isWords = (column: number): boolean => column < 2;
  const line = (cells: readonly string[]): string => {
    const padded = cells.map((text, column) =>
      isWords(column) ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0),
    );
    return `| ${padded.join(' | ')} |`;
  };
  const rule = widths.map((width, column) =>
    isWords(column) ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(heads), `|${rule.map((dashes) => ` ${dashes} `).join('|')}|`, ...rows.map(line)];
}
