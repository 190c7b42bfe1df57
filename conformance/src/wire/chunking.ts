// The wire modes: frames are sent whole, byte by byte, joined, or split at random positions. The suite can run in each mode, because a
// broker must behave the same in all of them. Clause: TCP may split and join frames anywhere (CONN).
import type { Random } from '../random.ts';

export const wireModes = ['whole', 'bytewise', 'joined', 'random'] as const;
export type WireMode = (typeof wireModes)[number];

/** Only the start and the end of a large frame are sent byte by byte: its middle would take minutes and test nothing more. */
const bytewiseHeadBytes = 512;
const bytewiseTailBytes = 16;

/** The pieces to write, each in a separate write. Mode `joined` does not split here; the sender joins frames. */
export function cut(bytes: Buffer, mode: WireMode, random: Random): readonly Buffer[] {
  if (bytes.length === 0) return [];
  if (mode === 'bytewise') return cutBytewise(bytes);
  if (mode === 'random') return cutAtRandom(bytes, random);
  return [bytes];
}

function cutBytewise(bytes: Buffer): readonly Buffer[] {
  if (bytes.length <= bytewiseHeadBytes + bytewiseTailBytes) return singleBytes(bytes);
  const tailAt = bytes.length - bytewiseTailBytes;
  const middle = bytes.subarray(bytewiseHeadBytes, tailAt);
  return [
    ...singleBytes(bytes.subarray(0, bytewiseHeadBytes)),
    middle,
    ...singleBytes(bytes.subarray(tailAt)),
  ];
}

function singleBytes(bytes: Buffer): readonly Buffer[] {
  return Array.from({ length: bytes.length }, (_, index) => bytes.subarray(index, index + 1));
}

function cutAtRandom(bytes: Buffer, random: Random): readonly Buffer[] {
  const cutCount = random.integer(0, 5);
  const cuts = Array.from({ length: cutCount }, () => random.integer(1, bytes.length)).sort((a, b) => a - b);
  const bounds = [0, ...cuts, bytes.length];
  const pieces = bounds.slice(1).map((end, index) => bytes.subarray(bounds[index], end));
  return pieces.filter((piece) => piece.length > 0);
}
