// The runner's own encoder: encodes fields into bytes, written from the specification alone. It does not validate the fields, because many
// checks send invalid frames. `bodyBytes` and `frameAround` build frames that are invalid on purpose. Areas: FRAME, BODY.
import { Command } from './command.ts';
import type { FrameFields } from './frame.ts';
import { headerPairs } from './frame.ts';

/** The body of a frame: all fields in the order of the specification. */
export function encodeBody(fields: FrameFields): Buffer {
  const headers = headerPairs(fields.headers);
  const payload = contentBytes(fields.payload);
  return bodyBytes(
    u8(fields.version ?? 1),
    u8(fields.command),
    string16(fields.id),
    string16(fields.queue ?? ''),
    u32(payload.length),
    payload,
    u16(headers.length),
    ...headers.flatMap(([key, value]) => [string16(key), string16(value)]),
    ...(fields.command === Command.Error
      ? [string16(fields.errorCode ?? ''), string16(fields.errorMessage ?? '')]
      : []),
  );
}

/** The UTF-8 bytes of a text; a buffer is returned unchanged, not copied. */
export function contentBytes(content: string | Buffer = ''): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : content;
}

/** A complete uncompressed frame. */
export function encodeFrame(fields: FrameFields): Buffer {
  return frameAround(encodeBody(fields));
}

/** A frame with this body. `override` replaces the correct length field or flags byte by a wrong one. */
export function frameAround(body: Buffer, override: { lengthBytes?: number; flags?: number } = {}): Buffer {
  return bodyBytes(u32(override.lengthBytes ?? body.length), u8(override.flags ?? 0), body);
}

/** Joins pieces, for bodies that fields cannot describe. */
export function bodyBytes(...pieces: readonly Buffer[]): Buffer {
  return Buffer.concat(pieces);
}

export function u8(value: number): Buffer {
  return Buffer.from([value]);
}

export function u16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** A length of two bytes, then the text in UTF-8 (or the given bytes). Throws a RangeError if there are more than 65,535 bytes. */
export function string16(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  return bodyBytes(u16(bytes.length), bytes);
}

/** A length of four bytes, then the bytes. */
export function bytes32(content: string | Buffer): Buffer {
  const bytes = contentBytes(content);
  return bodyBytes(u32(bytes.length), bytes);
}
