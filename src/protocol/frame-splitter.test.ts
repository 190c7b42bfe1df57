// The splitter: limits at their edges, any cut of the stream, and how much memory and work it takes.

import { describe, expect, it } from 'vitest';
import { frameBytes } from '../testing/wire-bytes.ts';
import { malformedBytes, malformedCases } from '../testing/wire-fixtures.ts';
import { ByteBacklog } from './byte-backlog.ts';
import { isFault, type ProtocolFault } from './fault.ts';
import { type Frame, FrameSplitter } from './frame-splitter.ts';
import { defaultLimits } from './limits.ts';

const limits = { ...defaultLimits, maxMessageSizeBytes: 100 };

// Bodies that do not decompress are not the splitter's business.
const named = malformedCases('frames')
  .filter(({ requirement }) => requirement !== 'FRAME-007' && requirement !== 'FRAME-008')
  .map((malformed) => [`${malformed.name} [${malformed.requirement}]`, malformed] as const);

function drain(splitter: FrameSplitter): (Frame | ProtocolFault)[] {
  const results: (Frame | ProtocolFault)[] = [];
  for (let next = splitter.next(); next !== undefined; next = splitter.next()) results.push(next);
  return results;
}

function bodies(results: readonly (Frame | ProtocolFault)[]): string[] {
  return results.map((result) => (isFault(result) ? result.code : result.body.toString()));
}

function framesOf(results: readonly (Frame | ProtocolFault)[]): Frame[] {
  return results.flatMap((result) => (isFault(result) ? [] : [result]));
}

