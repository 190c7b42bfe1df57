// Decodes an uncompressed frame body to a message: the layout only. The rules for the contents of fields are in field-rules.ts. Never
// throws because of the bytes, and allocates little: this is the hot path. Implements BODY-001 to BODY-004, BODY-006 to BODY-012 and
// BODY-029; the layout is drawn in message.ts.

import { Command } from './command.ts';
import { messageFault, type ProtocolFault } from './fault.ts';
import { minMessageSizeBytes } from './limits.ts';
import { type Headers, type Message, noHeaders, noPayload } from './message.ts';

/** The fields of a decoded message that depend on its bytes one by one. */
type DecodedFields = Omit<Message, 'payload'>;

/**
 * A message as it lies in the bytes that it was decoded from. Most payloads are only scanned, where they are, so the view of one is made when it is
 * asked for (docs/internals/performance.md); a spread of the message has none.
 */
export class DecodedMessage implements Message {
  readonly version: number;
  readonly command: number;
  readonly id: string;
  readonly queue: string;
  readonly headers: Headers;
  readonly errorCode: string;
  readonly errorMessage: string;
  readonly endAt: number;
  readonly bytes: Buffer;
  /** Where the payload begins in `bytes`, and where it ends. */
  readonly payloadStart: number;
  readonly payloadEnd: number;

  constructor(fields: DecodedFields, bytes: Buffer, payloadStart: number, payloadEnd: number) {
    this.version = fields.version;
    this.command = fields.command;
    this.id = fields.id;
    this.queue = fields.queue;
    this.headers = fields.headers;
    this.errorCode = fields.errorCode;
    this.errorMessage = fields.errorMessage;
    this.endAt = fields.endAt;
    this.bytes = bytes;
    this.payloadStart = payloadStart;
    this.payloadEnd = payloadEnd;
  }

  get payloadLength(): number {
    return this.payloadEnd - this.payloadStart;
  }

  get payload(): Buffer {
    return this.payloadLength === 0 ? noPayload : this.bytes.subarray(this.payloadStart, this.payloadEnd);
  }
}

/**
 * Decodes a body. The payload is a view of it, so a message that outlives the body must be copied. Ignores bytes after the last field, uses
 * the last value of a repeated header key, and drops pairs with an empty key or value. Returns a fault (INVALID_MESSAGE, the connection
 * stays open) when the body is incomplete or contains text that is not UTF-8; the fault carries the id if it could be read.
 */
export function decodeMessage(body: Buffer, last?: LastQueueName): DecodedMessage | ProtocolFault {
  return decodeBody({ bytes: body, start: 0, end: body.length }, last);
}

/** Where a body lies among other bytes. */
export type BodyPlace = { readonly bytes: Buffer; readonly start: number; readonly end: number };

/** As `decodeMessage`, for a body that is a part of more bytes. */
export function decodeBody(
  { bytes, start, end }: BodyPlace,
  last: LastQueueName = newLastQueueName(),
): DecodedMessage | ProtocolFault {
  if (end - start < minMessageSizeBytes)
    return messageFault('The body is too short for a version and a command.', '');
  return decodePlain(bytes, start, end, last) ?? decodeAny(bytes.subarray(start, end));
}

/** Longer names of queues are not kept for the next message, because no budget counts what a connection keeps here. In bytes. */
const MAX_KEPT_NAME_BYTES = 255;

/** The queue of the last message of a connection, most of which name one queue. ASCII, at most 255 bytes. */
export type LastQueueName = { text: string };

export function newLastQueueName(): LastQueueName {
  return { text: '' };
}

/**
 * A whole message without headers whose texts are ASCII, as nearly all are; undefined for every other body. It makes no cursor, checks the end
 * once, and makes no new string for the queue. With one object less for each message in src/session that saves 5 percent of the broker's own
 * cost of a message (docs/internals/performance.md).
 */
function decodePlain(
  bytes: Buffer,
  start: number,
  end: number,
  last: LastQueueName,
): DecodedMessage | undefined {
  const idAt = start + minMessageSizeBytes + 2;
  const queueAt = idAt + uint16(bytes, idAt - 2) + 2;
  if (queueAt > end) return undefined;
  const payloadAt = queueAt + uint16(bytes, queueAt - 2) + 4;
  if (payloadAt > end) return undefined;
  const fieldsEnd = payloadAt + uint32(bytes, payloadAt - 4) + 2;
  const command = bytes[start + 1] ?? 0;
  if (fieldsEnd > end || uint16(bytes, fieldsEnd - 2) > 0 || command === Command.Error) return undefined;
  if (!isAscii(bytes, idAt, queueAt - 2) || !isAscii(bytes, queueAt, payloadAt - 4)) return undefined;
  const fields = {
    version: bytes[start] ?? 0,
    command,
    id: bytes.toString('latin1', idAt, queueAt - 2),
    queue: queueName(last, bytes, queueAt, payloadAt - 4),
    headers: noHeaders,
    errorCode: '',
    errorMessage: '',
    endAt: fieldsEnd - start,
  };
  return new DecodedMessage(fields, bytes, payloadAt, fieldsEnd - 2);
}

