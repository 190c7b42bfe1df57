// Encodes a simulated client's command to the bytes of its frame.

import { Priority } from '../../model/priority.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import { Command } from '../../protocol/command.ts';
import type { Algorithm } from '../../protocol/compression.ts';
import { encodeBody, frameOf } from '../../protocol/encode.ts';
import { HeaderName } from '../../protocol/header-name.ts';
import type { Headers, MessageFields } from '../../protocol/message.ts';
import { formatTimeSpan } from '../../protocol/time-span.ts';
import type { SentCommand } from './history.ts';
import { inPlaceCompressor } from './simulated-compressor.ts';

export type Saying = {
  /** Offered in a Connect. */
  readonly compression: Algorithm | undefined;
  /** Used for this frame. */
  readonly compressed: Algorithm | undefined;
  /** For an Ack: an id of its own, the message's goes into a header. */
  readonly ackId: string | undefined;
};

const priorityNames: readonly string[] = Object.keys(Priority);

export function frameOfCommand(command: SentCommand, saying: Saying): Buffer {
  if (command.fault === 'frame') return Buffer.alloc(5);
  const body = encodeBody(fieldsOf(command, saying));
  if (command.fault === 'body') return frameOf(body.subarray(0, body.length - 1));
  if (saying.compressed === undefined) return frameOf(body);
  const compressed = inPlaceCompressor().compress(saying.compressed, body);
  if (compressed instanceof Promise) throw new Error('The simulation compresses in place.');
  return frameOf(compressed, saying.compressed);
}

/** The headers that a publish is sent with; its subscribers receive them unchanged. */
export function publishHeaders(number: number, priority: number, more: Headers): Headers {
  const headers = new Map([['number', String(number)], ...more]);
  const name = priorityNames[priority];
  if (priority !== Priority.Normal && name !== undefined) headers.set(HeaderName.Priority, name);
  return headers;
}

function fieldsOf(sent: SentCommand, { compression, ackId }: Saying): MessageFields {
  const { command, id, queue, published, options } = sent;
  const fields = { command, id, queue };
  switch (command) {
    case Command.Connect:
      if (compression === undefined) return fields;
      return { ...fields, headers: new Map([[HeaderName.SupportedCompression, compression]]) };
    case Command.Publish:
      return published === undefined
        ? fields
        : { ...fields, payload: published.payload, headers: published.headers };
    case Command.Subscribe:
      if (sent.maxInFlight === undefined) return fields;
      return { ...fields, headers: new Map([[HeaderName.MaxInFlight, String(sent.maxInFlight)]]) };
    case Command.CreateQueue:
      return options === undefined
        ? fields
        : { ...fields, payload: Buffer.from(JSON.stringify(jsonOf(options))) };
    case Command.Ack:
      return ackFields(sent, ackId);
    default:
      return fields;
  }
}

function ackFields(
  { command, id, queue, failureReason }: SentCommand,
  ackId: string | undefined,
): MessageFields {
  const headers = new Map<string, string>();
  if (ackId !== undefined) headers.set(HeaderName.MessageId, id);
  if (failureReason !== undefined) headers.set(HeaderName.FailureReason, failureReason);
  return { command, id: ackId ?? id, queue, headers };
}

function jsonOf({ messageTtlMs, ...options }: QueueOptions): object {
  return messageTtlMs === undefined ? options : { ...options, messageTtl: formatTimeSpan(messageTtlMs) };
}
