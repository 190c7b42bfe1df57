// What a store looks like as text, and each way in which a line of one can be wrong.

import { describe, expect, it } from 'vitest';
import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../../model/queue-options.ts';
import { bodyBytes } from '../../testing/wire-bytes.ts';
import { storeTextLines } from './store-text.ts';
import { StoreTextReader } from './store-text-reader.ts';

const queue: RecoveredRecord = {
  kind: 'queue',
  generation: 7,
  name: 'orders',
  options: { ...defaultQueueOptions, mode: 3, messageTtlMs: 1_800_000 },
  createdWallAt: 0,
};

function message(payload: string | Uint8Array, headers: readonly (readonly [string, string])[] = []) {
  const content = bodyBytes({ command: 26, id: 'm1', queue: 'orders', payload, headers });
  const numbers = { generation: 7, sequence: 9, failedAttempts: 1, acceptedWallAt: 1 };
  return { kind: 'message', id: 'm1', priority: 2, content, ...numbers } as const;
}

function textOf(record: RecoveredRecord): string | undefined {
  return [...storeTextLines([queue, record])][2];
}

const HEAD =
  '{"kind":"message","queue":"orders","id":"m1","priority":"High","acceptedAt":"1970-01-01T00:00:00.001Z"';

describe('a store as text', () => {
  it('says what it is, then queues, then messages, then how many', () => {
    expect([...storeTextLines([queue, message('{"n":1}')])]).toEqual([
      '{"format":"truemq-store","version":1}',
      '{"kind":"queue","name":"orders","createdAt":"1970-01-01T00:00:00Z","options":{"mode":"PriorityBased",' +
        '"maxQueueSize":10000,"messageTtl":"00:30:00","enableDeadLetterQueue":false,"overflowStrategy":"DropOldest",' +
        '"maxRetryAttempts":3}}',
      `${HEAD},"failedAttempts":1,"payload":{"n":1}}`,
      '{"kind":"end","queues":1,"messages":1}',
    ]);
  });

  it.each([
    ['no payload', message(''), ''],
    ['the payload null', message('null'), ',"payload":null'],
    ['blanks that JSON would lose', message('{"n": 1}'), ',"payloadText":"{\\"n\\": 1}"'],
    [
      'a number that JSON would change',
      message('12345678901234567890'),
      ',"payloadText":"12345678901234567890"',
    ],
    ['bytes that are no text', message(Buffer.from([0xff, 1])), ',"payloadBase64":"/wE="'],
    ['headers', message('1', [['source', 'shop']]), ',"headers":{"source":"shop"},"payload":1'],
  ])('says %s so that nothing is lost', (_, record, text) => {
    expect(textOf(record)).toBe(`${HEAD},"failedAttempts":1${text}}`);
  });

  it.each([
    '12345678901234567890',
    '1.0',
    '1e999',
    '{"n":9007199254740993}',
    '{ "b": 1, "2": 0, "1": 0 }',
    '{"a":1,"a":2}',
    '"\\u0041"',
    'null',
  ])('takes the payload %s as somebody has written it', (payload) => {
    const lines = [...storeTextLines([queue])].slice(0, 2);
    for (const blank of ['', ' ']) {
      const reader = new StoreTextReader();
      const line = `${HEAD},"payload":${blank}${payload}${blank},"failedAttempts":0}`;
      const read = [...lines, line].map((each) => reader.read(Buffer.from(each))).at(-1);
      const content = read?.kind === 'record' && read.record.kind === 'message' && read.record.content;
      expect(content).toEqual(message(payload).content);
    }
  });

  it('has the bytes beside what cannot be said', () => {
    const twice = message('1', [
      ['a', '1'],
      ['a', '2'],
    ]);
    const bytes = Buffer.from(twice.content).toString('base64');
    expect(textOf(twice)).toBe(
      `${HEAD},"failedAttempts":1,"headers":{"a":"2"},"payload":1,"contentBase64":"${bytes}"}`,
    );
  });

  it('fails loudly for a message whose queue is not there', () => {
    expect(() => [...storeTextLines([message('1')])]).toThrow('message m1 is damaged');
  });
});

