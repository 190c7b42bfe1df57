// Compares the runner's codec with recorded frames, with a naive decoder written with plain loops, and with itself.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { goldenFaults } from '../golden-check.ts';
import { loadSuiteData } from '../suite-data.ts';
import { codePoint } from '../testing/code-point.ts';
import { Command } from './command.ts';
import { compressedFrame } from './compression.ts';
import { decodeBody, WireFault } from './decode.ts';
import { bodyBytes, bytes32, encodeBody, encodeFrame, frameAround, string16, u8, u16 } from './encode.ts';
import type { FrameFields } from './frame.ts';
import { FrameReader } from './frame-reader.ts';

const text = fc
  .string({ unit: codePoint, maxLength: 20 })
  .map((value) => Buffer.from(value, 'utf8').toString('utf8'));
const anyFields: fc.Arbitrary<FrameFields> = fc.record({
  version: fc.nat(255),
  command: fc.oneof(fc.constantFrom(...Object.values(Command)), fc.nat(255)),
  id: text,
  queue: text,
  payload: text,
  headers: fc.array(fc.tuple(text, text), { maxLength: 4 }),
  errorCode: text,
  errorMessage: text,
});

/** Decodes a body with plain loops over an array of numbers, written from the text of the specification alone. */
function naiveRead(body: readonly number[]): Record<string, unknown> {
  let at = 0;
  const number = (count: number): number => {
    let value = 0;
    for (let index = 0; index < count; index += 1) value = value * 256 + (body[at + index] ?? Number.NaN);
    at += count;
    return value;
  };
  const bytes = (count: number): string => {
    at += count;
    return Buffer.from(body.slice(at - count, at)).toString('utf8');
  };
  const string = (): string => bytes(number(2));
  const version = number(1);
  const command = number(1);
  const id = string();
  const queue = string();
  const payload = bytes(number(4));
  const headers: string[][] = [];
  for (let left = number(2); left > 0; left -= 1) headers.push([string(), string()]);
  const errorCode = command === 99 ? string() : '';
  const errorMessage = command === 99 ? string() : '';
  return { version, command, id, queue, payload, headers, errorCode, errorMessage, left: body.length - at };
}

describe('the codec', () => {
  it('decodes and encodes every recorded frame to its recorded form', () => {
    expect(goldenFaults(loadSuiteData().golden)).toEqual([]);
  });

  it('reports a recorded frame that it decodes differently', () => {
    const [file] = loadSuiteData().golden;
    const frame = file?.connections[0]?.[0];
    if (frame === undefined) throw new Error('there is no golden frame');
    const faultsWith = (more: Partial<typeof frame>) =>
      goldenFaults([{ title: 't', connections: [[{ ...frame, ...more }]] }]);
    expect(faultsWith({})).toEqual([]);
    expect(faultsWith({ queue: 'other' })).toHaveLength(2);
    expect(faultsWith({ hex: frame.hex.slice(0, -2) })).not.toEqual([]);
    expect(goldenFaults([])).toHaveLength(1);
  });

  it('encodes fields that a naive decoder reads back', () => {
    fc.assert(
      fc.property(anyFields, (fields) => {
        const read = naiveRead([...encodeBody(fields)]);
        const isError = fields.command === Command.Error;
        const errors = isError ? {} : { errorCode: '', errorMessage: '' };
        expect(read).toEqual({ ...fields, ...errors, left: 0 });
      }),
    );
  });

  it('decodes the same fields as a naive decoder', () => {
    fc.assert(
      fc.property(anyFields, fc.uint8Array({ maxLength: 4 }), (fields, trailing) => {
        const body = Buffer.concat([encodeBody(fields), trailing]);
        const { payload, trailingByteCount, commandName: _name, ...read } = decodeBody(body);
        const naive = naiveRead([...body]);
        expect({ ...read, payload: payload.toString('utf8'), left: trailingByteCount }).toEqual(naive);
      }),
    );
  });

  it('rejects every incomplete body, and throws only WireFaults', () => {
    fc.assert(
      fc.property(anyFields, fc.nat(), (fields, seed) => {
        const body = encodeBody(fields);
        expect(() => decodeBody(body.subarray(0, seed % body.length))).toThrow(WireFault);
      }),
    );
  });

  it('rejects text that is not UTF-8', () => {
    const wrong = Buffer.from([0xc3, 0x28]);
    const body = bodyBytes(u8(1), u8(10), string16(wrong), string16(''), bytes32(''), u16(0));
    expect(() => decodeBody(body)).toThrow('id is not valid UTF-8: c328');
  });
});

describe('FrameReader', () => {
  it('reads the same frames, however the stream is split', () => {
    const stream = fc.array(anyFields, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(), { maxLength: 8 }), (frames, cuts) => {
        const bytes = Buffer.concat(frames.map(encodeFrame));
        const bounds = [0, ...cuts.map((cut) => cut % bytes.length).sort((a, b) => a - b), bytes.length];
        const reader = new FrameReader(1_000_000);
        const bodies: Buffer[] = [];
        for (const [index, end] of bounds.entries()) {
          reader.push(bytes.subarray(bounds[index - 1] ?? 0, end));
          for (let raw = reader.next(); raw !== undefined; raw = reader.next()) bodies.push(raw.body);
        }
        expect(bodies).toEqual(frames.map((fields) => encodeBody(fields)));
      }),
    );
  });

  it.each(['gzip', 'brotli'] as const)('undoes %s', (algorithm) => {
    const body = encodeBody({ command: Command.Ping, id: 'x'.repeat(2000) });
    const reader = new FrameReader(1_000_000);
    reader.push(compressedFrame(body, algorithm));
    expect(reader.next()?.body).toEqual(body);
  });

  it.each([
    ['a length of 1', frameAround(Buffer.from([1]))],
    ['a length over the limit', frameAround(Buffer.alloc(101))],
    ['unknown flags', frameAround(Buffer.alloc(2), { flags: 3 })],
    ['a body that is not gzip', frameAround(Buffer.alloc(9), { flags: 1 })],
  ])('rejects %s', (_name, bytes) => {
    const reader = new FrameReader(100);
    reader.push(bytes);
    expect(() => reader.next()).toThrow(WireFault);
  });
});
