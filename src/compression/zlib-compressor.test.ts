// The compressor alone: the library's plain functions read its output, and hostile input only causes faults.

import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Algorithm } from '../protocol/compression.ts';
import { inflateStart, ZlibCompressor } from './zlib-compressor.ts';

const reference = {
  brotli: { compress: (body: Buffer) => brotliCompressSync(body), decompress: brotliDecompressSync },
  gzip: { compress: (body: Buffer) => gzipSync(body), decompress: gunzipSync },
};
const algorithms: readonly Algorithm[] = ['brotli', 'gzip'];
const body = Buffer.from('{"text":"the quick brown fox "}'.repeat(50));
const limitBytes = 1_048_576;

const member = gzipSync(body);
/** The member with an optional field of its header, a text. */
const memberWith = (flag: number) =>
  Buffer.concat([
    member.subarray(0, 3),
    Buffer.from([flag]),
    member.subarray(4, 10),
    Buffer.from('name\0'),
    member.subarray(10),
  ]);
const brotliWith = (windowBits: number) =>
  brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_LGWIN]: windowBits } });
/** What encoders may write, beside what that of Node.js writes by default. */
const encodings: Readonly<Record<Algorithm, readonly (readonly [string, Buffer])[]>> = {
  gzip: [
    ['a member with a file name', memberWith(0x08)],
    ['a member with a comment', memberWith(0x10)],
    ['stored blocks', gzipSync(body, { level: 0 })],
    ['fixed codes', gzipSync(body, { strategy: constants.Z_FIXED })],
  ],
  brotli: [10, 16, 17, 24].map((bits) => [`a window of ${bits} bits`, brotliWith(bits)] as const),
};

describe.each(algorithms)('%s', (algorithm) => {
  // Each test is one turn of the event loop, in which much is inflated.
  const compressor = new ZlibCompressor({ inPlacePerTurnBytes: Number.POSITIVE_INFINITY });
  const compressed = reference[algorithm].compress(body);

  it('compresses to what the other side reads [COMPRESS-002, COMPRESS-003]', async () => {
    const result = await compressor.compress(algorithm, body);
    expect(result.length).toBeLessThan(body.length);
    expect(reference[algorithm].decompress(result)).toEqual(body);
  });

  it('decompresses what the other side wrote [COMPRESS-002, COMPRESS-003]', () => {
    expect(compressor.decompress(algorithm, compressed, limitBytes)).toEqual(body);
  });

  it.each(encodings[algorithm])('decompresses %s [COMPRESS-002, COMPRESS-003]', (_, encoded) => {
    expect(compressor.decompress(algorithm, encoded, limitBytes)).toEqual(body);
  });

  it('does small bodies in place and large ones in the thread pool by default', async () => {
    const large = Buffer.alloc(65_537, 'a');
    expect(compressor.compress(algorithm, body)).toBeInstanceOf(Buffer);
    const pooled = compressor.compress(algorithm, large);
    expect(pooled).toBeInstanceOf(Promise);
    expect(reference[algorithm].decompress(await pooled)).toEqual(large);
  });

  it('inflates large input in the thread pool, to the same result', async () => {
    const small = new ZlibCompressor({ inPlaceInputBytes: 4 });
    const result = small.decompress(algorithm, compressed, limitBytes);
    expect(result).toBeInstanceOf(Promise);
    expect(await result).toEqual(body);
  });

  it('moves to the thread pool when the output outgrows what is done in place', async () => {
    const small = new ZlibCompressor({ inPlaceOutputBytes: body.length - 1 });
    const result = small.decompress(algorithm, compressed, limitBytes);
    expect(result).toBeInstanceOf(Promise);
    expect(await result).toEqual(body);
  });

  it('inflates so much in one turn of the event loop, and leaves the rest to later turns [CONN-021]', async () => {
    const fresh = new ZlibCompressor();
    const packed = reference[algorithm].compress(Buffer.alloc(65_536));
    const inflate = () => fresh.decompress(algorithm, packed, limitBytes);
    const [first, second, ...rest] = Array.from({ length: 20 }, inflate);
    expect(first).toBeInstanceOf(Buffer);
    expect(second).toBeInstanceOf(Buffer);
    const done: number[] = [];
    for (const [index, result] of rest.entries()) {
      expect(result).toBeInstanceOf(Promise);
      void Promise.resolve(result).then(() => done.push(index));
    }
    const nextTurn = () => new Promise((resolve) => void setImmediate(resolve));
    await nextTurn();
    expect(done).toEqual([0, 1]);
    await nextTurn();
    expect(done).toEqual([0, 1, 2, 3]);
    // Comparing such long buffers takes the test runner seconds.
    const lengths = (await Promise.all(rest)).map((result) => 'length' in result && result.length);
    expect(new Set(lengths)).toEqual(new Set([65_536]));
    await nextTurn();
    expect(inflate()).toBeInstanceOf(Buffer);
  });

  it('counts what it refuses, and small bodies, as work of the turn too [CONN-021]', async () => {
    for (const packed of [
      reference[algorithm].compress(Buffer.alloc(65_537)),
      Buffer.from('no body'),
      compressed,
    ]) {
      const fresh = new ZlibCompressor();
      const results = Array.from({ length: 100 }, () => fresh.decompress(algorithm, packed, 65_536));
      expect(results.filter((result) => result instanceof Promise).length).toBeGreaterThan(30);
      const kinds = new Set((await Promise.all(results)).map((result) => JSON.stringify(result)));
      expect(kinds.size).toBe(1);
    }
  });

  it('takes a body of exactly the limit and refuses one byte more [FRAME-008, FRAME-026]', async () => {
    const pool = new ZlibCompressor({ inPlaceInputBytes: 4 });
    const tooLarge = { kind: 'fault', code: 'MESSAGE_TOO_LARGE', closes: true };
    for (const subject of [compressor, pool]) {
      expect(await subject.decompress(algorithm, compressed, body.length)).toEqual(body);
      expect(await subject.decompress(algorithm, compressed, body.length - 1)).toMatchObject(tooLarge);
    }
  });

  it('stops a bomb of 8 MiB at the limit [FRAME-008]', async () => {
    const bomb = reference[algorithm].compress(Buffer.alloc(8 * 1_048_576));
    const result = await compressor.decompress(algorithm, bomb, limitBytes);
    expect(result).toMatchObject({ kind: 'fault', code: 'MESSAGE_TOO_LARGE', closes: true });
  });

  it.each([
    ['nothing at all', Buffer.alloc(0)],
    ['no compressed data', Buffer.from('hello hello')],
    ['data that breaks off', compressed.subarray(0, -1)],
    ['data with something behind it', Buffer.concat([compressed, Buffer.from('x')])],
    ['data with a zero byte behind it', Buffer.concat([compressed, Buffer.alloc(1)])],
  ])('refuses %s, in place and in the pool [FRAME-007]', async (_name, bytes) => {
    const pool = new ZlibCompressor({ inPlaceInputBytes: -1 });
    const invalid = { kind: 'fault', code: 'INVALID_MESSAGE', closes: true };
    expect(await compressor.decompress(algorithm, bytes, limitBytes)).toMatchObject(invalid);
    expect(await pool.decompress(algorithm, bytes, limitBytes)).toMatchObject(invalid);
  });

  it('round trips any body', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 4096 }), (bytes) => {
        const made = compressor.compress(algorithm, Buffer.from(bytes));
        expect(made).toBeInstanceOf(Buffer);
        expect(compressor.decompress(algorithm, made as Buffer, limitBytes)).toEqual(Buffer.from(bytes));
      }),
    );
  });

  it('yields bytes or a fault for arbitrary input, and never throws', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const result = await compressor.decompress(algorithm, Buffer.from(bytes), limitBytes);
        expect(Buffer.isBuffer(result) || ('kind' in result && result.kind === 'fault')).toBe(true);
      }),
    );
  });
});

