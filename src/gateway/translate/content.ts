// What a message contains, as the core keeps it: the body of its Deliver frame, made once when the message is published. It differs from
// the Publish body in one byte, so nothing is decoded or encoded again unless a header is added. Implements FRAME-018 and FRAME-022 to
// FRAME-024.

import type { DeliverEffect, Effect } from '../../broker/interface/effect.ts';
import type { DeadLetterFacts } from '../../broker/interface/message-content.ts';
import { Command } from '../../protocol/command.ts';
import { decodeMessage } from '../../protocol/decode.ts';
import { encodeBody, encodedBodyLength } from '../../protocol/encode.ts';
import { isFault } from '../../protocol/fault.ts';
import type { FramePlace } from '../../protocol/frame-splitter.ts';
import { HeaderName } from '../../protocol/header-name.ts';
import { type Message, type MessageFields, protocolVersion } from '../../protocol/message.ts';
import { formatTimestamp } from '../../protocol/time-span.ts';
import { KeptContent } from '../kept-content.ts';

/**
 * The body to deliver: the published one up to the end of its fields. Changes its first bytes there, which must not be read again, and keeps the bytes
 * themselves if the frame is alone in them.
 */
export function contentOf({ bytes, start, isAlone }: FramePlace, message: Message): KeptContent {
  bytes[start] = protocolVersion;
  bytes[start + 1] = Command.Deliver;
  return KeptContent.of(bytes, start, start + message.endAt, isAlone);
}

/** The body of the Deliver frame for this delivery attempt. Leaves out added headers that do not fit. */
export function deliverBody(effect: DeliverEffect, maxBodyBytes: number): KeptContent | Buffer {
  const content = effect.content as KeptContent;
  if (effect.attempt === 1 && effect.deadLetter === undefined) return content;
  const message = decodeMessage(content.toBytes());
  if (isFault(message)) throw new Error(`The content of message ${effect.id} cannot be decoded.`);
  const { command, id, payload, headers } = message;
  const fields: MessageFields = { command, id, queue: effect.queue, payload, headers };
  const extended: MessageFields = {
    ...fields,
    headers: new Map([...message.headers, ...addedHeaders(effect)]),
  };
  return encodeBody(encodedBodyLength(extended) <= maxBodyBytes ? extended : fields);
}

const nothing = Buffer.alloc(0);

/** The bodies of the deliveries of one batch. A content that goes to several connections in a row is turned into bytes once. */
export class DeliverBodies {
  #content: KeptContent | undefined;
  #bytes: Buffer = nothing;

  /** `next`: the effect that follows. */
  bodyOf(effect: DeliverEffect, next: Effect | undefined, maxBodyBytes: number): KeptContent | Buffer {
    const body = deliverBody(effect, maxBodyBytes);
    if (!(body instanceof KeptContent)) return body;
    if (body === this.#content) return this.#bytes;
    if (next?.kind !== 'deliver' || next.content !== body) return body;
    this.#content = body;
    this.#bytes = body.toBytes();
    return this.#bytes;
  }

  /** Frees the memory. */
  clear(): void {
    this.#content = undefined;
    this.#bytes = nothing;
  }
}

function* addedHeaders({ attempt, deadLetter }: DeliverEffect): Iterable<readonly [string, string]> {
  if (attempt > 1) yield [HeaderName.DeliveryAttempts, String(attempt)];
  if (deadLetter !== undefined) yield* deadLetterHeaders(deadLetter);
}

/** The headers that say why and from where a message was dead-lettered. */
export function* deadLetterHeaders(deadLetter: DeadLetterFacts): Iterable<readonly [string, string]> {
  yield [HeaderName.DeadLetterReason, deadLetter.reason];
  yield [HeaderName.DeadLetterSource, deadLetter.source];
  yield [HeaderName.DeadLetterAttempts, String(deadLetter.attempts)];
  yield [HeaderName.DeadLetteredAt, formatTimestamp(deadLetter.deadLetteredWallAt)];
}
