// What a message contains, as the engine keeps it: the body of its Deliver frame, made once when the message is published.
// It differs from the Publish body in one byte, so nothing is decoded or encoded again unless something is added.
// Implements DELIVERY (the same id, queue, headers and payload bytes) and FRAME (nothing larger than the limit is sent).

import type { DeliverEffect } from '../../broker/interface/effect.ts';
import { Command } from '../../protocol/command.ts';
import { decodeMessage } from '../../protocol/decode.ts';
import { encodeBody, encodedBodyLength } from '../../protocol/encode.ts';
import { isFault } from '../../protocol/fault.ts';
import { HeaderName } from '../../protocol/header-name.ts';
import { type Message, type MessageFields, protocolVersion } from '../../protocol/message.ts';
import { formatTimestamp } from '../../protocol/time-span.ts';

/** The body to deliver: the published one up to the end of its fields, copied, since a view would pin what it arrived in. */
export function contentOf(body: Buffer, message: Message): Buffer {
  const content = Buffer.allocUnsafe(message.endAt);
  body.copy(content, 0, 0, message.endAt);
  content[0] = protocolVersion;
  content[1] = Command.Deliver;
  return content;
}

/** The body of the Deliver frame for this sending. Added headers are left out where they would not fit. */
export function deliverBody(effect: DeliverEffect, maxBodyBytes: number): Buffer {
  const content = effect.content as Buffer;
  if (effect.attempt === 1 && effect.deadLetter === undefined) return content;
  const message = decodeMessage(content);
  if (isFault(message)) throw new Error(`The content of message ${effect.id} cannot be decoded.`);
  const fields = { ...message, queue: effect.queue };
  const extended: MessageFields = {
    ...fields,
    headers: new Map([...message.headers, ...addedHeaders(effect)]),
  };
  return encodeBody(encodedBodyLength(extended) <= maxBodyBytes ? extended : fields);
}

function* addedHeaders({ attempt, deadLetter }: DeliverEffect): Iterable<readonly [string, string]> {
  if (attempt > 1) yield [HeaderName.DeliveryAttempts, String(attempt)];
  if (deadLetter === undefined) return;
  yield [HeaderName.DeadLetterReason, deadLetter.reason];
  yield [HeaderName.DeadLetterSource, deadLetter.source];
  yield [HeaderName.DeadLetterAttempts, String(deadLetter.attempts)];
  yield [HeaderName.DeadLetteredAt, formatTimestamp(deadLetter.deadLetteredWallAt)];
}
