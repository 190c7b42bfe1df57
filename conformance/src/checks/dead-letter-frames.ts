// Checks of frames with dead letters at the limits of the protocol: the largest message, and the most headers. Area: FRAME.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { frameAround } from '../wire/encode.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { publishBodyOf } from './shared/bodies.ts';
import { takeDeadLetter } from './shared/retry-attempts.ts';
import { publishSeries } from './shared/subscribers.ts';

export const deadLetterFrameChecks: CheckModule = [
  // FRAME-018 (MUST): A broker never sends a frame with a body length over MaxMessageSize.
  {
    id: 'FRAME-018b',
    title: 'sends no frame over MaxMessageSize, even when the largest message becomes a dead letter',
    clauses: ['FRAME-018'],
    profile: 'retry-dlq',
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const totalBytes = ctx.target.maxMessageSizeBytes;
      const deadLetter = await redirected(ctx, async (client, { queue, id }) => {
        await client.sendRaw(frameAround(publishBodyOf({ id, queue, totalBytes })));
        await client.expect({ command: 'PublishAck', id });
      });
      ctx.assert.between(deadLetter.bodyLengthBytes, 1000, totalBytes, 'the length of the body in bytes');
    },
  },
  // FRAME-023 (SHOULD): The broker does not count headers that it adds towards the limit of 50 headers.
  {
    id: 'FRAME-023b',
    title: 'adds the headers of a dead letter to a message that was published with fifty headers',
    clauses: ['FRAME-023', 'DLQ-013', 'DELIVERY-052'],
    profile: 'retry-dlq',
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const names = Array.from({ length: 50 }, (_, index) => `h${index}`);
      const headers = Object.fromEntries(names.map((name) => [name, 'v']));
      const deadLetter = await redirected(ctx, (client, { queue, id }) =>
        client.publish(queue, '1', { id, headers }),
      );
      const kept = names.filter((name) => deadLetter.header(name) === 'v');
      ctx.assert.equal(kept.length, 50, "number of the publisher's headers", 'DELIVERY-052');
      ctx.assert.equal(deadLetter.header('deadLetterReason'), 'QueueOverflow', 'header deadLetterReason');
    },
  },
] satisfies readonly Check[];

/** The dead letter of a message that is published to a full RedirectToDlq queue. */
async function redirected(
  ctx: CheckContext,
  publish: (client: Connection, message: { readonly queue: string; readonly id: string }) => Promise<unknown>,
): Promise<ReceivedFrame> {
  const client = await ctx.connect();
  // The names are equally long: a longer one would make the frame longer, without any header.
  const [queue, letters] = [ctx.queue('source'), ctx.queue('second')];
  const options = { overflowStrategy: 3, enableDeadLetterQueue: true, maxQueueSize: 1 };
  await client.createQueue(queue, { ...options, deadLetterQueueName: letters });
  await publishSeries(ctx, client, queue, 1);
  const id = ctx.id('m');
  await publish(client, { queue, id });
  await client.subscribe(letters);
  const deadLetter = await takeDeadLetter(ctx, client, { queue: letters, id });
  await client.ack(deadLetter);
  return deadLetter;
}