describe('a Brotli body that announces more than is inflated in place', () => {
  const large = brotliCompressSync(Buffer.alloc(65_537, 'a'));
  const small = brotliCompressSync(Buffer.alloc(65_536, 'a'));

  it('goes to the thread, and takes nothing of the turn [CONN-021]', async () => {
    const inflated: number[] = [];
    const thread = {
      inflate: async (_algorithm: Algorithm, _body: Buffer, limit: number) => {
        inflated.push(limit);
        return { buffer: Buffer.from('x'), engine: { bytesWritten: large.length } };
      },
    };
    const fresh = new ZlibCompressor({ thread });
    const results = Array.from({ length: 50 }, () => fresh.decompress('brotli', large, 70_000));
    expect(inflated).toEqual(Array.from({ length: 50 }, () => 70_000));
    expect(fresh.decompress('brotli', small, 70_000)).toBeInstanceOf(Buffer);
    await Promise.all(results);
  });

  it('goes there also when it announces little and holds more, after which no other is inflated in the turn [CONN-021]', async () => {
    // The fastest level makes parts of 128 KiB.
    const fastest = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };
    const parts = brotliCompressSync(Buffer.alloc(300_000, 'a'), fastest);
    const fresh = new ZlibCompressor({ inPlaceOutputBytes: 200_000 });
    const results = [parts, small].map((body) => fresh.decompress('brotli', body, 1_000_000));
    for (const result of results) expect(result).toBeInstanceOf(Promise);
    const lengths = (await Promise.all(results)).map((result) => 'length' in result && result.length);
    expect(lengths).toEqual([300_000, 65_536]);
  });
});

describe('the start of a compressed body', () => {
  const text = Buffer.from(Array.from({ length: 10_000 }, (_, index) => index ** 2).join());

  it.each([
    ['gzip', gzipSync(text)],
    ['brotli', brotliCompressSync(text)],
  ] as const)('is told from a whole body and from one that is cut off: %s', async (algorithm, body) => {
    for (const bytes of [body, body.subarray(0, body.length - 4)])
      expect(await inflateStart(algorithm, bytes)).toEqual(text.subarray(0, 1_024));
  });

  it.each(algorithms)('is empty when there is none: %s', async (algorithm) => {
    for (const bytes of ['', 'no compressed body']) {
      expect(await inflateStart(algorithm, Buffer.from(bytes))).toEqual(Buffer.alloc(0));
    }
  });
});
