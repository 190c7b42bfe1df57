// Fields that QueueInfo and the records of health and metrics must have: a missing one is named in the failure, rather than met as a
// value that did not come. Areas: QUEUE, HEALTH, METRICS.
import type { CheckContext } from '../../check.ts';
import { display, ExpectationFailure } from '../../expectation.ts';

export type JsonRecord = Readonly<Record<string, unknown>>;

/** Where a field stands: `QueueInfo`, `the record`; and the requirement that it is there, the check's main one unless given. */
export type Place = { readonly name: string; readonly clause?: string };

export const inTheRecord: Place = { name: 'the record' };
export const inQueueInfo: Place = { name: 'QueueInfo', clause: 'QUEUE-021' };

/** The value of a field that must be there. */
export function requiredField(record: JsonRecord, field: string, { name, clause }: Place): unknown {
  if (Object.hasOwn(record, field)) return record[field];
  throw new ExpectationFailure(`field ${field} is missing from ${name}`, {
    expected: `field ${field}`,
    actual: display(record),
    clause,
  });
}

/** Every field is there, with this type. */
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
