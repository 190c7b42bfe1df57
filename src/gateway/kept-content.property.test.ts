// Contents are kept byte for byte, whatever their size, and share memory with nothing but what was given to them.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HeapSpace, KeptContent } from './kept-content.ts';

const sizes = fc.oneof(fc.nat(300), fc.constantFrom(4095, 4096, 65_535, 65_536, 65_537));
const contents = fc
  .tuple(sizes, fc.uint8Array({ minLength: 1, maxLength: 32 }))
  .map(([size, pattern]) => Buffer.alloc(size, pattern));

describe('a kept content', () => {
  it('has the bytes that it was made of', () => {
    fc.assert(
      fc.property(contents, (bytes) => {
        const kept = KeptContent.copyOf(bytes);
        expect(kept.byteLength).toBe(bytes.length);
        expect(kept.toBytes().equals(bytes)).toBe(true);
        const target = Buffer.alloc(bytes.length + 2);
        expect(kept.writeTo(target, 1)).toBe(bytes.length + 1);
        expect(target.subarray(1, -1).equals(bytes)).toBe(true);
      }),
    );
  });

  it('is only the part that it is asked for', () => {
    const start = 3;
    for (const size of [10, 5_000, 70_000]) {
      const bytes = Buffer.alloc(size + 7, 'abc');
      const kept = KeptContent.copyOf(bytes, start, start + size);
      expect(kept.toBytes().equals(bytes.subarray(start, start + size))).toBe(true);
    }
  });

  it('does not change with the bytes that it was made of', () => {
    for (const size of [10, 5_000, 70_000]) {
      const bytes = Buffer.alloc(size, 1);
      const kept = KeptContent.copyOf(bytes);
      bytes.fill(2);
      expect(kept.toBytes().equals(Buffer.alloc(size, 1))).toBe(true);
    }
  });

  it('has its own memory when it is large, and is copied for each caller when small', () => {
    const large = KeptContent.copyOf(Buffer.alloc(65_536));
    expect(large.isBuffer).toBe(true);
    expect(large.toBytes().buffer.byteLength).toBe(65_536);
    const small = KeptContent.copyOf(Buffer.alloc(65_535));
    expect(small.isBuffer).toBe(false);
    expect(small.toBytes()).not.toBe(small.toBytes());
  });
});

describe('a content of the bytes that it arrived in', () => {
  const isView = (byteCount: number, start: number, end: number, isAlone = true) => {
    const bytes = Buffer.alloc(byteCount, 'abc');
    const content = KeptContent.of(bytes, start, end, isAlone);
    expect(content.toBytes().equals(bytes.subarray(start, end))).toBe(true);
    return content.isBuffer && content.toBytes().buffer === bytes.buffer;
  };

  it('is a view of them if nothing else uses them, it is large and they are at most 64 bytes more', () => {
    expect(isView(80_000, 5, 80_000)).toBe(true);
    expect(isView(80_064, 64, 80_064)).toBe(true);
    expect(isView(65_536, 0, 65_536)).toBe(true);
  });

  it('is a copy if they are more or used by others, and a string if it is small', () => {
    expect(isView(80_065, 65, 80_065)).toBe(false);
    expect(isView(80_000, 5, 80_000, false)).toBe(false);
    expect(isView(65_540, 5, 65_540)).toBe(false);
  });
});

describe('space in the heap', () => {
  it('is left to small contents when more than half of it is in use', () => {
    const heap = new HeapSpace(100, () => ({ used_heap_size: 51 }));
    const isBuffer = (size: number) => KeptContent.copyOf(Buffer.alloc(size), 0, size, heap).isBuffer;
    expect([4095, 4096, 65_535, 65_536].map(isBuffer)).toEqual([false, true, true, true]);
  });

  it('is there while at most half of it is in use, and looked at again after 4 MiB', () => {
    const heap = { used_heap_size: 50 };
    const space = new HeapSpace(100, () => heap);
    expect(space.isThereFor(10_000)).toBe(true);
    heap.used_heap_size = 51;
    expect(space.isThereFor(4 * 1024 * 1024)).toBe(true);
    expect(space.isThereFor(1)).toBe(false);
    heap.used_heap_size = 50;
    expect(space.isThereFor(4 * 1024 * 1024)).toBe(false);
    expect(space.isThereFor(1)).toBe(true);
  });
});
