// From a seed to the frames of one case: each frame is drawn from the recorded ones or the corpus and changed by what its parts mean, by
// bytes alone, or in its header and compression. The same seed always makes the same frames.

import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { Random } from '../simulation/random.ts';
import { bodyBytes, frameBytes } from '../wire-bytes.ts';
import { mutateBytes } from './byte-mutations.ts';
import { bodyWithLie, mutateFields } from './field-mutations.ts';
import type { Seeds } from './seed-frames.ts';

export const FRAMES_PER_CASE = 10;

export function drawCase(seed: number, seeds: Seeds): readonly Buffer[] {
  const random = new Random(seed);
  return Array.from({ length: FRAMES_PER_CASE }, () => drawFrame(seeds, random));
}

function drawFrame(seeds: Seeds, random: Random): Buffer {
  if (random.chance(0.1))
    return mutateBytes(random.pick(seeds.malformed), random.pick(seeds.malformed), random);
  const body = drawBody(seeds, random);
  switch (random.weighted({ plain: 6, compressed: 2, framing: 1, bytes: 1 })) {
    case 'plain':
      return frameBytes(body);
    case 'compressed':
      return compressed(body, random);
    case 'framing':
      return frameBytes(body, oddFlags(random), oddLength(body.length, random));
    case 'bytes':
      return mutateBytes(frameBytes(body), random.pick(seeds.malformed), random);
  }
}

/** How often a message is changed before it is written, at most. */
const MAX_CHANGES = 3;

function drawBody(seeds: Seeds, random: Random): Buffer {
  let parts = random.pick(seeds.messages);
  const changes = random.whole(0, MAX_CHANGES);
  for (let change = 0; change < changes; change += 1) parts = mutateFields(parts, random);
  const body = random.chance(0.25) ? bodyWithLie(parts, random) : bodyBytes(parts);
  return random.chance(0.25) ? mutateBytes(body, bodyBytes(random.pick(seeds.messages)), random) : body;
}

/** Under the limit of the targets when it is true, and over it once inflated: made once, a bomb is as good as another. */
const BOMB_BYTES = 4 * 1024 * 1024;
const fastBrotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
const bombs = [
  gzipSync(Buffer.alloc(BOMB_BYTES)),
  brotliCompressSync(Buffer.alloc(BOMB_BYTES), fastBrotli),
] as const;

function compressed(body: Buffer, random: Random): Buffer {
  const flags = random.pick([1, 2] as const);
  if (random.chance(0.02)) return frameBytes(bombs[flags - 1] ?? body, flags);
  const packed = flags === 1 ? gzipSync(body) : brotliCompressSync(body, fastBrotli);
  switch (random.weighted({ intact: 4, changed: 3, otherFlags: 1, twice: 1 })) {
    case 'intact':
      return frameBytes(packed, flags);
    case 'changed':
      return frameBytes(mutateBytes(packed, body, random), flags);
    case 'otherFlags':
      return frameBytes(packed, 3 - flags);
    case 'twice':
      return frameBytes(Buffer.concat([packed, packed]), flags);
  }
}

function oddFlags(random: Random): number {
  return random.chance(0.5) ? 0 : random.pick([1, 2, 3, 4, 0x7f, 0x80, 0xff]);
}

function oddLength(length: number, random: Random): number {
  return random.pick(
    [0, 1, length - 1, length + 1, 65_535, 65_536, 65_537, 1_048_577, 2 ** 31, 2 ** 32 - 1].map((odd) =>
      Math.max(0, odd),
    ),
  );
}
