// The body of Deliver: the published one, with the added headers.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { DeliverEffect } from '../../broker/interface/effect.ts';
import { Command } from '../../protocol/command.ts';
import { decodeMessage } from '../../protocol/decode.ts';
import { encodeBody } from '../../protocol/encode.ts';
import { isFault } from '../../protocol/fault.ts';
import type { Message } from '../../protocol/message.ts';
import { messageFields } from '../../testing/message-arbitrary.ts';
import { bodyBytes } from '../../testing/wire-bytes.ts';
import { contentOf, DeliverBodies, deliverBody as deliverFrame } from './content.ts';

const maxBodyBytes = 1_048_576;

function decoded(body: Buffer): Message {
  const message = decodeMessage(body);
  if (isFault(message)) throw new Error(message.text);
  return message;
}

function deliver(body: Buffer, changes: Partial<DeliverEffect> = {}): DeliverEffect {
  const message = decoded(body);
  const { id, queue } = message;
  const content = contentOf({ bytes: body, start: 0, end: body.length, isAlone: false }, message);
  return {
    kind: 'deliver',
    connection: 1,
    queue,
    id,
    content,
    attempt: 1,
    deadLetter: undefined,
    ...changes,
  };
}

const published = bodyBytes({
  command: 20,
  id: 'm1',
  queue: 'orders',
  payload: '{ "n" : 1 }',
  headers: [
    ['priority', 'High'],
    ['x', '1'],
  ],
});

const deadLetter = {
  reason: 'MaxRetriesExceeded',
  source: 'orders',
  attempts: 3,
  deadLetteredWallAt: Date.UTC(2026, 1, 18, 10, 30),
} as const;

function deliverBody(effect: DeliverEffect, maxBytes: number): Buffer {
  const body = deliverFrame(effect, maxBytes);
  return Buffer.isBuffer(body) ? body : body.toBytes();
}

describe('a first delivery', () => {
  it('is the published body but for the command byte [DELIVERY-050, DELIVERY-051, DELIVERY-052, DELIVERY-054]', () => {
    const expected = Buffer.from(published);
    expected[1] = Command.Deliver;
    expect(deliverBody(deliver(published), maxBodyBytes)).toEqual(expected);
  });

  it('has version 1, whatever came, and ends after its headers [BODY-013, BODY-014]', () => {
    const odd = Buffer.concat([published, Buffer.from('trailing')]);
    odd[0] = 200;
    const body = deliverBody(deliver(odd), maxBodyBytes);
    expect(body[0]).toBe(1);
    expect(body.length).toBe(published.length);
  });

  it('does not change when the buffer that it arrived in is used again', () => {
    const chunk = Buffer.from(published);
    const effect = deliver(chunk);
    chunk.fill(0xff);
    expect(decoded(deliverBody(effect, maxBodyBytes))).toMatchObject({ id: 'm1', queue: 'orders' });
  });

  it('is in the buffer that it arrived in if it is large and alone there', () => {
    const body = encodeBody({ command: Command.Publish, id: 'm', queue: 'q', payload: Buffer.alloc(70_000) });
    const message = decoded(body);
    const buffers = [true, false].map((isAlone) => {
      const content = contentOf({ bytes: body, start: 0, end: body.length, isAlone }, message);
      return content.toBytes().buffer === body.buffer;
    });
    expect(buffers).toEqual([true, false]);
  });

  it('of any message decodes to the same fields [DELIVERY-052, DELIVERY-053]', () => {
    fc.assert(
      fc.property(messageFields, fc.uint8Array({ maxLength: 9 }), (fields, trailing) => {
        const body = Buffer.concat([encodeBody({ ...fields, command: Command.Publish }), trailing]);
        const message = decoded(deliverBody(deliver(body), maxBodyBytes));
        const { id, queue, payload, headers } = fields;
        expect(message).toMatchObject({ version: 1, command: Command.Deliver, id, queue, headers });
        expect(message.payload.equals(payload)).toBe(true);
      }),
    );
  });
});

