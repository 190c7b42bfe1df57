// When the memory of a write is used again, and when it is not.

import { describe, expect, it } from 'vitest';
import { WriteBuffers } from './write-buffers.ts';

const KIB = 1024;

describe('the memory of a write', () => {
  it('is used again when whoever took it and all streams have released it', () => {
    const buffers = new WriteBuffers();
    const first = buffers.take(5 * KIB);
    first.retain();
    first.retain();
    first.release();
    first.release();
    expect(buffers.take(5 * KIB).bytes).not.toBe(first.bytes);
    first.release();
    expect(buffers.take(6 * KIB).bytes).toBe(first.bytes);
    expect(buffers.take(6 * KIB).bytes).not.toBe(first.bytes);
  });

  it.each([
    [4096, 4096],
    [4097, 8192],
    [65_536, 65_536],
    [65_537, 131_072],
    [KIB * KIB, KIB * KIB],
  ])('for %i bytes has %i, and says how many of them are spare', (byteLength, length) => {
    const { bytes, spareBytes } = new WriteBuffers().take(byteLength);
    expect([bytes.length, spareBytes]).toEqual([length, length - byteLength]);
  });

  it.each([1, 4095, KIB * KIB + 1])('of %i bytes is exactly that long, and not used again', (byteLength) => {
    const buffers = new WriteBuffers();
    const first = buffers.take(byteLength);
    first.release();
    expect([first.bytes.length, first.spareBytes]).toEqual([byteLength, 0]);
    expect(buffers.take(byteLength).bytes).not.toBe(first.bytes);
  });

  it('is kept for later writes up to 2 MiB in all, and the rest is left to the garbage collector', () => {
    const buffers = new WriteBuffers();
    const taken = Array.from({ length: 20 }, () => buffers.take(KIB * KIB));
    const known = new Set(taken.map(({ bytes }) => bytes));
    for (const buffer of taken) buffer.release();
    const again = Array.from({ length: 20 }, () => buffers.take(KIB * KIB).bytes);
    expect(again.filter((bytes) => known.has(bytes))).toHaveLength(2);
  });
});
