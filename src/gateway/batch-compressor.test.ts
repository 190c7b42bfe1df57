// That a body is compressed once per algorithm and batch.

import { describe, expect, it } from 'vitest';
import type { Algorithm } from '../protocol/compression.ts';
import { BatchCompressor } from './batch-compressor.ts';

function counting(compress: (algorithm: Algorithm, body: Buffer) => Buffer | Promise<Buffer>) {
  const calls: string[] = [];
  const counted = (algorithm: Algorithm, body: Buffer) => {
    calls.push(`${algorithm} ${body.toString()}`);
    return compress(algorithm, body);
  };
  const decompress = () => {
    throw new Error('Not asked for.');
  };
  return { calls, batch: new BatchCompressor({ compress: counted, decompress }) };
}

const [a, b] = [Buffer.from('a'), Buffer.from('b')];

describe('a batch', () => {
  it.each([
    ['there at once', (_algorithm: Algorithm, body: Buffer) => body],
    ['awaited', (_algorithm: Algorithm, body: Buffer) => Promise.resolve(body)],
  ])('compresses a body once per algorithm when the result is %s [COMPRESS-007]', async (_when, compress) => {
    const { calls, batch } = counting(compress);
    const results = [];
    for (const body of [a, b, a, b]) {
      results.push(await batch.compress('gzip', body), await batch.compress('brotli', body));
    }
    expect(calls).toEqual(['gzip a', 'brotli a', 'gzip b', 'brotli b']);
    expect(results).toEqual([a, a, b, b, a, a, b, b]);
  });

  it('tells bodies apart by what they are, not by what they hold', () => {
    const { calls, batch } = counting((_algorithm, body) => body);
    batch.compress('gzip', Buffer.from('same'));
    batch.compress('gzip', Buffer.from('same'));
    expect(calls.length).toBe(2);
  });

  it('keeps nothing for the next one', () => {
    const { calls, batch } = counting((_algorithm, body) => body);
    batch.compress('gzip', a);
    batch.clear();
    batch.compress('gzip', a);
    expect(calls.length).toBe(2);
  });

  it('tells a failure to everybody who waits for the result', async () => {
    const { calls, batch } = counting(() => {
      throw new Error('broken');
    });
    await expect(batch.compress('gzip', a)).rejects.toThrow('broken');
    await expect(batch.compress('gzip', a)).rejects.toThrow('broken');
    expect(calls.length).toBe(1);
  });
});
