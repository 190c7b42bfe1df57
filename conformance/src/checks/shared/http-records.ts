// Shared by the checks of health and metrics: reads a record at a path, and waits for values that the broker may update later. Areas:
// HEALTH, METRICS.
import type { CheckContext, HttpAnswer } from '../../check.ts';
import { additionalMetrics } from '../../record-forms.ts';
import { eventually } from './queue-state.ts';
import type { JsonRecord, Place } from './required-fields.ts';
import { requiredField } from './required-fields.ts';

/** The JSON object at a path. Asserts that the status is one of these. */
export async function recordAt(
  ctx: CheckContext,
  path: string,
  statuses: readonly number[],
): Promise<JsonRecord> {
  const answer = await ctx.http.get(path);
  // At another path the broker may refuse anything.
  if (path in pathRules) expectNothingAskedFor(ctx, answer, path);
  ctx.assert.ok(statuses.includes(answer.status), `the status of ${path}`, {
    expected: statuses.join(' or '),
    actual: answer.status,
    possibleCauses: pathRules[path] ?? [],
  });
  return recordIn(ctx, answer, path);
}

/** The JSON object of an answer. */
export function recordIn(ctx: CheckContext, answer: HttpAnswer, path: string): JsonRecord {
  const value = answer.json();
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const clause = pathRules[path]?.[0];
  ctx.assert.ok(isObject, `${path} answers with a JSON object`, {
    actual: answer.body,
    ...(clause === undefined ? {} : { clause }),
  });
  return value as JsonRecord;
}

/** Asserts that the broker does not ask for parameters, a payload or its type. */
export function expectNothingAskedFor(ctx: CheckContext, { status, body }: HttpAnswer, path: string): void {
  const isAsking = [400, 411, 415, 422].includes(status);
  ctx.assert.ok(!isAsking, `GET ${path} needs no parameters and no payload`, {
    actual: `${status} ${body}`,
    clause: 'HEALTH-013',
  });
}

/** The record at a path, for failures. A missing field breaks the requirement that lists it. */
export function placeOf(path: string, field: string): Place {
  const isAdditional = path === '/metrics/' && additionalMetrics.includes(field);
  const clause = isAdditional ? 'METRICS-003' : listRules[path];
  return { name: `the record at ${path}`, ...(clause === undefined ? {} : { clause }) };
}

/** Waits until the record at the path has these values. `clause`: the requirement that this is about, if not the check's main one. */
export async function waitForRecord(
  ctx: CheckContext,
  path: string,
  wanted: JsonRecord,
  clause?: string,
): Promise<void> {
  const look = async (): Promise<JsonRecord> => {
    const record = await recordAt(ctx, path, [200, 503]);
    return Object.fromEntries(
      Object.keys(wanted).map((field) => [field, requiredField(record, field, placeOf(path, field))]),
    );
  };
  const differing = (seen: JsonRecord): readonly string[] =>
    Object.keys(wanted).filter((field) => seen[field] !== wanted[field]);
  await eventually(ctx, look, (seen) => differing(seen).length === 0, {
    text: `${path} shows ${JSON.stringify(wanted)}`,
    ...(clause === undefined ? {} : { clause }),
    causesOf: (seen) => differing(seen).flatMap((field) => fieldRules[path]?.[field] ?? []),
  });
}

const pathRules: Readonly<Record<string, readonly string[]>> = {
  '/health/': ['HEALTH-001', 'HEALTH-004'],
  '/metrics/': ['METRICS-001'],
};

/** By path: the requirement that lists the fields that the record must have. */
const listRules: Readonly<Record<string, string>> = { '/health/': 'HEALTH-002', '/metrics/': 'METRICS-002' };

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
