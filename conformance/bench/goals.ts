// The goals of the figures, and whether the committed results meet them. Each goal reads its value from the result of one figure; a value that
// was not measured is no goal met. The table is a part of the document. Pure.
import type { BenchResult, BenchRow } from '../src/bench/bench-result.ts';
import { roundsOf } from '../src/bench/bench-result.ts';
import { numberText } from '../src/bench/bench-table.ts';
import type { MetricName } from '../src/bench/metrics.ts';
import { estimateOf, ratioOf } from '../src/bench/statistics/estimate.ts';
import type { ResultNamed } from './figure-document.ts';

export type Goal = {
  readonly part: string;
  readonly text: string;
  /** The name of the figure. */
  readonly figure: string;
  /** Undefined where a row or a metric is missing. */
  readonly value: (result: BenchResult) => number | undefined;
  readonly digits: number;
  readonly limit: number;
  readonly kind: 'at least' | 'at most';
};

export type GoalVerdict = 'met' | 'missed' | 'not measured';

/** The broker among the targets; every other one is there for comparison. */
const measuredName = 'TrueMQ';
const memoryLimitMiB = 512;
/** 1,000,000 messages of 1 KiB and the constant of 384 B for each. */
const recoveredMiB = (1_000_000 * (1024 + 384)) / 1024 ** 2;

export const goals: readonly Goal[] = [
  ratioGoal('Throughput', '100 B: 0.45 of the skeleton', 'throughput', '100 B', 'messagesPerSecond', 0.45),
  ratioGoal('Throughput', '1 KiB: 0.55 of the skeleton', 'throughput', '1024 B', 'messagesPerSecond', 0.55),
  {
    ...valueGoal('1 KiB: 3.5 µs of server processor time', 'throughput', '1024 B', 'serverCpuUs', 3.5, 2),
    part: 'Throughput',
  },
  ratioGoal('Throughput', '16 KiB: 0.6 of the skeleton', 'throughput', '16384 B', 'messagesPerSecond', 0.6),
  {
    ...valueGoal(
      '2,000 msg/s: half of the messages within 100 µs',
      'latency',
      '1024 B at 2000 msg/s',
      'p50Us',
      100,
    ),
    part: 'Latency',
  },
  {
    ...valueGoal('2,000 msg/s: 99 of 100 within 600 µs', 'latency', '1024 B at 2000 msg/s', 'p99Us', 600),
    part: 'Latency',
  },
  {
    ...valueGoal(
      'half of the maximum rate: 99 of 100 within 5,000 µs',
      'latency',
      '1024 B at half of the most',
      'p99Us',
      5000,
    ),
    part: 'Latency',
  },
  ratioGoal(
    'Fan-out',
    '1 to 100 with acknowledgments: 0.45 of the skeleton',
    'fan-out',
    '1 to 100, FanOutWithAck, 1024 B',
    'deliveriesPerSecond',
    0.45,
  ),
  growthGoal('1,000,000 messages waiting', '1,000,000 waiting'),
  growthGoal('10,000 queues', '10,000 queues'),
  growthGoal('1,000 idle connections', '1,000 idle connections'),
  footprintGoal('idle: 65 MiB', 'idleMiB', 65),
  footprintGoal('start to handshake: 250 ms', 'startMs', 250, 0),
  footprintGoal('100,000 queued messages of 1 KiB: 176 MiB', 'backlogMiB', 176),
  footprintGoal('1,000 idle connections: 16 MiB', 'connectionsMiB', 16),
  {
    part: 'How long the loop is held',
    text: '50 ms',
    figure: 'loop-hold',
    // How long a stopped broker is silent is the machine's doing.
    value: (result) =>
      highest(
        ownRows(result).filter(({ load }) => !load.includes('is stopped')),
        (row) => medianOf(row, 'holdMs'),
      ),
    digits: 1,
    limit: 50,
    kind: 'at most',
  },
  {
    part: 'More than fits',
    text: 'a process of at most 1,024 MiB',
    figure: 'memory-limit',
    value: (result) => highest(ownRows(result), (row) => medianOf(row, 'peakRssMiB')),
    digits: 0,
    limit: 1024,
    kind: 'at most',
  },
  {
    part: 'What is held',
    text: 'in each row at most what is allowed: the highest share of it',
    figure: 'memory-truth',
    value: (result) => highest(ownRows(result), shareOfAllowed),
    digits: 2,
    limit: 1,
    kind: 'at most',
  },
  {
    part: 'One that never reads',
    text: 'at most 15 percent more processor time',
    figure: 'slow-reader',
    value: (result) => highest(besideBase(result), (row) => ratioToBase(result, row, 'serverCpuUs')),
    digits: 2,
    limit: 1.15,
    kind: 'at most',
  },
  ratioGoal('Durable', '0.75 of the skeleton', 'durable', '1024 B', 'messagesPerSecond', 0.75),
  {
    ...valueGoal(
      'half of the maximum rate: 99 of 100 confirmed within 10,000 µs',
      'durable',
      '1024 B at half of the most',
      'confirmP99Us',
      10_000,
    ),
    part: 'Durable',
  },
  {
    ...valueGoal(
      'serves within 15,000 ms',
      'recovery',
      '1,000,000 of 1 KiB after a kill',
      'recoveryMs',
      15_000,
    ),
    part: 'Recovery',
  },
  {
    ...valueGoal(
      `less than twice the ${numberText(recoveredMiB, 0)} MiB that it holds`,
      'recovery',
      '1,000,000 of 1 KiB after a kill',
      'peakRssMiB',
      Math.floor(2 * recoveredMiB),
    ),
    part: 'Recovery',
  },
];

