// Observes the maximum message size: sends a message of the default limit, and only announces one that is a byte larger. Areas: LIMIT,
// FRAME.
import { Command } from '../wire/command.ts';
import { encodeBody, frameAround } from '../wire/encode.ts';
import type { FrameFields } from '../wire/frame.ts';
import type { Observer } from './observation.ts';
import type { ProbeClient } from './probe-client.ts';

const defaultLimitBytes = 1_048_576;
const triedBytes = [defaultLimitBytes, 262_144, 65_536];

export const observeMessageSizes: Observer = async (client) => {
  const queue = client.queue('sizes');
  for (const bytes of triedBytes) {
    const refusal = await refusalOf(client, queue, bytes);
    if (refusal === undefined) return { facts: [{ topic: 'size', text: await limitText(client, bytes) }] };
  }
  return { facts: [{ topic: 'size', text: `refuses a body of ${triedBytes.at(-1)} bytes` }] };
};

async function limitText(client: ProbeClient, takenBytes: number): Promise<string> {
  const taken = `accepts a body of ${takenBytes} bytes`;
  if (takenBytes < defaultLimitBytes)
    return `${taken} and refuses ${takenBytes * 4}: declare limits.maxMessageSizeBytes`;
  const connection = await client.connect();
  const { length } = frameAround(Buffer.alloc(0));
  const head = frameAround(Buffer.alloc(0), { lengthBytes: defaultLimitBytes + 1 }).subarray(0, length);
  await connection.sendRaw(head);
  const answer = await connection.expectOrClosed('Error').catch(() => undefined);
  const over = `${taken}; one byte more`;
  if (answer === undefined) return `${over} gets no answer: the limit is higher`;
  return typeof answer === 'string' ? `${over} closes the connection` : `${over} gets ${answer.errorCode}`;
}

/** Why the broker refuses a Publish with a body of this size; undefined if it accepts it. */
async function refusalOf(client: ProbeClient, queue: string, bytes: number): Promise<string | undefined> {
  const connection = await client.connect();
  const fields: FrameFields = { command: Command.Publish, id: client.id(), queue, payload: '""' };
  const fill = 'x'.repeat(bytes - encodeBody(fields).length);
  const answer = await connection.request({ ...fields, payload: `"${fill}"` }).catch(() => undefined);
  return answer?.command === Command.PublishAck ? undefined : (answer?.errorCode ?? 'no answer');
}
