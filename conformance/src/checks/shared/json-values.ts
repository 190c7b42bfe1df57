// JSON texts that JSON decoders and stores often change, and the assertion that the broker delivers them unchanged. Areas: DELIVERY,
// PUBLISH.
import type { CheckContext } from '../../check.ts';
import { newQueue } from './queue-state.ts';

/** Numbers that a double cannot represent, that can be written in several ways, or that are long. */
export const exactNumbers: readonly string[] = [
  ...['9007199254740993', '-9007199254740993', '18446744073709551617', '123456789012345678901234567891'],
  ...['1e400', '-1E+400', '1e-400', '0.30000000000000004441', '3.141592653589793238462643383279502884'],
  ...['1.0', '10e-1', '-0', '-0.0', '1.50e1', '1E2', '-2.5E-3', '0.1', '100000000000000000000000'],
  '{"id":9007199254740993,"all":[1e400,{"price":0.1000000000000000055511151231257827021181583404541015625}]}',
];

/** Empty and false values, escapes, characters outside the Basic Multilingual Plane, unusual names, nested arrays and objects. */
export const unusualValues: readonly string[] = [
  ...['0', 'false', 'null', '""', '[]', '{}', '{"a":{"b":[1,"2",null]}}', ' [ 1 ,\t2 ]\r\n'],
  ...['"\\u0041\\/\\"\\\\\\b\\f\\n\\r\\t"', '"\\u0000\\u001f\\u007f\\u2028"', '"\\\\u0041"'],
  // Not escaped: letters that are not composed, a byte order mark inside a text, and characters that some parsers take for the end of a line.
  ...['"e\u0301 A\u030a \u212b"', '"\ufeffa\u007f\u0085\u2028\uffff"', '{"e\u0301":1,"\u00e9":2}'],
  ...['"🚀𝄞\\ud83d\\ude80"', '"e\\u0301 \\u00e9 ß"', '{"\\u0061":1,"":2,"🚀 ":3,"__proto__":{"b":4}}'],
  ...['[[],[[]],{},[{}],"",[null]]', nested(20)],
];

/** Arrays and objects nested this many levels deep. */
function nested(levels: number): string {
  const pairs = levels / 2;
  return `${'[{"a":'.repeat(pairs)}null${'}]'.repeat(pairs)}`;
}

/** Publishes the payloads one after another and asserts that each is delivered with the same JSON value. */
export async function expectSameValues(ctx: CheckContext, payloads: readonly string[]): Promise<void> {
  const client = await ctx.connect();
  const queue = await newQueue(ctx, client, 'values');
  await client.subscribe(queue);
  for (const payload of payloads) {
    const { id } = await client.publish(queue, payload);
    const delivery = await client.delivery({ queue, id });
    ctx.assert.sameJson(delivery.payload, payload, `the JSON value delivered for ${payload}`, 'DELIVERY-053');
    await client.ack(delivery);
  }
}
