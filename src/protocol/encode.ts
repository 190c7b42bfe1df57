// Encodes a message's fields: the body, and the frame around it. Writes into a buffer that the caller owns, so that a batch of frames can
// share one. Compresses nothing. Implements FRAME-001, FRAME-002, BODY-001 to BODY-004, BODY-007, BODY-008, BODY-010 and BODY-013; the
// layout is drawn in message.ts.

// The global is an accessor, which takes time for each message (docs/internals/performance.md).
import { Buffer } from 'node:buffer';
import { Command } from './command.ts';
import { type Algorithm, FrameFlags, flagsOf } from './compression.ts';
import { maxEncodableHeaderCount, maxStringBytes } from './limits.ts';
import { type MessageFields, noHeaders, noPayload, protocolVersion } from './message.ts';

/** Bytes before the body: its length (4) and the flags (1). */
export const frameHeaderBytes = 5;

/** The number of bytes that `writeBody` writes. Throws RangeError if a field is too long for its length prefix. */
export function encodedBodyLength(fields: MessageFields): number {
  const headers = fields.headers ?? noHeaders;
  if (headers.size > maxEncodableHeaderCount)
    throw new RangeError(`${headers.size} headers do not fit into a frame.`);
  let length = 2 + string16Length(fields.id) + string16Length(fields.queue ?? '');
  length += 4 + (fields.payload ?? noPayload).length + 2;
  for (const [key, value] of headers) length += string16Length(key) + string16Length(value);
  if (fields.command !== Command.Error) return length;
  return length + string16Length(fields.errorCode ?? '') + string16Length(fields.errorMessage ?? '');
}

/**
 * Writes a body at `offset` and returns the offset after it. `target` must have room for `encodedBodyLength(fields)`, which throws for
 * what does not fit. Unpaired surrogates become U+FFFD: UTF-8 cannot hold them.
 */
export function writeBody(fields: MessageFields, target: Buffer, offset: number): number {
  const payload = fields.payload ?? noPayload;
  const headers = fields.headers ?? noHeaders;
  target[offset] = protocolVersion;
  target[offset + 1] = fields.command;
  let at = writeString16(fields.id, target, offset + 2);
  at = writeString16(fields.queue ?? '', target, at);
  at = writeUint32(target, at, payload.length);
  if (payload.length > 0) at += payload.copy(target, at);
  at = writeUint16(target, at, headers.size);
  for (const [key, value] of headers) at = writeString16(value, target, writeString16(key, target, at));
  if (fields.command !== Command.Error) return at;
  at = writeString16(fields.errorCode ?? '', target, at);
  return writeString16(fields.errorMessage ?? '', target, at);
}

/** Writes the 5 bytes before a body of `bodyLength` bytes (as sent) and returns the offset after them. */
export function writeFrameHeader(target: Buffer, offset: number, bodyLength: number, flags: number): number {
  const at = writeUint32(target, offset, bodyLength);
  target[at] = flags;
  return at + 1;
}

export function encodeBody(fields: MessageFields): Buffer {
  const body = Buffer.allocUnsafe(encodedBodyLength(fields));
  writeBody(fields, body, 0);
  return body;
}

/** A whole uncompressed frame. */
export function encodeFrame(fields: MessageFields): Buffer {
  const bodyLength = encodedBodyLength(fields);
  const frame = Buffer.allocUnsafe(frameHeaderBytes + bodyLength);
  writeBody(fields, frame, writeFrameHeader(frame, 0, bodyLength, FrameFlags.None));
  return frame;
}

/** A whole frame around a body that is already encoded, and already compressed if an algorithm is given. */
export function frameOf(body: Buffer, algorithm?: Algorithm): Buffer {
  const frame = Buffer.allocUnsafe(frameHeaderBytes + body.length);
  body.copy(frame, writeFrameHeader(frame, 0, body.length, flagsOf(algorithm)));
  return frame;
}

function string16Length(text: string): number {
  const length = Buffer.byteLength(text);
  if (length > maxStringBytes) throw new RangeError(`A text of ${length} bytes does not fit into a frame.`);
  return 2 + length;
}

/** For numbers that are certain to fit. A method of Buffer that checks that takes 15 ns, and a frame has five numbers. */
function writeUint32(target: Buffer, at: number, value: number): number {
  return writeUint16(target, writeUint16(target, at, value >>> 16), value);
}

function writeUint16(target: Buffer, at: number, value: number): number {
  target[at] = value >>> 8;
  target[at + 1] = value;
  return at + 2;
}

/** Up to this length a loop over the characters is quicker than the call into the runtime. */
const shortTextLength = 40;

function writeString16(text: string, target: Buffer, offset: number): number {
  if (text.length <= shortTextLength) {
    const end = writeShortAscii(text, target, offset + 2);
    if (end !== undefined) {
      writeUint16(target, offset, text.length);
      return end;
    }
  }
  const length = target.write(text, offset + 2);
  target.writeUInt16BE(length, offset);
  return offset + 2 + length;
}

/** Undefined, with the bytes at `offset` undetermined, when the text is not ASCII or there is no room for it. */
function writeShortAscii(text: string, target: Buffer, offset: number): number | undefined {
  if (offset + text.length > target.length) return undefined;
  for (let index = 0; index < text.length; index += 1) {
    const unit = text.charCodeAt(index);
    if (unit >= 0x80) return undefined;
    target[offset + index] = unit;
  }
  return offset + text.length;
}
