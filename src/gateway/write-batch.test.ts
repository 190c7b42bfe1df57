// Which connections share the bytes of a write.

import { describe, expect, it } from 'vitest';
import { Command } from '../protocol/command.ts';
import { FrameFlags } from '../protocol/compression.ts';
import { encodeBody, encodedBodyLength, encodeFrame, frameOf } from '../protocol/encode.ts';
import type { MessageFields } from '../protocol/message.ts';
import type { OutboundFrame, ReadyFrame } from './outbound-frame.ts';
import { type Write, WriteBatch } from './write-batch.ts';
import { WriteBuffers } from './write-buffers.ts';

const fields = (id: string): MessageFields => ({ command: Command.Pong, id });
const first = encodeBody({ command: Command.Deliver, id: 'first' });
const second = encodeBody({ command: Command.Deliver, id: 'second' });

function ready(frame: OutboundFrame, flags: number = FrameFlags.None): ReadyFrame {
  const bodyLength = 'byteLength' in frame ? frame.byteLength : encodedBodyLength(frame);
  return { frame, bodyLength, flags };
}

const bytesOf = ({ pieces }: Write): Buffer => Buffer.concat(pieces);

describe('connections that are flushed together', () => {
  it('share the bytes of the same frames', () => {
    const writes = new WriteBatch(new WriteBuffers());
    const write = writes.writeOf([ready(first), ready(second)]);
    expect(writes.writeOf([ready(first), ready(second)])).toBe(write);
    expect(bytesOf(write)).toEqual(Buffer.concat([frameOf(first), frameOf(second)]));
  });

  it.each([
    ['fewer frames', [ready(first)]],
    ['more frames', [ready(first), ready(second), ready(first)]],
    ['another order', [ready(second), ready(first)]],
    ['another last frame', [ready(first), ready(first)]],
    ['a compressed one', [ready(first), ready(second, FrameFlags.Gzip)]],
    ['an answer of its own', [ready(fields('own')), ready(second)]],
  ])('have bytes of their own for %s', (_what, frames) => {
    const writes = new WriteBatch(new WriteBuffers());
    writes.writeOf([ready(first), ready(second)]);
    const alone = new WriteBatch(new WriteBuffers()).writeOf(frames);
    expect(bytesOf(writes.writeOf(frames))).toEqual(bytesOf(alone));
  });

  it('share with the one before only', () => {
    const writes = new WriteBatch(new WriteBuffers());
    const frames = [[ready(first)], [ready(fields('own'))], [ready(first)]];
    const [one, own, again] = frames.map((list) => bytesOf(writes.writeOf(list)));
    expect([one, own, again]).toEqual([frameOf(first), encodeFrame(fields('own')), frameOf(first)]);
  });
});
