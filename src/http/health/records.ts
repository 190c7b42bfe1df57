// The two records that the health server answers with: health and metrics, field by field. Pure: figures and times in, plain
// objects out. Field names are the wire's (snake_case). Implements HEALTH-002, HEALTH-003, HEALTH-006, METRICS-002 to METRICS-006.

import type { ShownStatistics } from '../broker-view.ts';
import { isMemoryHealthy, type MemorySample } from './memory.ts';

const MIB = 1024 * 1024;
const DAY_MS = 86_400_000;

export type Moment = {
  readonly stats: ShownStatistics;
  readonly memory: MemorySample;
  /** Wall clock, in milliseconds since 1970. */
  readonly wallNow: number;
  /** Time since the start of the broker, fractional. */
  readonly uptimeMs: number;
};

export type HealthRecord = {
  readonly status: 'healthy' | 'unhealthy';
  readonly is_healthy: boolean;
  readonly active_connections: number;
  readonly queue_count: number;
  readonly in_flight_messages: number;
  readonly total_messages_published: number;
  readonly total_messages_delivered: number;
  readonly memory_usage_mb: number;
  readonly timestamp: string;
};

export function healthRecord({ stats, memory, wallNow }: Moment): HealthRecord {
  const isHealthy = isMemoryHealthy(memory);
  return {
    status: isHealthy ? 'healthy' : 'unhealthy',
    is_healthy: isHealthy,
    active_connections: stats.activeConnectionCount,
    queue_count: stats.queueCount,
    in_flight_messages: stats.inFlightCount,
    total_messages_published: stats.publishedCount,
    total_messages_delivered: stats.deliveredCount,
    memory_usage_mb: Math.round(memory.residentBytes / MIB),
    timestamp: new Date(wallNow).toISOString(),
  };
}

export type MetricsRecord = {
  readonly total_messages_published: number;
  readonly total_messages_delivered: number;
  readonly total_messages_acknowledged: number;
  readonly total_retries: number;
  readonly total_dead_lettered: number;
  readonly total_errors: number;
  readonly total_connections_accepted: number;
  readonly total_connections_rejected: number;
  readonly active_connections: number;
  readonly active_queues: number;
  readonly in_flight_messages: number;
  readonly memory_usage_bytes: number;
  readonly average_delivery_latency_ms: number;
  readonly timestamp: string;
  readonly uptime: string;
};

/** The complete form of the metrics record. */
export function metricsRecord({ stats, memory, wallNow, uptimeMs }: Moment): MetricsRecord {
  return {
    total_messages_published: stats.publishedCount,
    total_messages_delivered: stats.deliveredCount,
    total_messages_acknowledged: stats.acknowledgedCount,
    total_retries: stats.retryCount,
    total_dead_lettered: stats.deadLetteredCount,
    total_errors: stats.errorsCount,
    total_connections_accepted: stats.connectionsAcceptedCount,
    total_connections_rejected: stats.connectionsRejectedCount,
    active_connections: stats.activeConnectionCount,
    active_queues: stats.queueCount,
    in_flight_messages: stats.inFlightCount,
    memory_usage_bytes: memory.residentBytes,
    average_delivery_latency_ms: stats.averageDeliveryLatencyMs,
    timestamp: new Date(wallNow).toISOString(),
    uptime: formatUptime(uptimeMs),
  };
}

/** `hh:mm:ss.fffffff`, with `d.` in front from one day on: the time span text of the protocol, always with seven digits. */
export function formatUptime(uptimeMs: number): string {
  const days = Math.floor(uptimeMs / DAY_MS);
  const ticks = Math.floor((uptimeMs % 1_000) * 10_000);
  const seconds = Math.floor((uptimeMs % DAY_MS) / 1_000);
  const clock = [seconds / 3_600, (seconds / 60) % 60, seconds % 60]
    .map((part) => pad(Math.floor(part), 2))
    .join(':');
  return `${days > 0 ? `${days}.` : ''}${clock}.${pad(ticks, 7)}`;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}
