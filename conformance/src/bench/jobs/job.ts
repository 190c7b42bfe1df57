// The common part of all jobs: each gets targets, settings and a result collector, and adds its readings round by round. A job interleaves
// its targets and loads, so that each round compares figures measured within seconds.
import { untilInterrupted } from '../../interruption.ts';
import { visibleLine } from '../../report/visible-text.ts';
import type { ResultCollector, RowKey } from '../bench-result.ts';
import type { BenchBroker, BenchTarget } from '../bench-target.ts';
import { LoadFault } from '../load/load-fault.ts';
import type { Reading } from '../metrics.ts';
import type { Usage } from '../process-usage.ts';

/** A rate in messages per second, or half of the maximum rate of the target. */
export type OfferedRate = number | 'half';

export type BenchSettings = {
  readonly payloadBytes: readonly number[];
  readonly window: number;
  readonly prefetch: number;
  readonly rates: readonly OfferedRate[];
  readonly durationMs: number;
  readonly subscriberCounts: readonly number[];
  readonly roundCount: number;
  /** The storage that the targets are started with; absent: their default. */
  readonly storage?: 'memory' | 'durable';
};

export type JobContext = {
  readonly targets: readonly BenchTarget[];
  readonly settings: BenchSettings;
  readonly book: ResultCollector;
  /** One line on what was just measured. */
  readonly tell: (line: string) => void;
  readonly signal: AbortSignal;
};

export type Job = (context: JobContext) => Promise<void>;

/** Records the reading of one measurement, or its LoadFault. Any other error ends the run, and so does an interrupt, at once. */
export async function recordReading(
  context: JobContext,
  key: RowKey,
  round: number,
  measure: () => Promise<Reading>,
): Promise<void> {
  try {
    const reading = await untilInterrupted(context.signal, measure);
    context.book.add(key, round, reading);
    context.tell(`round ${round + 1}: ${key.job}, ${key.load}, ${key.target}: ${readingText(reading)}`);
  } catch (error) {
    if (!(error instanceof LoadFault)) throw error;
    // Texts of the broker are in it.
    const reason = visibleLine(error.message);
    context.book.fail(key, round, reason);
    context.tell(`round ${round + 1}: ${key.job}, ${key.load}, ${key.target}: failed: ${reason}`);
  }
}

/** What the server's processes used between two looks, per message; empty where they are not known. */
export function cpuPerMessage(
  before: Usage | undefined,
  after: Usage | undefined,
  messageCount: number,
): Reading {
  if (before === undefined || after === undefined || messageCount === 0) return {};
  return { serverCpuUs: (after.cpuUs - before.cpuUs) / messageCount };
}

export function mebibytes(byteCount: number): number {
  return byteCount / 1024 / 1024;
}

/** The minimum of a few samples, because memory that is freed soon does not count. Undefined if the processes are not known. */
export async function settledRssBytes(broker: BenchBroker): Promise<number | undefined> {
  const looks: number[] = [];
  for (let look = 0; look < 6; look += 1) {
    await delay(300);
    const usage = broker.usage();
    if (usage !== undefined) looks.push(usage.rssBytes);
  }
  return looks.length === 0 ? undefined : Math.min(...looks);
}

export function delay(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs);
  });
}

function readingText(reading: Reading): string {
  return Object.entries(reading)
    .map(([name, value]) => `${name} ${value >= 100 ? Math.round(value) : Math.round(value * 100) / 100}`)
    .join(', ');
}
