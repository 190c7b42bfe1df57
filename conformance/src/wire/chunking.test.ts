// The wire modes send the same bytes in different writes.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomFor } from '../random.ts';
import { cut, wireModes } from './chunking.ts';
import { Sender } from './sender.ts';

describe('cut', () => {
  it('keeps all bytes in order, in every mode', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 1200 }),
        fc.constantFrom(...wireModes),
        fc.nat(),
        (bytes, mode, seed) => {
          const pieces = cut(Buffer.from(bytes), mode, randomFor(seed, 'x'));
          expect(Buffer.concat(pieces)).toEqual(Buffer.from(bytes));
          expect(pieces.every((piece) => piece.length > 0)).toBe(true);
        },
      ),
    );
  });

  it('splits byte by byte, but a large frame only at its start and end', () => {
    const random = randomFor(1, 'x');
    expect(cut(Buffer.alloc(100), 'bytewise', random)).toHaveLength(100);
    expect(cut(Buffer.alloc(100_000), 'bytewise', random)).toHaveLength(512 + 1 + 16);
  });

  it('splits at the same random positions for the same seed', () => {
    const sizes = (seed: number) =>
      cut(Buffer.alloc(500), 'random', randomFor(seed, 'x')).map((piece) => piece.length);
    expect(sizes(7)).toEqual(sizes(7));
    expect(new Set(Array.from({ length: 20 }, (_, seed) => sizes(seed).join())).size).toBeGreaterThan(10);
  });
});

describe('Sender', () => {
  it.each([
    ['whole', ['ab', 'cd']],
    ['bytewise', ['a', 'b', 'c', 'd']],
    ['joined', ['abcd']],
  ] as const)('writes %s', async (mode, expected) => {
    const written: string[] = [];
    const sender = new Sender({ write: (bytes) => written.push(bytes.toString()) }, mode, randomFor(1, 'x'));
    await Promise.all([sender.send(Buffer.from('ab')), sender.send(Buffer.from('cd'))]);
    expect(written).toEqual(expected);
  });

  it('keeps the order of frames sent while earlier pieces are still being written', async () => {
    const written: string[] = [];
    const sender = new Sender(
      { write: (bytes) => written.push(bytes.toString()) },
      'whole',
      randomFor(1, 'x'),
    );
    await Promise.all([
      sender.sendPieces([Buffer.from('a'), Buffer.from('b')]),
      sender.send(Buffer.from('c')),
    ]);
    expect(written).toEqual(['a', 'b', 'c']);
  });
});
