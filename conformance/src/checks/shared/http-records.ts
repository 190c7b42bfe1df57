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
  ctx.assert.oneOf(answer.status, statuses, `the status of ${path}`);
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
  const isThere = (seen: JsonRecord): boolean =>
    Object.entries(wanted).every(([field, value]) => seen[field] === value);
  await eventually(ctx, look, isThere, `${path} shows ${JSON.stringify(wanted)}`);
}
