// What a message contains as people read and write it, and back, byte for byte: headers, and the payload as JSON where that loses
// nothing of it. What cannot be said so has its bytes beside it. Knows nothing of files. Implements DURABLE (a store as text).

import { Command } from '../../protocol/command.ts';
import { decodeMessage } from '../../protocol/decode.ts';
import { encodeBody } from '../../protocol/encode.ts';
import { isFault } from '../../protocol/fault.ts';

export type ReadableContent = {
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON text that is written in the shortest way, as its value. */
  readonly payload?: unknown;
  /** Any other text, as it is: a JSON text with blanks, a number that no double holds, ... */
  readonly payloadText?: string;
  /** Bytes that are no text. */
  readonly payloadBase64?: string;
  /** All of the content, where the above do not make up the same bytes. It counts; the others are for the reader. */
  readonly contentBase64?: string;
};

/** Whose content it is. */
export type ContentOwner = { readonly id: string; readonly queue: string };

/** The readable form. `bytesOfContent` makes the same bytes of it. */
export function readableContent(content: Buffer, owner: ContentOwner): ReadableContent {
  const message = decodeMessage(content);
  if (isFault(message)) return { contentBase64: content.toString('base64') };
  const { headers, payload } = message;
  const readable: ReadableContent = {
    ...(headers.size === 0 ? {} : { headers: Object.fromEntries(headers) }),
    ...(payload.length === 0 ? {} : readablePayload(payload)),
  };
  if (bytesOfContent(readable, owner).equals(content)) return readable;
  return { ...readable, contentBase64: content.toString('base64') };
}

/** The bytes that a readable form stands for. Throws RangeError where a text is longer than a frame can say. */
export function bytesOfContent(readable: ReadableContent, { id, queue }: ContentOwner): Buffer {
  if (readable.contentBase64 !== undefined) return Buffer.from(readable.contentBase64, 'base64');
  const headers = new Map(Object.entries(readable.headers ?? {}));
  return encodeBody({ command: Command.Deliver, id, queue, headers, payload: bytesOfPayload(readable) });
}

/** Whether these are the bytes of a content of the message with this id. */
export function isContentOf(content: Buffer, id: string): boolean {
  const message = decodeMessage(content);
  return !isFault(message) && message.id === id && message.command === Command.Deliver;
}

function readablePayload(payload: Buffer): ReadableContent {
  const text = payload.toString('utf8');
  if (!Buffer.from(text).equals(payload)) return { payloadBase64: payload.toString('base64') };
  const value = valueWrittenAs(text);
  return value === undefined ? { payloadText: text } : { payload: value.value };
}

/** The JSON value that is written in exactly this way when nobody asks for another one. */
function valueWrittenAs(text: string): { readonly value: unknown } | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? { value } : undefined;
  } catch {
    return undefined;
  }
}

function bytesOfPayload({ payload, payloadText, payloadBase64 }: ReadableContent): Buffer {
  if (payload !== undefined) return Buffer.from(JSON.stringify(payload));
  if (payloadText !== undefined) return Buffer.from(payloadText);
  return Buffer.from(payloadBase64 ?? '', 'base64');
}