/** The name in these bytes, which are ASCII: that of the last message if it is the same. */
function queueName(last: LastQueueName, body: Buffer, start: number, end: number): string {
  if (isTextAt(last.text, body, start, end)) return last.text;
  const name = body.toString('latin1', start, end);
  if (name.length <= MAX_KEPT_NAME_BYTES) last.text = name;
  return name;
}

/** 0 behind the end. What lies behind the body is not used: every read is followed by a comparison with its end. */
function uint16(bytes: Buffer, at: number): number {
  return ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
}

/** All 4 bytes must be there. */
function uint32(bytes: Buffer, at: number): number {
  return bytes.readUInt32BE(at);
}

function isAscii(body: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) {
    if ((body[at] ?? 0) >= 0x80) return false;
  }
  return true;
}

/** Whether these bytes, which are ASCII, are the text. */
function isTextAt(text: string, body: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let index = 0; index < text.length; index += 1) {
    if (text.charCodeAt(index) !== body[start + index]) return false;
  }
  return true;
}

function decodeAny(body: Buffer): DecodedMessage | ProtocolFault {
  const reader = new BodyReader(body, minMessageSizeBytes);
  const command = body[1] ?? 0;
  const id = reader.string16('id');
  const queue = reader.string16('queue');
  const payloadLength = reader.payloadLength();
  const payloadEnd = reader.at;
  const headers = reader.headers();
  const isError = command === Command.Error;
  const errorCode = isError ? reader.string16('errorCode') : '';
  const errorMessage = isError ? reader.string16('errorMessage') : '';
  if (reader.failure !== '') return messageFault(reader.failure, id);
  const version = body[0] ?? 0;
  const fields = { version, command, id, queue, headers, errorCode, errorMessage, endAt: reader.at };
  return new DecodedMessage(fields, body, payloadEnd - payloadLength, payloadEnd);
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A cursor over a body. After the first failure all reads return empty fields, so the caller checks once, at the end. */
class BodyReader {
  at: number;
  failure = '';
  readonly #body: Buffer;

  constructor(body: Buffer, at: number) {
    this.#body = body;
    this.at = at;
  }

  string16(field: string): string {
    const length = this.#uint16(field);
    const start = this.at;
    if (!this.#skip(length, field)) return '';
    return length === 0 ? '' : this.#text(start, this.at, field);
  }

  /** Goes behind the payload. */
  payloadLength(): number {
    const start = this.at;
    if (!this.#skip(4, 'payload')) return 0;
    const length = uint32(this.#body, start);
    return this.#skip(length, 'payload') ? length : 0;
  }

  headers(): Headers {
    const count = this.#uint16('header count');
    if (count === 0) return noHeaders;
    const headers = new Map<string, string>();
    for (let read = 0; read < count && this.failure === ''; read += 1) {
      const key = this.string16('header name');
      const value = this.string16('header value');
      if (key !== '' && value !== '') headers.set(key, value);
    }
    return headers;
  }

  #uint16(field: string): number {
    const start = this.at;
    if (!this.#skip(2, field)) return 0;
    return uint16(this.#body, start);
  }

  #skip(length: number, field: string): boolean {
    if (this.failure !== '') return false;
    if (this.at + length > this.#body.length) {
      this.failure = `The body breaks off in the ${field}.`;
      return false;
    }
    this.at += length;
    return true;
  }

  /** Nearly all text is ASCII, and Latin-1 slices are several times cheaper than decoding UTF-8 strictly. */
  #text(start: number, end: number, field: string): string {
    return isAscii(this.#body, start, end)
      ? this.#body.toString('latin1', start, end)
      : this.#utf8(start, end, field);
  }

  #utf8(start: number, end: number, field: string): string {
    try {
      return strictUtf8.decode(this.#body.subarray(start, end));
    } catch {
      this.failure = `The ${field} is not valid UTF-8.`;
      return '';
    }
  }
}
