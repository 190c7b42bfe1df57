// The size that a Brotli stream announces, of streams of the encoder and of hand-made ones.

import { brotliCompressSync, constants } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../testing/property-runs.ts';
import { firstPartBytes } from './brotli-size.ts';

function compressed(byteCount: number, quality: number, windowBits: number): Buffer {
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: quality,
    [constants.BROTLI_PARAM_LGWIN]: windowBits,
  };
  return brotliCompressSync(Buffer.alloc(byteCount, 'x'), { params });
}

/** Bits in the order of the stream. */
function ofBits(bits: string): Buffer {
  const bytes = bits.match(/.{1,8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt([...byte].reverse().join(''), 2)));
}

describe('the size of the first part of a Brotli stream', () => {
  it('is what the encoder put in, for each quality and window', () => {
    const size = fc.integer({ min: 1, max: 1024 });
    const quality = fc.integer({ min: 0, max: 11 });
    const windowBits = fc.integer({ min: 10, max: 24 });
    fc.assert(
      fc.property(size, quality, windowBits, (byteCount, level, bits) => {
        expect(firstPartBytes(compressed(byteCount, level, bits))).toBe(byteCount);
      }),
      { numRuns: runsOf(60) },
    );
  });

  it('is large for a body that decompresses to much', () => {
    expect(firstPartBytes(compressed(64 * 1024 * 1024, 5, 22))).toBeGreaterThan(1_048_576);
  });

  it('is 0 for an empty stream', () => {
    expect(firstPartBytes(compressed(0, 5, 22))).toBe(0);
  });

  it('is up to 16 MiB', () => {
    expect(firstPartBytes(ofBits(`0${'0'}${'01'}${'1'.repeat(24)}`))).toBe(16_777_216);
    expect(firstPartBytes(ofBits(`1000100${'10'}${'01'}${'1'.repeat(24)}`))).toBe(16_777_216);
  });

  it('is unknown when the first part holds no output', () => {
    expect(firstPartBytes(ofBits('0011'))).toBe(Number.POSITIVE_INFINITY);
  });

  it('does not read behind the end', () => {
    expect(firstPartBytes(Buffer.alloc(0))).toBe(1);
    expect(firstPartBytes(ofBits('00000001'))).toBe(9);
  });
});
