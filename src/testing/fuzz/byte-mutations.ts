// Changes to bytes that know nothing of what the bytes mean: flip, set, cut, remove, insert, duplicate, splice. All chance comes from the
// generator that is given.

import type { Random } from '../simulation/random.ts';

/** Longest piece that is removed, inserted or duplicated. */
const MAX_PIECE_BYTES = 64;

/** Bytes at which decoders go wrong more often than at others. */
const ODD_BYTES = [0x00, 0x01, 0x7f, 0x80, 0xbf, 0xc0, 0xed, 0xf4, 0xfe, 0xff];

/** A changed copy; `other` is what a piece is taken from when two inputs are spliced. */
export function mutateBytes(bytes: Buffer, other: Buffer, random: Random): Buffer {
  const at = random.whole(0, Math.max(0, bytes.length - 1));
  const length = random.whole(1, MAX_PIECE_BYTES);
  const [head, tail] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random.pick(kinds)) {
    case 'flip':
      return withByte(bytes, at, (bytes[at] ?? 0) ^ (1 << random.whole(0, 7)));
    case 'set':
      return withByte(bytes, at, random.chance(0.5) ? random.pick(ODD_BYTES) : random.whole(0, 255));
    case 'cut':
      return Buffer.from(head);
    case 'remove':
      return Buffer.concat([head, tail.subarray(length)]);
    case 'insert':
      return Buffer.concat([head, randomBytes(length, random), tail]);
    case 'duplicate':
      return Buffer.concat([head, tail.subarray(0, length), tail]);
    case 'splice':
      return Buffer.concat([head, other.subarray(random.whole(0, other.length))]);
  }
}

const kinds = ['flip', 'set', 'cut', 'remove', 'insert', 'duplicate', 'splice'] as const;

function withByte(bytes: Buffer, at: number, byte: number): Buffer {
  const copy = Buffer.from(bytes);
  if (at < copy.length) copy[at] = byte;
  return copy;
}

function randomBytes(length: number, random: Random): Buffer {
  return Buffer.from(Array.from({ length }, () => random.whole(0, 255)));
}