describe('FrameSplitter', () => {
  it('reads a body of 2 bytes and one of the limit [FRAME-003]', () => {
    const splitter = new FrameSplitter(limits);
    splitter.push(Buffer.concat([frameBytes(Buffer.from('ab')), frameBytes(Buffer.alloc(100, 'x'), 2)]));
    expect(drain(splitter)).toMatchObject([
      { flags: 0, body: Buffer.from('ab') },
      { flags: 2, body: Buffer.alloc(100, 'x') },
    ]);
  });

  it('refuses one byte over the limit from the header alone [FRAME-005, FRAME-017]', () => {
    const splitter = new FrameSplitter(limits);
    splitter.push(frameBytes(Buffer.alloc(0), 0, 101));
    expect(splitter.next()).toMatchObject({ kind: 'fault', code: 'MESSAGE_TOO_LARGE', closes: true });
  });

  it.each([0, 3, 5, 700])('shows the start of a frame that is over the limit, cut after %d bytes', (cut) => {
    const frame = frameBytes(Buffer.from('abcdef'.repeat(500)), 2, 3_000);
    const splitter = new FrameSplitter(limits);
    splitter.push(Buffer.from(frame.subarray(0, cut)));
    // Only a whole header is judged.
    const first = splitter.next();
    splitter.push(Buffer.from(frame.subarray(cut)));
    const fault = (first ?? splitter.next()) as ProtocolFault;
    expect(fault.oversized).toMatchObject({ bodyBytes: 3_000, flags: 2 });
    const expectedBytes = first === undefined ? 1_024 : cut - 5;
    expect(fault.oversized?.start).toEqual(frame.subarray(5, 5 + expectedBytes));
  });

  it.each([
    ['a frame of 1 byte', frameBytes(Buffer.from('x')), 'A frame of 1 bytes holds no message.'],
    [
      'one over the limit',
      frameBytes(Buffer.alloc(0), 0, 101),
      'A frame of 101 bytes is over the limit of 100.',
    ],
    ['unknown flags', frameBytes(Buffer.from('ab'), 9), 'The compression flags 9 are unknown.'],
  ])('says what is wrong with %s [FRAME-017]', (_what, bytes, text) => {
    const splitter = new FrameSplitter(limits);
    splitter.push(bytes);
    expect(splitter.next()).toMatchObject({ text });
  });

  it('tells how long a frame is of which only a part has arrived', () => {
    const splitter = new FrameSplitter(limits);
    const frame = frameBytes(Buffer.alloc(50, 'x'));
    const announced = [0, 4, 5, 20, 54, 55].map((length, index, all) => {
      splitter.push(frame.subarray(all[index - 1] ?? 0, length));
      splitter.next();
      return [splitter.announcedBytes, splitter.hasPartialFrame, splitter.pendingBytes];
    });
    expect(announced).toEqual([
      [0, false, 0],
      [0, true, 4],
      [55, true, 5],
      [55, true, 20],
      [55, true, 54],
      [0, false, 0],
    ]);
  });

  it.each(named)('refuses %s', (_name, malformed) => {
    const splitter = new FrameSplitter(defaultLimits);
    splitter.push(malformedBytes(malformed));
    expect(drain(splitter)).toMatchObject([{ kind: 'fault', code: malformed.code, closes: true }]);
  });

  it('gives the frames before a fault, then the fault once, then nothing more [FRAME-014]', () => {
    const splitter = new FrameSplitter(limits);
    splitter.push(
      Buffer.concat([
        frameBytes(Buffer.from('ab')),
        frameBytes(Buffer.from('x')),
        frameBytes(Buffer.from('cd')),
      ]),
    );
    expect(bodies(drain(splitter))).toEqual(['ab', 'INVALID_MESSAGE']);
    splitter.push(frameBytes(Buffer.from('ef')));
    expect(splitter.next()).toBeUndefined();
    expect(splitter.pendingBytes).toBe(0);
  });

  it('reads two frames cut at any byte, or byte by byte [FRAME-015, FRAME-016]', () => {
    const stream = Buffer.concat([frameBytes(Buffer.from('first')), frameBytes(Buffer.from('second'), 1)]);
    for (let cut = 0; cut <= stream.length; cut += 1) {
      const splitter = new FrameSplitter(limits);
      splitter.push(stream.subarray(0, cut));
      const early = drain(splitter);
      splitter.push(stream.subarray(cut));
      expect(bodies([...early, ...drain(splitter)])).toEqual(['first', 'second']);
    }
    const splitter = new FrameSplitter(limits);
    const results = [...stream].flatMap((byte) => {
      splitter.push(Buffer.from([byte]));
      return drain(splitter);
    });
    expect(bodies(results)).toEqual(['first', 'second']);
  });

  it('keeps chunks that come faster than frames are taken, in order [FRAME-016]', () => {
    const splitter = new FrameSplitter(limits);
    for (const byte of Buffer.concat(['one', 'two', 'three'].map((text) => frameBytes(Buffer.from(text))))) {
      splitter.push(Buffer.from([byte]));
    }
    expect(bodies(drain(splitter))).toEqual(['one', 'two', 'three']);
  });

  it('says whether a frame has begun, which one, and how much is held', () => {
    const splitter = new FrameSplitter(limits);
    expect(splitter.hasPartialFrame).toBe(false);
    splitter.push(Buffer.concat([frameBytes(Buffer.from('ab')), Buffer.from([0])]));
    drain(splitter);
    expect([splitter.hasPartialFrame, splitter.frameCount, splitter.pendingBytes]).toEqual([true, 1, 1]);
    splitter.push(Buffer.concat([frameBytes(Buffer.from('cd')).subarray(1)]));
    drain(splitter);
    expect([splitter.hasPartialFrame, splitter.frameCount, splitter.pendingBytes]).toEqual([false, 2, 0]);
  });

  it('gives whole frames of one chunk as views, and frees the chunk of a partial one', () => {
    const splitter = new FrameSplitter(limits);
    const chunk = Buffer.alloc(18); // Never from the runtime's pool of small buffers, so its memory is its own.
    frameBytes(Buffer.from('whole')).copy(chunk);
    frameBytes(Buffer.from('partial')).copy(chunk, 10);
    splitter.push(chunk);
    const [whole] = framesOf(drain(splitter));
    splitter.push(Buffer.from('tial'));
    const [partial] = framesOf(drain(splitter));
    expect(whole?.body.buffer).toBe(chunk.buffer);
    expect(partial?.body.toString()).toBe('partial');
    expect(partial?.body.buffer).not.toBe(chunk.buffer);
    expect([whole?.isAlone, partial?.isAlone]).toEqual([false, true]);
  });

  it('copies the rest of a chunk before the caller changes it [FRAME-015, FRAME-016]', () => {
    const [first, second] = [frameBytes(Buffer.from('one')), frameBytes(Buffer.from('another'))];
    for (let cut = 0; cut <= second.length; cut += 1) {
      const splitter = new FrameSplitter(defaultLimits);
      const chunk = Buffer.concat([first, second.subarray(0, cut)]);
      splitter.push(chunk);
      expect(splitter.next()).toMatchObject({ flags: 0, body: first.subarray(5) });
      splitter.releaseChunk();
      chunk.fill(0xee);
      splitter.push(Buffer.from(second.subarray(cut)));
      expect(splitter.next()).toMatchObject({ flags: 0, body: second.subarray(5) });
    }
  });

  it('never writes a body again that it has given out', () => {
    const splitter = new FrameSplitter(limits);
    const kept: Frame[] = [];
    for (let round = 0; round < 20; round += 1) {
      const stream = frameBytes(Buffer.alloc(50, round));
      for (const chunk of [stream.subarray(0, 20), stream.subarray(20, 40), stream.subarray(40)]) {
        splitter.push(chunk);
        kept.push(...framesOf(drain(splitter)));
      }
    }
    expect(kept.map((frame) => frame.body)).toEqual(kept.map((_, round) => Buffer.alloc(50, round)));
    expect(kept.length).toBe(20);
  });
});

describe('ByteBacklog', () => {
  it('holds at most about twice what arrived, and copies each byte a constant number of times', () => {
    const backlog = new ByteBacklog();
    const buffers = new Set<ArrayBufferLike>();
    for (let length = 1; length <= 100_000; length += 1) {
      backlog.append(Buffer.from([length & 0xff]), Number.POSITIVE_INFINITY);
      if ((length & (length - 1)) === 0) buffers.add(backlog.take(1).buffer);
    }
    expect(backlog.length).toBe(100_000 - 17);
    expect(buffers.size).toBeLessThanOrEqual(17);
    const { byteLength } = backlog.take(1).buffer;
    expect(byteLength).toBeLessThanOrEqual(2 * 100_000);
  });

  it('takes no more room in advance than is expected', () => {
    const backlog = new ByteBacklog();
    backlog.append(Buffer.alloc(60_000), 70_000);
    backlog.append(Buffer.alloc(1), 70_000);
    expect(backlog.take(1).buffer.byteLength).toBe(70_000);
  });
});
