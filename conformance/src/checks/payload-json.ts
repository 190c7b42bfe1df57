// Checks of the JSON that a broker writes into a payload, on the example of QueueInfo: names of properties, absent values, enumeration
// values. Area: BODY.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import { newQueue } from './shared/queue-state.ts';
import { inQueueInfo, type JsonRecord, requiredField } from './shared/required-fields.ts';

export const payloadJsonChecks: CheckModule = [
  // BODY-034 (MUST): The broker writes property names in camelCase into the JSON of a payload.
  {
    id: 'BODY-034a',
    title: 'writes camelCase property names in QueueInfo',
    clauses: ['BODY-034'],
    profile: 'core',
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const info = await infoOf(ctx, { enableDeadLetterQueue: true, messageTtl: '01:00:00' });
      requiredField(info, 'maxRetryAttempts', inQueueInfo);
      for (const name of Object.keys(info))
        ctx.assert.matches(name, /^[a-z][a-zA-Z0-9]*$/, `the property name ${name}`);
    },
  },
  // BODY-035 (MUST): The broker omits a property that has no value from the JSON of a payload, or writes null for it.
  {
    id: 'BODY-035a',
    title: 'writes no value for options in QueueInfo that the queue does not have',
    clauses: ['BODY-035'],
    profile: 'core',
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const info = await infoOf(ctx, { enableDeadLetterQueue: true });
      for (const field of ['messageTtl', 'deadLetterQueueName'])
        ctx.assert.equal(info[field] ?? undefined, undefined, `${field} of a queue that has none`);
    },
  },
  // BODY-036 (MUST): The broker writes values of DeliveryMode and OverflowStrategy as numbers into the JSON of a
  // payload.
  {
    id: 'BODY-036a',
    title: 'writes deliveryMode and overflowStrategy in QueueInfo as numbers',
    clauses: ['BODY-036'],
    profile: 'core',
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const info = await infoOf(ctx, { mode: 3, overflowStrategy: 1 });
      for (const field of ['deliveryMode', 'overflowStrategy']) {
        const value = requiredField(info, field, inQueueInfo);
        ctx.assert.equal(typeof value, 'number', `the type of ${field}`);
      }
    },
  },
] satisfies readonly Check[];

/** The queue info of a new queue with these options. */
async function infoOf(ctx: CheckContext, options: Readonly<Record<string, unknown>>): Promise<JsonRecord> {
  const client = await ctx.connect();
  const info = await client.queueInfo(await newQueue(ctx, client, 'shown', options));
  ctx.assert.ok(info !== undefined, 'QueueInfo describes an existing queue', {
    actual: info,
    clause: 'QUEUE-021',
  });
  return info ?? {};
}
