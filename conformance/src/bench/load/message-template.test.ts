// The frames of the load are frames of the protocol, by the runner's ordinary decoder, and what is written into them is read out again.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Command } from '../../wire/command.ts';
import { decodeBody } from '../../wire/decode.ts';
import { encodeFrame } from '../../wire/encode.ts';
import { frameHeadBytes } from '../../wire/frame-reader.ts';
import { FrameView } from '../../wire/frame-view.ts';
import { idBytes, jsonOfLength, MessageTemplate, minPayloadBytes, stampOf } from './message-template.ts';
import { SequenceSet } from './sequence-set.ts';

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });

function template(payloadBytes: number, tag = 'pass0001'): MessageTemplate {
  return new MessageTemplate({ queue: 'q', tag, payloadBytes });
}

function viewOf(frame: Buffer): FrameView {
  const view = new FrameView();
  view.moveTo(frame, 0);
  return view;
}

describe('a payload', () => {
  it('is one JSON text of exactly the wanted length', () => {
    fc.assert(
      fc.property(fc.integer({ min: minPayloadBytes, max: 3000 }), (byteCount) => {
        const text = jsonOfLength(byteCount);
        expect(text).toHaveLength(byteCount);
        expect(JSON.parse(text)).toHaveProperty('t', '00000000');
      }),
    );
  });
});

describe('a message of the load', () => {
  it('decodes to its fields, and carries number and stamp', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: minPayloadBytes, max: 500 }),
        uint32,
        uint32,
        (size, sequence, stampUs) => {
          const message = template(size);
          const frame = Buffer.alloc(message.publishBytes);
          message.writePublish(frame, 0, sequence, stampUs);
          const body = decodeBody(frame.subarray(frameHeadBytes));
          expect(body).toMatchObject({ command: Command.Publish, queue: 'q', headers: [] });
          expect(body.trailingByteCount).toBe(0);
          expect(body.payload).toHaveLength(size);
          expect(JSON.parse(body.payload.toString())).toHaveProperty('t');
          const view = viewOf(frame);
          expect([message.sequenceOf(view), stampOf(view)]).toEqual([sequence, stampUs]);
        },
      ),
    );
  });

  it('is acknowledged by its id', () => {
    const message = template(100);
    const ack = Buffer.alloc(message.ackBytes);
    message.writeAck(ack, 0, 77);
    const publish = Buffer.alloc(message.publishBytes);
    message.writePublish(publish, 0, 77, 1);
    expect(viewOf(ack).id()).toBe(viewOf(publish).id());
    expect(viewOf(ack).id()).toHaveLength(idBytes);
    expect(decodeBody(ack.subarray(frameHeadBytes)).command).toBe(Command.Ack);
  });

  it('is told from those of another pass, and from anything else', () => {
    const other = Buffer.alloc(template(100).publishBytes);
    template(100, 'pass0002').writePublish(other, 0, 5, 1);
    const foreign = encodeFrame({ command: Command.Deliver, id: 'x' });
    expect(template(100).sequenceOf(viewOf(other))).toBe(-1);
    expect(template(100).sequenceOf(viewOf(foreign))).toBe(-1);
  });
});

describe('a set of numbers', () => {
  it('knows each number once, as a Set does', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 200_000 })), (numbers) => {
        const set = new SequenceSet();
        const news = numbers.map((number) => set.add(number));
        const known = new Set<number>();
        expect(news).toEqual(numbers.map((number) => known.size < known.add(number).size));
        expect(set.size).toBe(known.size);
      }),
    );
  });
});