describe('a further delivery', () => {
  it('tells how often the message was sent, besides its own headers [DELIVERY-055]', () => {
    const { headers, payload } = decoded(deliverBody(deliver(published, { attempt: 12 }), maxBodyBytes));
    expect(Object.fromEntries(headers)).toEqual({ priority: 'High', x: '1', deliveryAttempts: '12' });
    expect(payload.toString()).toBe('{ "n" : 1 }');
  });

  it.each([2, 3, 4])(
    'has the content that was published: sending %d [DELIVERY-052, DELIVERY-053]',
    (attempt) => {
      const { headers, payload } = decoded(deliverBody(deliver(published, { attempt }), maxBodyBytes));
      expect([headers.get('priority'), headers.get('x')]).toEqual(['High', '1']);
      expect(payload.toString()).toBe('{ "n" : 1 }');
    },
  );

  it.each([
    'MaxRetriesExceeded',
    'MessageExpired',
    'DeserializationError',
    'HandlerException',
    'QueueOverflow',
  ] as const)(
    'of a dead letter has the content of its message, each time: %s [DLQ-012, DELIVERY-052, DELIVERY-053]',
    (reason) => {
      for (const attempt of [1, 2]) {
        const effect = deliver(published, { attempt, deadLetter: { ...deadLetter, reason } });
        const { headers, payload } = decoded(deliverBody(effect, maxBodyBytes));
        expect([headers.get('priority'), headers.get('x')]).toEqual(['High', '1']);
        expect(payload.toString()).toBe('{ "n" : 1 }');
      }
    },
  );

  it('replaces a header of the same name [FRAME-024]', () => {
    const body = bodyBytes({
      command: 20,
      id: 'm',
      queue: 'q',
      headers: [
        ['deliveryAttempts', '99'],
        ['a', 'b'],
      ],
    });
    expect(
      Object.fromEntries(decoded(deliverBody(deliver(body, { attempt: 2 }), maxBodyBytes)).headers),
    ).toEqual({
      deliveryAttempts: '2',
      a: 'b',
    });
  });

  it('may have more than 50 headers [FRAME-023]', () => {
    const headers = Array.from({ length: 50 }, (_, index) => [`h${index}`, 'v'] as const);
    const body = bodyBytes({ command: 20, id: 'm', queue: 'q', headers });
    expect(decoded(deliverBody(deliver(body, { attempt: 2, deadLetter }), maxBodyBytes)).headers.size).toBe(
      55,
    );
  });

  it('leaves added headers out where the frame has no room for them, and only there [FRAME-018, FRAME-022]', () => {
    const effect = deliver(published, { attempt: 2 });
    const added = 2 + 'deliveryAttempts'.length + 2 + 1;
    expect(decoded(deliverBody(effect, published.length + added)).headers.get('deliveryAttempts')).toBe('2');
    const cramped = deliverBody(effect, published.length + added - 1);
    expect(cramped.length).toBe(published.length);
    expect(decoded(cramped).headers.has('deliveryAttempts')).toBe(false);
  });
});

describe('a dead letter', () => {
  it('names its own queue and says where it comes from and why [DLQ-012, DLQ-013, DLQ-014, DLQ-015, DLQ-016]', () => {
    const effect = deliver(published, { queue: 'orders.dlq', deadLetter });
    const message = decoded(deliverBody(effect, maxBodyBytes));
    expect(message).toMatchObject({ id: 'm1', queue: 'orders.dlq', command: Command.Deliver });
    expect(message.payload.toString()).toBe('{ "n" : 1 }');
    expect(Object.fromEntries(message.headers)).toEqual({
      priority: 'High',
      x: '1',
      deadLetterReason: 'MaxRetriesExceeded',
      deadLetterSource: 'orders',
      deadLetterAttempts: '3',
      deadLetteredAt: '2026-02-18T10:30:00Z',
    });
  });

  it('keeps to the largest frame [FRAME-018, FRAME-022]', () => {
    const effect = deliver(published, { queue: 'orders.dlq', attempt: 2, deadLetter });
    const body = deliverBody(effect, published.length + '.dlq'.length);
    expect(body.length).toBe(published.length + '.dlq'.length);
    expect(decoded(body)).toMatchObject({
      queue: 'orders.dlq',
      headers: new Map([
        ['priority', 'High'],
        ['x', '1'],
      ]),
    });
  });
});

describe('a content that goes to several connections in a row', () => {
  it('is turned into bytes once, and one that does not is written as it is kept', () => {
    const bodies = new DeliverBodies();
    const effect = deliver(published);
    const other = deliver(published);
    const first = bodies.bodyOf(effect, effect, maxBodyBytes);
    expect(bodies.bodyOf(effect, other, maxBodyBytes)).toBe(first);
    expect(first).toEqual(deliverBody(effect, maxBodyBytes));
    expect(bodies.bodyOf(other, undefined, maxBodyBytes)).toBe(other.content);
    expect(bodies.bodyOf(other, effect, maxBodyBytes)).toBe(other.content);
  });

  it('is forgotten after the batch', () => {
    const bodies = new DeliverBodies();
    const effect = deliver(published);
    const first = bodies.bodyOf(effect, effect, maxBodyBytes);
    bodies.clear();
    expect(bodies.bodyOf(effect, effect, maxBodyBytes)).not.toBe(first);
  });
});