describe('a line that cannot be read', () => {
  const lines = [...storeTextLines([queue, message('{"n":1}')])];
  const [header = '', queueLine = '', messageLine = '', endLine = ''] = lines;

  function problemOf(...given: readonly (string | Buffer)[]): string | undefined {
    const reader = new StoreTextReader();
    const read = given.map((line) => reader.read(Buffer.from(line as string))).at(-1);
    return read?.kind === 'problem' ? read.problem : undefined;
  }

  it.each([
    ['not JSON', [header, '{'], /^not JSON: /],
    ['not UTF-8', [Buffer.from([0xff])], /^not UTF-8$/],
    ['no object', [header, '[]'], /^the line must be a JSON object$/],
    ['another text', ['{"a":1}'], /^this is not the first line of an export/],
    ['a newer text', [header.replace('1', '2')], /^the text has version 2; this program reads version 1$/],
    ['of no kind', [header, '{"kind":"quue"}'], /^kind must be queue, message or end$/],
    ['a queue after a message', [...lines.slice(0, 3), queueLine], /^queues come before messages$/],
    [
      'a queue with an unknown key',
      [header, queueLine.replace('createdAt', 'created')],
      /^there is no created;/,
    ],
    ['an unknown option', [header, queueLine.replace('messageTtl', 'ttl')], /^there is no ttl;/],
    [
      'an impossible option',
      [header, queueLine.replace('PriorityBased', 'Priority')],
      /^mode must be one of/,
    ],
    ['a message without its queue', [header, messageLine], /^there is no queue orders in the lines before$/],
    [
      'no id',
      [header, queueLine, messageLine.replace('"m1"', '""')],
      /^id must be a text that is not empty$/,
    ],
    ['no such priority', [header, queueLine, messageLine.replace('High', 'high')], /^priority must be Low, /],
    [
      'no time',
      [header, queueLine, messageLine.replace('1970-01-01T', '1970-02-31 ')],
      /^acceptedAt must be a time/,
    ],
    [
      'a day that there is not',
      [header, queueLine, messageLine.replace('1970-01-01T', '2026-02-30T')],
      /^acceptedAt must be a time/,
    ],
    [
      'an hour that there is not',
      [header, queueLine, messageLine.replace('T00:00', 'T24:00')],
      /^acceptedAt must be a time/,
    ],
    [
      'no count',
      [header, queueLine, messageLine.replace('Attempts":1', 'Attempts":-1')],
      /^failedAttempts must/,
    ],
    [
      'two payloads',
      [header, queueLine, messageLine.replace('"payload"', '"payloadText":"1","payload"')],
      /^only one of payload and payloadText can be there$/,
    ],
    [
      'no base64',
      [header, queueLine, messageLine.replace('"payload":{"n":1}', '"payloadBase64":"?"')],
      /^payloadBase64 must be bytes in base64$/,
    ],
    [
      'a content of another message',
      [header, queueLine, messageLine.replace('"payload":{"n":1}', '"contentBase64":"AAAA"')],
      /^the content is no message with this id$/,
    ],
    [
      'an empty header',
      [header, queueLine, messageLine.replace('"payload"', '"headers":{"a":""},"payload"')],
      /^headers must be texts that are not empty$/,
    ],
    [
      'an id longer than a frame can say',
      [header, queueLine, messageLine.replace('m1', 'm'.repeat(70_000))],
      /^A text of 70000 bytes does not fit/,
    ],
    ['a wrong count at the end', [header, queueLine, endLine], /^1 messages should stand above, not 0$/],
    ['something after the end', [...lines, queueLine], /^nothing may follow the line of kind end$/],
  ])('because it is %s is refused with the reason', (_, given, problem) => {
    expect(problemOf(...given)).toMatch(problem);
  });

  it('because it is not there is missed at the end', () => {
    expect(new StoreTextReader().problemAtEnd()).toBe('there is no text');
    const reader = new StoreTextReader();
    for (const line of lines.slice(0, 3)) expect(reader.read(Buffer.from(line)).kind).not.toBe('problem');
    expect(reader.problemAtEnd()).toBe('the last line is missing: the text was cut off');
  });

  it.each([
    ['the last line', [header, queueLine, messageLine, endLine.replace('"messages":1', '"messages":2')]],
    ['the last line', [header, queueLine, messageLine, endLine.replace('"messages"', '"letters"')]],
    ['a message', [header, queueLine, '{', endLine]],
    ['a message', [header, queueLine, messageLine.replace('"m1"', '""'), endLine]],
    ['a queue', [header, queueLine.replace('"options"', '"option"'), endLine.replace('1}', '0}')]],
  ])('is all that is wrong: %s, and the text was not cut off', (_, given) => {
    const reader = new StoreTextReader();
    expect(
      given.map((line) => reader.read(Buffer.from(line)).kind).filter((kind) => kind === 'problem'),
    ).toEqual(['problem']);
    expect(reader.problemAtEnd()).toBeUndefined();
  });
});
