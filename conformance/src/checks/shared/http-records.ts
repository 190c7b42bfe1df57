// Shared by the checks of health and metrics: reads a record at a path, and waits for values that the broker may update later. Areas:
// HEALTH, METRICS.
import type { CheckContext } from '../../check.ts';
import { eventually } from './queue-state.ts';
import type { JsonRecord } from './required-fields.ts';
import { requiredField } from './required-fields.ts';

export const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?(Z|\+00:00)$/;

/** The JSON object at a path. Asserts that the status is one of these. */
export async function recordAt(
  ctx: CheckContext,
  path: string,
  statuses: readonly number[],
): Promise<JsonRecord> {
  const answer = await ctx.http.get(path);
  ctx.assert.ok(statuses.includes(answer.status), `the status of ${path}`, {
    expected: statuses.join(' or '),
    actual: answer.status,
    possibleCauses: pathRules[path] ?? [],
  });
  const value = answer.json();
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  ctx.assert.ok(isObject, `${path} answers with a JSON object`, { actual: answer.body });
  return value as JsonRecord;
}

/** Waits until the record at the path has these values. */
export async function waitForRecord(ctx: CheckContext, path: string, wanted: JsonRecord): Promise<void> {
  const look = async (): Promise<JsonRecord> => {
    const record = await recordAt(ctx, path, [200, 503]);
    const place = { name: `the record at ${path}` };
    return Object.fromEntries(
      Object.keys(wanted).map((field) => [field, requiredField(record, field, place)]),
    );
  };
  const differing = (seen: JsonRecord): readonly string[] =>
    Object.keys(wanted).filter((field) => seen[field] !== wanted[field]);
  await eventually(ctx, look, (seen) => differing(seen).length === 0, {
    text: `${path} shows ${JSON.stringify(wanted)}`,
    causesOf: (seen) => differing(seen).flatMap((field) => fieldRules[path]?.[field] ?? []),
  });
}

const pathRules: Readonly<Record<string, readonly string[]>> = {
  '/health/': ['HEALTH-001', 'HEALTH-004'],
  '/metrics/': ['METRICS-001'],
};

/** By path and field: the requirement that says what the field counts. */
const fieldRules: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/health/': { active_connections: 'HEALTH-007', queue_count: 'HEALTH-008' },
  '/metrics/': {
    total_messages_published: 'METRICS-008',
    total_messages_delivered: 'METRICS-009',
    total_messages_acknowledged: 'METRICS-010',
    total_retries: 'METRICS-011',
    total_dead_lettered: 'METRICS-012',
    total_errors: 'METRICS-013',
    in_flight_messages: 'METRICS-014',
    active_connections: 'METRICS-016',
    active_queues: 'METRICS-017',
    total_connections_accepted: 'METRICS-018',
    total_connections_rejected: 'METRICS-019',
  },
};
