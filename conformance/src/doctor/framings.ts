// The right framing of a body and common wrong ones. The doctor tries them on a broker that does not answer, because a broker that reads
// the length wrong waits for more bytes. Area: FRAME.
import { decodeBody } from '../wire/decode.ts';
import { bodyBytes, frameAround, u8, u16, u32 } from '../wire/encode.ts';
import type { DecodedBody } from '../wire/frame.ts';

export type Framing = {
  /** The mistake, as the end of "the length prefix ..". */
  readonly title: string;
  readonly encode: (body: Buffer) => Buffer;
  /** The first complete body in these bytes; undefined if there is none. */
  readonly unwrap: (bytes: Buffer) => Buffer | undefined;
};

export const rightFraming: Framing = lengthed('is right', 4, {
  write: u32,
  read: (bytes) => bytes.readUInt32BE(0),
});

export const wrongFramings: readonly Framing[] = [
  lengthed('is little-endian', 4, { write: u32le, read: (bytes) => bytes.readUInt32LE(0) }),
  lengthed('counts the flags byte too', 4, counting(1)),
  lengthed('counts its own four bytes too', 4, counting(4)),
  lengthed('counts the whole frame', 4, counting(5)),
  lengthed('has two bytes', 2, { write: u16, read: (bytes) => bytes.readUInt16BE(0) }),
  {
    title: 'is right, but the flags byte after it is missing',
    encode: (body) => bodyBytes(u32(body.length), body),
    unwrap: (bytes) => (bytes.length < 4 ? undefined : cut(bytes, 4, bytes.readUInt32BE(0))),
  },
  { title: 'is missing', encode: (body) => body, unwrap: (bytes) => (bytes.length > 0 ? bytes : undefined) },
];

type LengthField = { readonly write: (length: number) => Buffer; readonly read: (bytes: Buffer) => number };

function lengthed(title: string, width: number, field: LengthField): Framing {
  return {
    title,
    encode: (body) => bodyBytes(field.write(body.length), u8(0), body),
    unwrap: (bytes) => (bytes.length < width + 1 ? undefined : cut(bytes, width + 1, field.read(bytes))),
  };
}

function counting(extra: number): LengthField {
  return {
    write: (length) => frameAround(Buffer.alloc(0), { lengthBytes: length + extra }).subarray(0, 4),
    read: (bytes) => bytes.readUInt32BE(0) - extra,
  };
}

function u32le(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function cut(bytes: Buffer, from: number, length: number): Buffer | undefined {
  return length >= 2 && bytes.length >= from + length ? bytes.subarray(from, from + length) : undefined;
}

/** The first answer in these bytes with this framing; undefined if there is none. */
export function answerIn(bytes: Buffer, framing: Framing): DecodedBody | undefined {
  const body = framing.unwrap(bytes);
  if (body === undefined) return undefined;
  try {
    const decoded = decodeBody(body);
    const isAnswer = decoded.version === 1 && !decoded.commandName.startsWith('command ');
    return isAnswer && decoded.id !== '' ? decoded : undefined;
  } catch {
    return undefined;
  }
}
