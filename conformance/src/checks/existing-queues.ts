// Checks of CreateQueue for a queue that exists, with options that no queue can have. Area: QUEUE.
import type { Check, CheckModule } from '../check.ts';
import { Command } from '../wire/command.ts';
import { newQueue } from './shared/queue-state.ts';

const invalidPayloads = ['[]', '{"maxQueueSize":"many"}', '{"maxQueueSize":0}', '{"mode":9}', '{"mode":'];

export const existingQueueChecks: CheckModule = [
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
