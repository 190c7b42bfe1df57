// A real thread that inflates: its results, its errors, its priority, its end.

import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import type { Algorithm } from '../protocol/compression.ts';
import { InflationThread } from './inflation-thread.ts';
import { ZlibCompressor } from './zlib-compressor.ts';

const opened: InflationThread[] = [];

function open(): InflationThread {
  const thread = new InflationThread();
  opened.push(thread);
  return thread;
}

afterEach(async () => {
  for (const thread of opened.splice(0)) await thread.close();
});

const body = Buffer.from('{"text":"the quick brown fox "}'.repeat(5000));
const compressed: Readonly<Record<Algorithm, Buffer>> = {
  brotli: brotliCompressSync(body),
  gzip: gzipSync(body),
};

/** The priorities of the threads of this process, as Linux lists them. */
/** The niceness of each thread of the process, by the id of the thread. Threads of other tests come and go among them. */
function nicenesses(): ReadonlyMap<string, number> {
  return new Map(
    readdirSync('/proc/self/task').flatMap((id) => {
      const status = statusOf(id);
      if (status === undefined) return [];
      return [[id, Number(status.slice(status.lastIndexOf(')') + 2).split(' ')[16])]];
    }),
  );
}

/** Undefined for a thread that has ended. */
function statusOf(id: string): string | undefined {
  try {
    return readFileSync(`/proc/self/task/${id}/stat`, 'latin1');
  } catch {
    return undefined;
  }
}

describe.each(['brotli', 'gzip'] as const)('the thread inflates %s', (algorithm) => {
  const inPlace = new ZlibCompressor({ inPlaceOutputBytes: 1e6 });
  const threaded = (thread: InflationThread) => new ZlibCompressor({ inPlaceInputBytes: -1, thread });

  it('to what the compressor makes of it in place, and leaves the input as it was', async () => {
    const compressor = threaded(open());
    const input = Buffer.from(compressed[algorithm]);
    for (const bytes of [input, Buffer.alloc(0), Buffer.from('no body'), input.subarray(0, -1)]) {
      for (const limitBytes of [body.length, body.length - 1]) {
        const expected = await inPlace.decompress(algorithm, bytes, limitBytes);
        expect(await compressor.decompress(algorithm, bytes, limitBytes)).toEqual(expected);
      }
    }
    expect(input).toEqual(compressed[algorithm]);
  });

  it('several at a time, each its own', async () => {
    const thread = open();
    const texts = ['a', 'b'.repeat(200_000), '', 'c'];
    const pack = algorithm === 'gzip' ? gzipSync : brotliCompressSync;
    const results = await Promise.all(texts.map((text) => thread.inflate(algorithm, pack(text), 1e6)));
    expect(results.map(({ buffer }) => buffer.toString())).toEqual(texts);
  });
});

describe('the thread', () => {
  it('has a low priority, and the process keeps its own [CONN-021]', async () => {
    const thread = open();
    const own = getPriority();
    const low = Math.min(19, own + 10);
    const before = nicenesses();
    await thread.inflate('gzip', compressed.gzip, 1e6);
    const changed = [...nicenesses()].filter(([id, niceness]) => before.get(id) !== niceness);
    expect(changed.map(([, niceness]) => niceness)).toContain(low);
    expect(getPriority()).toBe(own);
  });

  it('fails what waits when it is closed, and what comes later, as a fault of its own', async () => {
    const thread = open();
    const compressor = new ZlibCompressor({ inPlaceInputBytes: -1, thread });
    const waiting = expect(compressor.decompress('gzip', compressed.gzip, 1e6)).rejects.toThrow('has ended');
    await thread.close();
    await waiting;
    await expect(compressor.decompress('gzip', compressed.gzip, 1e6)).rejects.toThrow('has ended');
  });

  it('is not started by being there', () => {
    const startedCount = (): number => {
      const before = nicenesses();
      open();
      return [...nicenesses().keys()].filter((id) => !before.has(id)).length;
    };
    // Another test may start one at the same moment, but not five times.
    expect(Math.min(...Array.from({ length: 5 }, startedCount))).toBe(0);
  });
});
