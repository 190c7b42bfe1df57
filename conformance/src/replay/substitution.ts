// Puts other names in the place of those that a recorded run used, so that a trace can be sent twice to one broker. Both begin alike and
// are of the same length, so that every length in every frame stays right, also in frames that are wrong on purpose. Pure.
import { Command } from '../wire/command.ts';
import { compressedFrame } from '../wire/compression.ts';
import { decodeBody } from '../wire/decode.ts';
import type { RawFrame } from '../wire/frame-reader.ts';
import { FrameReader } from '../wire/frame-reader.ts';

/** The largest body that a trace may hold: what a frame may be at most is for the broker to judge. */
const mostBodyBytes = 0x7fff_ffff;

export type Substitution = (bytes: Buffer) => Buffer;

/** `to` must be as long as `from`, in bytes. */
export function substitution(from: string, to: string): Substitution {
  if (Buffer.byteLength(from) !== Buffer.byteLength(to)) throw new Error('names of different length');
  const plain = (bytes: Buffer): Buffer => replaced(bytes, Buffer.from(from), Buffer.from(to));
  return (bytes) => {
    const frames = wholeFrames(bytes);
    if (frames === undefined || frames.every(({ flags }) => flags === 0)) return plain(bytes);
    return Buffer.concat(frames.map((frame) => substitutedFrame(frame, plain)));
  };
}

function substitutedFrame({ flags, body, wireBytes }: RawFrame, plain: Substitution): Buffer {
  if (flags === 0) return plain(wireBytes);
  const other = plain(body);
  return other.equals(body) ? wireBytes : compressedFrame(other, flags === 1 ? 'gzip' : 'brotli');
}

/** The frames that the bytes are made of; undefined where they are not whole frames, or none that anybody could read. */
export function wholeFrames(bytes: Buffer): readonly RawFrame[] | undefined {
  const reader = new FrameReader(mostBodyBytes);
  reader.push(bytes);
  const frames: RawFrame[] = [];
  try {
    for (let frame = reader.next(); frame !== undefined; frame = reader.next()) frames.push(frame);
  } catch {
    return undefined;
  }
  return reader.partial.length === 0 ? frames : undefined;
}

/** Ids of the commands in these bytes, as far as they can be read. */
export function idsIn(
  bytes: Buffer,
): readonly { readonly id: string; readonly command: number; readonly queue: string }[] {
  return (wholeFrames(bytes) ?? []).flatMap(({ body }) => {
    try {
      const { id, command, queue } = decodeBody(body);
      return command === Command.Ack ? [] : [{ id, command, queue }];
    } catch {
      return [];
    }
  });
}

function replaced(bytes: Buffer, from: Buffer, to: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let at = copy.indexOf(from); at >= 0; at = copy.indexOf(from, at + to.length)) to.copy(copy, at);
  return copy;
}