/** The table, and the commits of its figures. */
export function goalLines(all: readonly Goal[], resultNamed: ResultNamed): readonly string[] {
  const rows = all.map((goal) => {
    const value = valueOfGoal(goal, resultNamed(goal.figure));
    const cell = value === undefined ? '-' : numberText(value, goal.digits);
    return `| ${goal.part} | ${goal.text} | ${cell} | ${verdictOf(goal, value)} |`;
  });
  const commits = new Set(all.map(({ figure }) => resultNamed(figure)?.commit ?? 'unknown'));
  return ['| part | goal | measured | |', '|---|---|--:|---|', ...rows, '', commitLine([...commits])];
}

/** Judged as it is shown, so that nobody reads 1.15 and "more than 1.15". */
export function verdictOf({ kind, limit, digits }: Goal, value: number | undefined): GoalVerdict {
  if (value === undefined || !Number.isFinite(value)) return 'not measured';
  const shown = Number(value.toFixed(digits));
  return (kind === 'at least' ? shown >= limit : shown <= limit) ? 'met' : 'missed';
}

export function valueOfGoal(goal: Goal, result: BenchResult | undefined): number | undefined {
  return result === undefined ? undefined : goal.value(result);
}

function commitLine(commits: readonly string[]): string {
  if (commits.length === 1) return `All figures are of commit ${commits[0]}.`;
  return `The figures are of ${commits.length} commits (${commits.join(', ')}): \`npm run bench\` measures all at one.`;
}

function ratioGoal(
  part: string,
  text: string,
  figure: string,
  load: string,
  metric: MetricName,
  limit: number,
): Goal {
  const value = (result: BenchResult): number | undefined => {
    const own = ownRows(result).find((row) => row.load === load);
    const base = result.rows.find((row) => row.load === load && row.target === result.targets[0]?.name);
    if (own === undefined || base === undefined || own === base) return undefined;
    return ratioOf(roundsOf(own, metric), roundsOf(base, metric))?.median;
  };
  return { part, text, figure, value, digits: 2, limit, kind: 'at least' };
}

function valueGoal(
  text: string,
  figure: string,
  load: string,
  metric: MetricName,
  limit: number,
  digits = 0,
): Omit<Goal, 'part'> {
  const value = (result: BenchResult): number | undefined => {
    const row = ownRows(result).find((candidate) => candidate.load === load);
    return row === undefined ? undefined : medianOf(row, metric);
  };
  return { text, figure, value, digits, limit, kind: 'at most' };
}

function footprintGoal(text: string, metric: MetricName, limit: number, digits = 1): Goal {
  return { ...valueGoal(text, 'start', 'idle and filled', metric, limit, digits), part: 'Footprint' };
}

/** The highest of the phases: publishing, delivering, and both. */
function growthGoal(words: string, ending: string): Goal {
  return {
    part: 'Growth',
    text: `processor time, ${words}: at most a fifth more`,
    figure: 'depth',
    value: (result) =>
      highest(
        besideBase(result).filter(({ load }) => load.endsWith(ending)),
        (row) => ratioToBase(result, row, 'serverCpuUs'),
      ),
    digits: 2,
    limit: 1.2,
    kind: 'at most',
  };
}

function ownRows({ rows }: BenchResult): readonly BenchRow[] {
  return rows.filter(({ target }) => target === measuredName);
}

function besideBase(result: BenchResult): readonly BenchRow[] {
  return ownRows(result).filter(({ baseLoad }) => baseLoad !== undefined);
}

function ratioToBase({ rows }: BenchResult, row: BenchRow, metric: MetricName): number | undefined {
  const base = rows.find(({ load, target }) => load === row.baseLoad && target === row.target);
  return base === undefined ? undefined : ratioOf(roundsOf(row, metric), roundsOf(base, metric))?.median;
}

/** Where clients try to exceed the memory limit, all that is resident counts; else what the process has grown by. */
function shareOfAllowed(row: BenchRow): number | undefined {
  const allowed = medianOf(row, 'allowedMiB');
  const used = medianOf(row, allowed === memoryLimitMiB ? 'peakRssMiB' : 'growthMiB');
  return allowed === undefined || used === undefined ? undefined : used / allowed;
}

function medianOf(row: BenchRow, metric: MetricName): number | undefined {
  return estimateOf(roundsOf(row, metric))?.median;
}

/** Undefined where there is no row, or one has no value. */
function highest(rows: readonly BenchRow[], pick: (row: BenchRow) => number | undefined): number | undefined {
  const values = rows.map(pick);
  if (values.length === 0 || values.includes(undefined)) return undefined;
  return Math.max(...values.filter((value) => value !== undefined));
}
