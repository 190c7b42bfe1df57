// What is measured: each metric's name in result files, its words in tables, and which way is better. A name never changes its
// meaning: result files are compared across versions. A table.
import type { Direction } from './statistics/difference.ts';

export type Metric = {
  readonly label: string;
  readonly digits: number;
  /** Left out: told, and not compared. */
  readonly better?: Direction;
};

export const benchMetrics = {
  messagesPerSecond: { label: 'msg/s', digits: 0, better: 'more' },
  deliveriesPerSecond: { label: 'deliveries/s', digits: 0, better: 'more' },
  serverCpuUs: { label: 'server CPU µs', digits: 2, better: 'less' },
  publisherCpuUs: { label: 'publisher CPU µs', digits: 2 },
  subscriberCpuUs: { label: 'subscriber CPU µs', digits: 2 },
  ratePerSecond: { label: 'rate', digits: 0 },
  p50Us: { label: 'p50 µs', digits: 0, better: 'less' },
  p90Us: { label: 'p90 µs', digits: 0, better: 'less' },
  p99Us: { label: 'p99 µs', digits: 0, better: 'less' },
  p999Us: { label: 'p99.9 µs', digits: 0, better: 'less' },
  maxUs: { label: 'max µs', digits: 0 },
  confirmP99Us: { label: 'confirm p99 µs', digits: 0, better: 'less' },
  generatorLateUs: { label: 'generator late p99 µs', digits: 0 },
  repeatedCount: { label: 'delivered again', digits: 0 },
  rssMiB: { label: 'RSS MiB', digits: 0, better: 'less' },
  startMs: { label: 'start to handshake ms', digits: 0, better: 'less' },
  idleMiB: { label: 'idle RSS MiB', digits: 1, better: 'less' },
  backlogMiB: { label: 'MiB per 100,000 queued', digits: 1, better: 'less' },
  connectionsMiB: { label: 'MiB per 1,000 connections', digits: 1, better: 'less' },
  holdMs: { label: 'longest hold ms', digits: 1, better: 'less' },
  eventMs: { label: 'event took ms', digits: 0 },
  peakRssMiB: { label: 'peak RSS MiB', digits: 0, better: 'less' },
  acceptedCount: { label: 'accepted', digits: 0 },
  refusedCount: { label: 'refused', digits: 0 },
  recoveryMs: { label: 'start to ready ms', digits: 0, better: 'less' },
  diskBytes: { label: 'bytes on disk per message', digits: 0, better: 'less' },
  deliveredCount: { label: 'delivered', digits: 0 },
  heldMiB: { label: 'held MiB', digits: 1 },
  growthMiB: { label: 'growth MiB', digits: 1, better: 'less' },
  allowedMiB: { label: 'allowed MiB', digits: 1 },
  growthRatio: { label: 'growth / held', digits: 2, better: 'less' },
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof benchMetrics;

/** One round's figures. */
export type Reading = Readonly<Partial<Record<MetricName, number>>>;

export function metricNamed(name: string): Metric | undefined {
  return (benchMetrics as Readonly<Record<string, Metric>>)[name];
}
