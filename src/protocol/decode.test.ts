// The decoder, case by case; fixtures/malformed and the properties beside this file cover what it refuses.

import { describe, expect, it } from 'vitest';
import { fieldsOf } from '../testing/message-fields.ts';
import { bodyBytes } from '../testing/wire-bytes.ts';
import { Command } from './command.ts';
import { decodeBody, decodeMessage, newLastQueueName } from './decode.ts';
import { isFault } from './fault.ts';
import { type Message, noHeaders, noPayload } from './message.ts';

function decoded(body: Buffer): Message {
  const message = decodeMessage(body);
  if (isFault(message)) throw new Error(message.text);
  return message;
}

describe('decodeMessage', () => {
  it('reads every field in its place [BODY-001, BODY-004, BODY-007, BODY-008]', () => {
    const body = bodyBytes({
      command: Command.Publish,
      id: 'm-1',
      queue: 'orders',
      payload: '{"a":1}',
      headers: [
        ['priority', 'High'],
        ['note', 'naïve ✓ 📦'],
      ],
    });
    expect(fieldsOf(decoded(body))).toEqual({
      version: 1,
      command: 20,
      id: 'm-1',
      queue: 'orders',
      payload: Buffer.from('{"a":1}'),
      headers: new Map([
        ['priority', 'High'],
        ['note', 'naïve ✓ 📦'],
      ]),
      errorCode: '',
      errorMessage: '',
      endAt: body.length,
    });
  });

  it('reads lengths of two bytes without a sign, and of four bytes [BODY-002, BODY-007]', () => {
    const [id, queue] = ['i'.repeat(200), 'q'.repeat(0x8180)];
    const body = bodyBytes({ command: Command.Publish, id, queue, payload: 'x'.repeat(70_000) });
    const message = decoded(body);
    expect([message.id, message.queue]).toEqual([id, queue]);
    expect(message.payload.equals(Buffer.alloc(70_000, 'x'))).toBe(true);
  });

  it('takes lengths of 0 for absent, and makes no new values for them [BODY-006, BODY-007]', () => {
    const message = decoded(bodyBytes({ command: Command.Ping, id: 'p' }));
    expect(message.queue).toBe('');
    expect(message.payload).toBe(noPayload);
    expect(message.headers).toBe(noHeaders);
  });

  it('gives the payload as a view of the body', () => {
    const body = bodyBytes({ command: Command.Publish, payload: '[1]' });
    expect(decoded(body).payload.buffer).toBe(body.buffer);
  });

  it('reads the error fields of an Error and of nothing else [BODY-010]', () => {
    const parts = { id: 'e', errorCode: 'QUEUE_FULL', errorMessage: 'The queue is full.' };
    const error = decoded(bodyBytes({ command: Command.Error, ...parts }));
    expect([error.errorCode, error.errorMessage]).toEqual(['QUEUE_FULL', 'The queue is full.']);
    const other = decoded(bodyBytes({ command: Command.Ack, ...parts }));
    expect([other.errorCode, other.errorMessage]).toEqual(['', '']);
  });

  it('ignores bytes after the last field and says where they begin [BODY-011]', () => {
    const body = bodyBytes({ command: Command.Ping, id: 'p', trailing: Buffer.from('more') });
    expect(decoded(body).endAt).toBe(body.length - 4);
  });

  it('lets the last of several equal keys win [BODY-012]', () => {
    const headers = [
      ['k', 'first'],
      ['other', 'v'],
      ['k', 'last'],
    ] as const;
    expect(decoded(bodyBytes({ command: Command.Publish, headers })).headers).toEqual(
      new Map([
        ['k', 'last'],
        ['other', 'v'],
      ]),
    );
  });

  it('drops pairs with an empty key or value [BODY-009]', () => {
    const headers = [
      ['', 'v'],
      ['k', ''],
      ['kept', 'v'],
    ] as const;
    expect(decoded(bodyBytes({ command: Command.Publish, headers })).headers).toEqual(
      new Map([['kept', 'v']]),
    );
  });

  it('tells keys apart that differ in case only [BODY-019]', () => {
    const headers = [
      ['Key', 'a'],
      ['key', 'b'],
    ] as const;
    expect(decoded(bodyBytes({ command: Command.Publish, headers })).headers.size).toBe(2);
  });

  it('keeps a byte order mark as part of the text [BODY-003]', () => {
    expect(
      decoded(bodyBytes({ command: Command.Publish, headers: [['k', '\ufeffé']] })).headers.get('k'),
    ).toBe('\ufeffé');
  });

  it('leaves any version and any command to others [CONN-013]', () => {
    const message = decoded(bodyBytes({ version: 200, command: 77 }));
    expect([message.version, message.command]).toEqual([200, 77]);
  });

  it.each([0, 1])('refuses a body of %i bytes, which only decompression can yield [BODY-029]', (length) => {
    expect(decodeMessage(Buffer.alloc(length))).toMatchObject({
      kind: 'fault',
      code: 'INVALID_MESSAGE',
      closes: false,
    });
  });

  it('refuses every beginning of a body, with the id as soon as it is there [BODY-029, CONN-008]', () => {
    const parts = { id: 'm-1', queue: 'orders', payload: '1', headers: [['k', 'v']] as const };
    const body = bodyBytes({ command: Command.Error, ...parts, errorCode: 'C', errorMessage: 'M' });
    for (let length = 0; length < body.length; length += 1) {
      const fault = decodeMessage(body.subarray(0, length));
      expect(fault).toMatchObject({ kind: 'fault', code: 'INVALID_MESSAGE', closes: false });
      expect('id' in fault ? fault.id : undefined).toBe(length < 7 ? undefined : 'm-1');
    }
  });

  it('reads the queue of each body of a connection, whatever the one before it was', () => {
    const last = newLastQueueName();
    for (const queue of ['orders', 'orders', 'orderz', 'order', '', 'é', 'orders']) {
      const body = bodyBytes({ command: Command.Publish, id: 'm', queue });
      expect(decodeMessage(body, last)).toMatchObject({ id: 'm', queue });
    }
  });

  it('keeps the name of a queue for the next body up to 255 bytes', () => {
    const last = newLastQueueName();
    const [longest, tooLong] = ['q'.repeat(255), 'q'.repeat(256)];
    for (const queue of [longest, tooLong]) {
      const body = bodyBytes({ command: Command.Publish, id: 'm', queue });
      expect(decodeMessage(body, last)).toMatchObject({ queue });
      expect(last.text).toBe(longest);
    }
  });

  it('does not take bytes that are not UTF-8 for the same queue in Latin-1', () => {
    const last = newLastQueueName();
    const sound = bodyBytes({ command: Command.Publish, id: 'm', queue: 'é' });
    expect(decodeMessage(sound, last)).toMatchObject({ queue: 'é' });
    const unsound = bodyBytes({ command: Command.Publish, id: 'm', queue: 'x' });
    unsound[unsound.indexOf('x')] = 0xe9;
    expect(decodeMessage(unsound, last)).toMatchObject({ kind: 'fault', code: 'INVALID_MESSAGE', id: 'm' });
  });

  it('says in which field a body breaks off [BODY-029]', () => {
    const parts = { id: 'm-1', queue: 'orders', payload: '1', headers: [['k', 'v']] as const };
    const body = bodyBytes({ command: Command.Error, ...parts, errorCode: 'C', errorMessage: 'M' });
    const texts = Array.from({ length: body.length - 2 }, (_, missing) => {
      const fault = decodeMessage(body.subarray(0, missing + 2));
      return isFault(fault) ? fault.text : 'none';
    });
    expect([...new Set(texts)]).toEqual(
      [
        'id',
        'queue',
        'payload',
        'header count',
        'header name',
        'header value',
        'errorCode',
        'errorMessage',
      ].map((field) => `The body breaks off in the ${field}.`),
    );
    expect(decodeMessage(body.subarray(0, 1))).toMatchObject({
      text: 'The body is too short for a version and a command.',
    });
  });

  it('says which text is not UTF-8 [BODY-003]', () => {
    const broken = Buffer.from([0x66, 0xff]);
    const texts = [
      { id: broken },
      { queue: broken },
      { headers: [[broken, 'v']] as const },
      { headers: [['k', broken]] as const },
      { errorCode: broken, errorMessage: 'M' },
      { errorCode: 'C', errorMessage: broken },
    ].map((parts) => {
      const fault = decodeMessage(bodyBytes({ command: Command.Error, ...parts }));
      return isFault(fault) ? fault.text : 'none';
    });
    expect(texts).toEqual(
      ['id', 'queue', 'header name', 'header value', 'errorCode', 'errorMessage'].map(
        (field) => `The ${field} is not valid UTF-8.`,
      ),
    );
  });
});

