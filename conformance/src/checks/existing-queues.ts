// Checks of CreateQueue for a queue that exists, with options that no queue can have, or that only one of both has. Area: QUEUE.
import type { Check, CheckModule } from '../check.ts';
import { Command } from '../wire/command.ts';
import { newQueue } from './shared/queue-state.ts';

const invalidPayloads = ['[]', '{"maxQueueSize":"many"}', '{"maxQueueSize":0}', '{"mode":9}', '{"mode":'];

/** Defaults that differ from those of the specification can be equal to the options here. */
const rulesOfDefaults = ['QUEUE-002', 'QUEUE-003', 'QUEUE-004', 'QUEUE-005', 'QUEUE-006', 'QUEUE-007'];

/** Options with another value than their default. */
const notDefault = [
  { mode: 3 },
  { maxQueueSize: 7 },
  { messageTtl: '01:00:00' },
  { enableDeadLetterQueue: true },
  { overflowStrategy: 1 },
  { maxRetryAttempts: 9 },
] as const;

export const existingQueueChecks: CheckModule = [
  // QUEUE-012 (SHOULD): The broker answers a CreateQueue with other options on an existing queue by Error QUEUE_EXISTS.
  {
    id: 'QUEUE-012c',
    title:
      'answers CreateQueue for an existing queue with QUEUE_EXISTS when only the one or the other has an option',
    clauses: ['QUEUE-012'],
    profile: 'core',
    evidence: { frames: 18, assertions: 12 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const plain = await newQueue(ctx, client, 'plain');
      for (const options of notDefault) {
        const [option = ''] = Object.keys(options);
        const queue = await newQueue(ctx, client, option, options);
        for (const [named, payload] of [
          [plain, JSON.stringify(options)],
          [queue, '{}'],
        ] as const) {
          const fields = { command: Command.CreateQueue, id: ctx.id(), queue: named, payload };
          const { errorCode } = await client.request(fields);
          ctx.assert.ok(errorCode === 'QUEUE_EXISTS', `${payload} is refused, where ${option} differs`, {
            expected: 'QUEUE_EXISTS',
            actual: errorCode,
            possibleCauses: rulesOfDefaults,
          });
        }
      }
    },
  },
  // QUEUE-011 (SHOULD): The broker answers a CreateQueue on an existing queue positively, when its options, with the
  // defaults for those that it omits, equal the live ones.
  {
    id: 'QUEUE-011b',
    title: "answers a repeated CreateQueue with success, whatever the server's defaults for what it omits",
    clauses: ['QUEUE-011'],
    profile: 'limits',
    requires: { configuration: { queueDefaults: { deliveryMode: 'PriorityBased', maxQueueSize: 77 } } },
    evidence: { frames: 20, messages: 4, assertions: 8 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const options of [{}, { mode: 1 }, { maxQueueSize: 7 }, { overflowStrategy: 1 }]) {
        const [name = 'none'] = Object.keys(options);
        const queue = await newQueue(ctx, client, name, options);
        for (const again of [options, { mode: 0, maxQueueSize: 10_000, ...options }]) {
          const payload = JSON.stringify(again);
          const answer = await client.request({ command: Command.CreateQueue, id: ctx.id(), queue, payload });
          const what = `${payload} is accepted for a queue with ${JSON.stringify(options)}`;
          ctx.assert.ok(answer.errorCode === '', what, {
            expected: 'CreateQueue',
            actual: answer.errorCode,
            possibleCauses: rulesOfDefaults,
          });
        }
        // A broker that keeps no queues would answer alike.
        await client.publish(queue, '1');
        await client.subscribe(queue);
        await client.ack(await client.delivery({ queue }));
      }
    },
  },
  // QUEUE-041 (SHOULD): The broker refuses a CreateQueue payload that is not a JSON object, or that contains a value of
  // the wrong type, with INVALID_PAYLOAD.
  {
    id: 'QUEUE-041b',
    title: 'refuses invalid options also for a queue that exists, and does not change it',
    clauses: ['QUEUE-041', 'QUEUE-009', 'QUEUE-012'],
    profile: 'core',
    accepts: ['INVALID_PAYLOAD, for the options', 'QUEUE_EXISTS, for other options than the live ones'],
    evidence: { frames: 7, assertions: 6 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'exists', { maxQueueSize: 7 });
      const before = await client.queueInfo(queue);
      for (const payload of invalidPayloads) {
        const answer = await client.request({ command: Command.CreateQueue, id: ctx.id(), queue, payload });
        const what = `the error code for the options ${payload}`;
        ctx.assert.oneOf(answer.errorCode, ['INVALID_PAYLOAD', 'QUEUE_EXISTS'], what);
      }
      ctx.assert.deepEqual(await client.queueInfo(queue), before, 'QueueInfo of the queue', 'QUEUE-009');
    },
  },
] satisfies readonly Check[];
