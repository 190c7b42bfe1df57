// The codec against frames recorded between software that exists.

import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { fieldsOf } from '../testing/message-fields.ts';
import { type RecordedFrame, recordedFrames } from '../testing/wire-fixtures.ts';
import { Command } from './command.ts';
import { algorithmOf } from './compression.ts';
import { decodeMessage } from './decode.ts';
import { encodeFrame } from './encode.ts';
import { isFault } from './fault.ts';
import { type Frame, FrameSplitter } from './frame-splitter.ts';
import { defaultLimits } from './limits.ts';
import type { Message } from './message.ts';

const frames = recordedFrames();
const plain = frames.filter((frame) => frame.compression === 'none');
const compressed = frames.filter((frame) => frame.compression !== 'none');

describe('recorded frames', () => {
  it('are all there', () => {
    expect(frames.length).toBe(168);
    expect(new Set(frames.map((frame) => frame.compression))).toEqual(new Set(['none', 'gzip', 'brotli']));
  });

  it.each(titled(frames))(
    '%s decodes to the recorded fields [FRAME-001, FRAME-002, BODY-001, BODY-008]',
    (_title, recorded) => {
      const frame = splitOne(recorded);
      expect(algorithmOf(frame.flags) ?? 'none').toBe(recorded.compression);
      expect(described(decoded(inflate(frame)))).toEqual(recordedFields(recorded));
    },
  );

  it.each(titled(plain))(
    '%s encodes back to its bytes [BODY-002, BODY-004, BODY-013]',
    (_title, recorded) => {
      const message = decoded(splitOne(recorded).body);
      expect(encodeFrame(message).toString('hex')).toBe(recorded.hex);
    },
  );

  it.each(titled(compressed))(
    '%s inflates to what we encode [COMPRESS-002, COMPRESS-003]',
    (_title, recorded) => {
      const body = inflate(splitOne(recorded));
      expect(encodeFrame(decoded(body)).subarray(5)).toEqual(body);
    },
  );
});

function titled(recorded: readonly RecordedFrame[]): readonly (readonly [string, RecordedFrame])[] {
  return recorded.map((frame) => [`${frame.file} ${frame.seq} ${frame.command}`, frame]);
}

function splitOne(recorded: RecordedFrame): Frame {
  const splitter = new FrameSplitter(defaultLimits);
  splitter.push(Buffer.from(recorded.hex, 'hex'));
  const frame = splitter.next();
  if (frame === undefined || isFault(frame)) throw new Error(`No frame: ${frame?.text}`);
  expect(splitter.pendingBytes).toBe(0);
  return frame;
}

function inflate(frame: Frame): Buffer {
  const algorithm = algorithmOf(frame.flags);
  if (algorithm === undefined) return frame.body;
  return algorithm === 'gzip' ? gunzipSync(frame.body) : brotliDecompressSync(frame.body);
}

function decoded(body: Buffer): Message {
  const message = decodeMessage(body);
  if (isFault(message)) throw new Error(message.text);
  expect(message.endAt).toBe(body.length);
  return message;
}

function described(message: Message): unknown {
  const { endAt: _, ...fields } = fieldsOf(message);
  return { ...fields, payload: message.payload.toString(), headers: [...message.headers] };
}

function recordedFields(recorded: RecordedFrame): unknown {
  const { version, id, queue, payload, headers, errorCode = '', errorMessage = '' } = recorded;
  const command = Command[recorded.command as keyof typeof Command];
  return { version, command, id, queue, payload, headers, errorCode, errorMessage };
}
