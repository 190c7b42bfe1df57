// The splitter finds the same frames, however the stream is split into chunks, and reads the same fields as the decoder.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadSuiteData } from '../suite-data.ts';
import { Command } from './command.ts';
import { decodeBody, WireFault } from './decode.ts';
import { encodeFrame, frameAround } from './encode.ts';
import { FrameGatherer } from './frame-gatherer.ts';
import { FrameSplitter } from './frame-splitter.ts';

type Seen = {
  readonly command: number;
  readonly id: string;
  readonly queue: string;
  readonly payload: string;
};

function split(chunks: readonly Buffer[]): readonly Seen[] {
  const seen: Seen[] = [];
  const splitter = new FrameSplitter((frame) =>
    seen.push({
      command: frame.command,
      id: frame.id(),
      queue: frame.queue(),
      payload: frame.payload(),
    }),
  );
  for (const chunk of chunks) splitter.push(chunk);
  return seen;
}

const frames = fc.array(
  fc.record({
    command: fc.constantFrom(Command.Deliver, Command.PublishAck, Command.Pong),
    id: fc.string({ minLength: 1, maxLength: 40 }),
    queue: fc.string({ maxLength: 20 }),
    payload: fc.string({ maxLength: 9000 }),
  }),
  { maxLength: 12 },
);

describe('the splitter', () => {
  it('finds every frame once, whatever the chunks', () => {
    const chunkSizes = fc.infiniteStream(fc.integer({ min: 1, max: 5000 }));
    fc.assert(
      fc.property(frames, chunkSizes, (sent, sizes) => {
        expect(split(cut(Buffer.concat(sent.map(encodeFrame)), sizes))).toEqual(sent);
      }),
    );
  });

  it('rejects a compressed frame, and a frame over the limit', () => {
    const compressed = frameAround(Buffer.alloc(20), { flags: 1 });
    expect(() => split([compressed])).toThrow(WireFault);
    expect(() => split([frameAround(Buffer.alloc(2), { lengthBytes: 2 ** 31 })])).toThrow(WireFault);
    expect(() => split([compressed.subarray(0, 3), compressed.subarray(3)])).toThrow(WireFault);
  });

  it('reads every recorded frame as the decoder does', () => {
    const recorded = loadSuiteData().golden.flatMap(({ connections }) => connections.flat());
    const plain = recorded.map(({ hex }) => Buffer.from(hex, 'hex')).filter((bytes) => bytes[4] === 0);
    const decoded = plain.map((bytes) => decodeBody(bytes.subarray(5)));
    expect(split(plain)).toEqual(
      decoded.map(({ command, id, queue, payload }) => ({ command, id, queue, payload: payload.toString() })),
    );
    expect(plain.length).toBeGreaterThan(20);
  });
});

describe('the gatherer', () => {
  it('passes all bytes on in order, many frames in one write', () => {
    const written: Buffer[] = [];
    const gatherer = new FrameGatherer({
      destroyed: false,
      write: (bytes, done) => {
        written.push(Buffer.from(bytes));
        done();
      },
    });
    const sent = Array.from({ length: 3000 }, (_, index) =>
      encodeFrame({ command: Command.Publish, id: `m${index}`, payload: 'x'.repeat(index % 700) }),
    );
    const large = encodeFrame({ command: Command.Publish, id: 'large', payload: 'x'.repeat(600_000) });
    for (const frame of [...sent, large, ...sent]) gatherer.add(frame);
    gatherer.flush();
    expect(Buffer.concat(written).equals(Buffer.concat([...sent, large, ...sent]))).toBe(true);
    expect(written.length).toBeLessThan(20);
  });

  it('does not reuse a slab before the socket has written it', () => {
    const held: { readonly bytes: Uint8Array; readonly copy: Buffer }[] = [];
    const gatherer = new FrameGatherer({
      destroyed: false,
      write: (bytes) => held.push({ bytes, copy: Buffer.from(bytes) }),
    });
    for (let index = 0; index < 40; index += 1) {
      gatherer.add(Buffer.alloc(50_000, index));
      gatherer.flush();
    }
    expect(held).toHaveLength(40);
    expect(held.every(({ bytes, copy }) => copy.equals(bytes))).toBe(true);
  });
});

function cut(bytes: Buffer, sizes: Iterator<number>): readonly Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const size: number = sizes.next().value ?? 1;
    chunks.push(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  return chunks;
}
