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
  /** What the second file does not tell about the first: rows and figures that it lacks, and rounds that failed in it. */
  readonly gaps: readonly string[];
  /** What else keeps figures from being compared, or makes the comparison unfair. */
  readonly notes: readonly string[];
};

export function compareResults(before: BenchResult, after: BenchResult): Comparison {
  const pairs = after.rows.flatMap((later) => {
    const earlier = sameRow(before, later, later.target);
    return earlier === undefined ? [] : [{ before, after, earlier, later }];
  });
  return {
    figures: pairs.flatMap(comparedFigures),
    gaps: [
      ...rowsMissingIn(after, before).map((row) => `only in the first file: ${row}`),
      ...pairs.flatMap(({ later }) => failuresOf(later).map((text) => `failed in the second file: ${text}`)),
      ...pairs.flatMap((pair) => figuresWithoutPartner(pair.earlier, pair.later, 'first')),
      ...pairs.flatMap(figuresWithoutRatio),
    ],
    notes: [
      ...rowsMissingIn(before, after).map((row) => `only in the second file: ${row}`),
      ...pairs.flatMap(({ earlier }) =>
        failuresOf(earlier).map((text) => `failed in the first file: ${text}`),
      ),
      ...pairs.flatMap((pair) => figuresWithoutPartner(pair.later, pair.earlier, 'second')),
      ...differentConditions(before, after),
    ],
  };
}

/** Whether every figure of the first file could be compared with that of the second. */
export function isComplete({ figures, gaps }: Comparison): boolean {
  return gaps.length === 0 && figures.every(({ difference }) => difference.verdict !== 'too few rounds');
}

/** One line per figure, and a last one that counts. */
export function comparisonLines({ figures, gaps, notes }: Comparison): readonly string[] {
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
  const remarks = [...gaps, ...notes];
  return [...aligned(heads, rows), ...(remarks.length > 0 ? ['', ...remarks] : []), '', sum];
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

function rowsMissingIn(result: BenchResult, other: BenchResult): readonly string[] {
  return other.rows.filter((row) => sameRow(result, row, row.target) === undefined).map(nameOf);
}

function failuresOf(row: BenchRow): readonly string[] {
  return row.faults.map((fault) => `${nameOf(row)}, ${fault}`);
}

/** Figures that no round of the other row has. Where rounds of it failed, these are told already. */
function figuresWithoutPartner(row: BenchRow, other: BenchRow, which: 'first' | 'second'): readonly string[] {
  if (other.faults.length > 0) return [];
  return comparableMetrics(row)
    .filter((metric) => estimateOf(roundsOf(other, metric)) === undefined)
    .map((metric) => `only in the ${which} file: ${nameOf(row)}, ${metricNamed(metric)?.label}`);
}

/** Both rows have these figures, and in one file no round of the first target has. */
function figuresWithoutRatio(pair: Pair): readonly string[] {
  const bases = basesOf(pair);
  if (bases === undefined) return [];
  const { earlier, later } = pair;
  const hasRatio = (row: BenchRow, base: BenchRow, metric: string): boolean =>
    ratioOf(roundsOf(row, metric), roundsOf(base, metric)) !== undefined;
  return comparableMetrics(earlier)
    .filter((metric) => estimateOf(roundsOf(later, metric)) !== undefined)
    .filter((metric) => !hasRatio(earlier, bases.earlier, metric) || !hasRatio(later, bases.later, metric))
    .map((metric) => `no ratio to ${bases.later.target}: ${nameOf(later)}, ${metricNamed(metric)?.label}`);
}

function comparableMetrics(row: BenchRow): readonly string[] {
  return Object.keys(row.values).filter(
    (metric) => metricNamed(metric)?.better !== undefined && estimateOf(roundsOf(row, metric)) !== undefined,
  );
}

function nameOf({ job, load, target }: BenchRow): string {
  return `${job} ${load}, ${target}`;
}

/** The name of each row tells these. */
const settingsInRows = ['payloadBytes', 'rates', 'subscriberCounts', 'roundCount'];

function differentConditions(before: BenchResult, after: BenchResult): readonly string[] {
  const { loadAverage: _before, ...earlierMachine } = before.machine;
  const { loadAverage: _after, ...laterMachine } = after.machine;
  const [earlier, later] = [
    { ...before.settings, ...earlierMachine },
    { ...after.settings, ...laterMachine },
  ] as readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, unknown>>];
  return [...new Set([...Object.keys(earlier), ...Object.keys(later)])]
    .filter((name) => !settingsInRows.includes(name))
    .filter((name) => JSON.stringify(earlier[name]) !== JSON.stringify(later[name]))
    .map(
      (name) =>
        `measured under other conditions: ${name} is ${wordOf(earlier[name])}, then ${wordOf(later[name])}`,
    );
}

function wordOf(value: unknown): string {
  return value === undefined ? 'not set' : String(value);
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
