// The content of a message in a form for people, and back, byte for byte: headers, and the payload as JSON if that is lossless. Parts that
// cannot be expressed so have their bytes beside them. Uses no files.

import { Command } from '../../protocol/command.ts';
import { decodeMessage } from '../../protocol/decode.ts';
import { encodeBody } from '../../protocol/encode.ts';
import { isFault } from '../../protocol/fault.ts';

export type ReadableContent = {
  readonly headers?: Readonly<Record<string, string>>;
  /** A JSON text in its shortest form, as a value. */
  readonly payload?: unknown;
  /** Any other text, unchanged: a JSON text with spaces, a number that no double can hold, ... */
  readonly payloadText?: string;
  /** Bytes that are not valid text. */
  readonly payloadBase64?: string;
  /** All bytes of the content, if the fields above do not reproduce them. Only this field is read then; the others are for people. */
  readonly contentBase64?: string;
};

/** The message that the content belongs to. */
export type ContentOwner = { readonly id: string; readonly queue: string };

/** The readable form. `bytesOfContent` turns it back into the same bytes. */
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

/** The bytes of a readable form. Throws RangeError if a text is too long for a frame. */
export function bytesOfContent(readable: ReadableContent, { id, queue }: ContentOwner): Buffer {
  if (readable.contentBase64 !== undefined) return Buffer.from(readable.contentBase64, 'base64');
  const headers = new Map(Object.entries(readable.headers ?? {}));
  return encodeBody({ command: Command.Deliver, id, queue, headers, payload: bytesOfPayload(readable) });
}

/** Whether the bytes are a valid content of the message with this id. */
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

/** The JSON value of a text, if JSON.stringify writes it exactly so. */
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
