// Checks of queue options in forms that look like others: a dead letter queue that is named as it would be anyway, and a time span with all the
// digits that it may have. QueueInfo shows both as they were given. Area: QUEUE.
import type { CheckModule } from '../check.ts';
import { infoField } from './shared/queue-state.ts';

export const optionFormChecks: CheckModule = [
  // QUEUE-023 (MUST): QueueInfo contains deadLetterQueueName when the options set it; when the name is generated,
  // deadLetterQueueName is absent or null.
  {
    id: 'QUEUE-023b',
    title:
      'sends deadLetterQueueName in QueueInfo also when the options set it to the name that would be generated',
    clauses: ['QUEUE-023'],
    profile: 'core',
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = ctx.queue('named');
      const deadLetterQueueName = `${queue}.dlq`;
      await client.createQueue(queue, { enableDeadLetterQueue: true, deadLetterQueueName });
      const shown = (await client.queueInfo(queue))?.['deadLetterQueueName'];
      ctx.assert.equal(shown, deadLetterQueueName, 'deadLetterQueueName of a queue whose options set it');
    },
  },
  // QUEUE-050 (SHOULD): messageTtl in QueueInfo has each digit of the messageTtl that the options set.
  {
    id: 'QUEUE-050a',
    title: 'sends a messageTtl in QueueInfo with the seven digits that it was given',
    clauses: ['QUEUE-050', 'QUEUE-022', 'BODY-040'],
    profile: 'core',
    evidence: { frames: 5, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const messageTtl of ['01:02:03.4567891', '1.00:00:00.0000001']) {
        const queue = ctx.id('precise');
        await client.createQueue(queue, { messageTtl });
        ctx.assert.equal(await infoField(client, queue, 'messageTtl'), messageTtl, 'messageTtl', 'QUEUE-050');
      }
    },
  },
];
