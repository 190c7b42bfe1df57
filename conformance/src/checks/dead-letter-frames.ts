// Checks of frames with dead letters at the limits of the protocol: the largest message, and the most headers. Area: FRAME.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { frameAround } from '../wire/encode.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { publishBodyOf } from './shared/bodies.ts';
import { type MessageName, takeDeadLetter } from './shared/retry-attempts.ts';
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
    clauses: ['FRAME-023', 'DLQ-013'],
    profile: 'retry-dlq',
    accepts: ['the headers of a dead letter', 'a dead letter has no such headers (not applicable)'],
    evidence: { frames: 12, messages: 2 },
    run: async (ctx) => {
      const names = Array.from({ length: 50 }, (_, index) => `h${index}`);
      const headers = Object.fromEntries(names.map((name) => [name, 'v']));
      const reasonWith = async (name: string, published: Readonly<Record<string, string>>) => {
        const publish = (client: Connection, { queue, id }: MessageName) =>
          client.publish(queue, '1', { id, headers: published });
        return (await redirected(ctx, publish, name)).header('deadLetterReason');
      };
      const reason = await reasonWith('few', {});
      if (reason === undefined) ctx.notApplicable('a dead letter has no header deadLetterReason');
      ctx.assert.equal(await reasonWith('many', headers), reason, 'header deadLetterReason');
    },
  },
] satisfies readonly Check[];

/** The dead letter of a message that is published to a full RedirectToDlq queue. */
async function redirected(
  ctx: CheckContext,
  publish: (client: Connection, message: MessageName) => Promise<unknown>,
  name = 'largest',
): Promise<ReceivedFrame> {
  const client = await ctx.connect();
  // The names are equally long: a longer one would make the frame longer, without any header.
  const [queue, letters] = [ctx.queue(`${name}-1`), ctx.queue(`${name}-2`)];
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
