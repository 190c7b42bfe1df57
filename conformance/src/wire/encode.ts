// The runner's own encoder: fields to bytes, by the normative text alone. It encodes what it is told, rules or no
// rules, because half of its work is to send what no broker may accept; `bodyBytes` and `frameAround` build
// frames that are wrong on purpose. Areas: FRAME, BODY.
import { Command } from './command.ts';
import type { FrameFields } from './frame.ts';
import { headerPairs } from './frame.ts';

/** The body of a frame: every field in the order of the normative text. */
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

/** A text's bytes in UTF-8; bytes as they are, not a copy. */
export function contentBytes(content: string | Buffer = ''): Buffer {
  return typeof content === 'string' ? Buffer.from(content) : content;
}

/** A whole uncompressed frame. */
export function encodeFrame(fields: FrameFields): Buffer {
  return frameAround(encodeBody(fields));
}

/** The five leading bytes and a body. `lengthBytes` and `flags` may lie. */
export function frameAround(body: Buffer, lie: { lengthBytes?: number; flags?: number } = {}): Buffer {
  return bodyBytes(u32(lie.lengthBytes ?? body.length), u8(lie.flags ?? 0), body);
}

/** Pieces put one after the other, for bodies that no field list can describe. */
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

/** Two bytes of length, then the text in UTF-8 (or the bytes as given). Throws a RangeError over 65,535 bytes. */
export function string16(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  return bodyBytes(u16(bytes.length), bytes);
}

/** Four bytes of length, then the bytes. */
export function bytes32(content: string | Buffer): Buffer {
  const bytes = contentBytes(content);
  return bodyBytes(u32(bytes.length), bytes);
}
