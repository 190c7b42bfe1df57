// Adds the statistics of successive engines: counters continue from those of the previous engine, gauges are those of the running
// engine. Implements METRICS-007 (counters never fall) where a broker recovers.

import type { Engine } from './engine.ts';

export type EngineStats = ReturnType<Engine['stats']>;

const counters = [
  'publishedCount',
  'deliveredCount',
  'acknowledgedCount',
  'retryCount',
  'deadLetteredCount',
  'discardedCount',
  'purgedCount',
  'firstDeliveryCount',
  'firstDeliveryLatencySumMs',
  'errorsCount',
  'connectionsAcceptedCount',
  'connectionsRejectedCount',
] as const satisfies readonly (keyof EngineStats)[];

/** The gauges of `current`, and the sums of both counters. */
export function addStats(past: EngineStats | undefined, current: EngineStats): EngineStats {
  if (past === undefined) return current;
  const sums = Object.fromEntries(counters.map((name) => [name, past[name] + current[name]]));
  return { ...current, ...sums, averageDeliveryLatencyMs: averageLatencyMs(past, current) };
}

function averageLatencyMs(past: EngineStats, current: EngineStats): number {
  const count = past.firstDeliveryCount + current.firstDeliveryCount;
  if (count === 0) return 0;
  const sumMs = ({ averageDeliveryLatencyMs: averageMs, firstDeliveryCount }: EngineStats) =>
    averageMs * firstDeliveryCount;
  return (sumMs(past) + sumMs(current)) / count;
}
