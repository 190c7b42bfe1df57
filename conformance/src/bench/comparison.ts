// Compares two result files: what became better or worse, and what is noise. If both files have the same first target, the ratios to it are
// compared, because a slow machine affects both parts of a ratio; else the figures themselves. Pure.
import type { BenchResult, BenchRow } from './bench-result.ts';
import { roundsOf } from './bench-result.ts';
import { aligned, numberText } from './bench-table.ts';
import { metricNamed } from './metrics.ts';
import type { FigureDifference } from './statistics/difference.ts';
import { differenceOf } from './statistics/difference.ts';
import type { Estimate } from './statistics/estimate.ts';
import { estimateOf, ratioOf } from './statistics/estimate.ts';

export type ComparedFigure = {
  readonly job: string;
  readonly load: string;
  readonly target: string;
  readonly metric: string;
  /** `ratio`: to the first target of each file. */
  readonly by: 'ratio' | 'value';
  readonly before: Estimate;
  readonly after: Estimate;
  readonly difference: FigureDifference;
};

export type Comparison = {
  readonly figures: readonly ComparedFigure[];
  /** Rows that only one file has, and figures that failed in one. */
  readonly unmatched: readonly string[];
};

export function compareResults(before: BenchResult, after: BenchResult): Comparison {
  const pairs = after.rows.flatMap((row) => {
    const earlier = sameRow(before, row, row.target);
    return earlier === undefined ? [] : [{ earlier, later: row }];
  });
  const figures = pairs.flatMap(({ earlier, later }) => comparedFigures({ before, after, earlier, later }));
  return { figures, unmatched: [...missingIn(before, after), ...missingIn(after, before)] };
}

/** One line per figure, and a last one that counts. */
export function comparisonLines({ figures, unmatched }: Comparison): readonly string[] {
  const heads = ['load', 'target', 'figure', 'before', 'after', 'change', 'noise', ''];
  const rows = figures.map((figure) => [
    `${figure.job} ${figure.load}`,
    figure.target,
    labelOf(figure),
    valueText(figure, figure.before),
    valueText(figure, figure.after),
    signed((figure.difference.ratio - 1) * 100),
    `${Math.round(figure.difference.noise * 100)}%`,
    wordsOf(figure),
  ]);
  const count = (verdict: FigureDifference['verdict']): number =>
    figures.filter(({ difference }) => difference.verdict === verdict).length;
  const sum = `${count('better')} better, ${count('worse')} worse, ${count('within noise')} within noise, ${count('too few rounds')} with too few rounds to tell`;
  return [...aligned(heads, rows), ...unmatched, '', sum];
}

type Pair = {
  readonly before: BenchResult;
  readonly after: BenchResult;
  readonly earlier: BenchRow;
  readonly later: BenchRow;
};

function comparedFigures(pair: Pair): readonly ComparedFigure[] {
  const { job, load, target } = pair.later;
  const bases = basesOf(pair);
  return Object.keys(pair.later.values).flatMap((metric) => {
    const better = metricNamed(metric)?.better;
    const before = estimateBy(pair.earlier, bases?.earlier, metric);
    const after = estimateBy(pair.later, bases?.later, metric);
    if (better === undefined || before === undefined || after === undefined) return [];
    const difference = differenceOf(before, after, better);
    return [
      { job, load, target, metric, by: bases === undefined ? 'value' : 'ratio', before, after, difference },
    ];
  });
}

/** What the two rows are divided by: the same load of the first target, where that is the same in both files and another one. */
function basesOf({
  before,
  after,
  later,
}: Pair): { readonly earlier: BenchRow; readonly later: BenchRow } | undefined {
  const first = after.targets[0]?.name;
  if (first === later.target || first !== before.targets[0]?.name) return undefined;
  const [earlierBase, laterBase] = [sameRow(before, later, first), sameRow(after, later, first)];
  if (earlierBase === undefined || laterBase === undefined) return undefined;
  return { earlier: earlierBase, later: laterBase };
}

function estimateBy(row: BenchRow, base: BenchRow | undefined, metric: string): Estimate | undefined {
  const rounds = roundsOf(row, metric);
  return base === undefined ? estimateOf(rounds) : ratioOf(rounds, roundsOf(base, metric));
}

function sameRow(result: BenchResult, row: BenchRow, target: string | undefined): BenchRow | undefined {
  return result.rows.find(
    (other) => other.job === row.job && other.load === row.load && other.target === target,
  );
}

function missingIn(result: BenchResult, other: BenchResult): readonly string[] {
  return other.rows
    .filter((row) => sameRow(result, row, row.target) === undefined)
    .map((row) => `only in the file of ${other.at}: ${row.job} ${row.load}, ${row.target}`);
}

function labelOf({ metric, by }: ComparedFigure): string {
  const label = metricNamed(metric)?.label ?? metric;
  return by === 'ratio' ? `${label}, ratio` : label;
}

function valueText({ metric, by }: ComparedFigure, { median }: Estimate): string {
  return numberText(median, by === 'ratio' ? 3 : (metricNamed(metric)?.digits ?? 2));
}

function signed(percent: number): string {
  return `${percent >= 0 ? '+' : ''}${percent.toFixed(1)}%`;
}

/** Memory is not fast, so it has words of its own. */
function wordsOf({ metric, difference: { verdict } }: ComparedFigure): string {
  if (verdict !== 'better' && verdict !== 'worse') return verdict;
  if (metric.endsWith('MiB')) return verdict === 'better' ? 'smaller' : 'larger';
  return verdict === 'better' ? 'faster' : 'slower';
}