describe('decodeBody', () => {
  const plain = bodyBytes({ command: Command.Publish, id: 'm-1', queue: 'orders', payload: '{"a":1}' });

  it.each([
    ['a plain one', plain],
    ['one with more behind its fields', Buffer.concat([plain, Buffer.from('more')])],
    ['one with headers', bodyBytes({ command: Command.Publish, headers: [['k', 'v']] })],
    ['one that is not ASCII', bodyBytes({ command: Command.Publish, id: 'é', queue: 'ü', payload: '"ß"' })],
    ['one of 2 bytes', Buffer.from([1, Command.Ping])],
    ['one of 1 byte', Buffer.from([1])],
    ['one that breaks off', plain.subarray(0, -3)],
  ])('reads %s among other bytes as if it were alone', (_what, body) => {
    for (const around of [Buffer.alloc(300, 0), Buffer.alloc(300, 0xff)]) {
      const bytes = Buffer.concat([around, body, around]);
      const place = { bytes, start: around.length, end: around.length + body.length };
      const [among, alone] = [decodeBody(place), decodeMessage(body)];
      if (isFault(among) || isFault(alone)) expect(among).toEqual(alone);
      else expect(fieldsOf(among)).toEqual(fieldsOf(alone));
    }
  });

  it('gives the name of the last queue again, instead of a new one', () => {
    const last = newLastQueueName();
    decodeBody({ bytes: plain, start: 0, end: plain.length }, last);
    const kept = { text: last.text };
    decodeBody({ bytes: plain, start: 0, end: plain.length }, Object.freeze(last));
    expect(last).toEqual(kept);
  });
});
