// Reads required fields of QueueInfo and of the health and metrics records. A missing field fails the check with the name of the field.
// Areas: QUEUE, HEALTH, METRICS.
import type { CheckContext } from '../../check.ts';
import { display, ExpectationFailure } from '../../expectation.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** The place of a field, for failures, and the requirement that the field exists (default: the check's main requirement). */
export type Place = { readonly name: string; readonly clause?: string };

export const inTheRecord: Place = { name: 'the record' };
export const inQueueInfo: Place = { name: 'QueueInfo', clause: 'QUEUE-021' };

/** The value of a required field. Fails when the field is missing. */
export function requiredField(record: JsonRecord, field: string, { name, clause }: Place): unknown {
  if (Object.hasOwn(record, field)) return record[field];
  throw new ExpectationFailure(`field ${field} is missing from ${name}`, {
    expected: `field ${field}`,
    actual: display(record),
    clause,
  });
}

/** Asserts that every field exists and has this type. */
export function expectFields(
  ctx: CheckContext,
  record: JsonRecord,
  types: Readonly<Record<string, 'number' | 'string' | 'boolean'>>,
  place: Place = inTheRecord,
): void {
  for (const [field, type] of Object.entries(types)) {
    const value = requiredField(record, field, place);
    const expected = `a ${type}`;
    const clause = place.clause === undefined ? {} : { clause: place.clause };
    ctx.assert.ok(typeof value === type, `field ${field} of ${place.name} is ${expected}`, {
      expected,
      actual: value,
      ...clause,
    });
  }
}
