// Queue options out of what a client wrote, and queue info into what it reads.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { OverflowStrategy } from '../model/overflow-strategy.ts';
import type { QueueInfo } from '../model/queue-info.ts';
import { defaultQueueOptions, type QueueOptions } from '../model/queue-options.ts';
import {
  createQueuePayload,
  queueInfoPayload,
  readQueueInfo,
  readQueueNames,
  readQueueOptions,
} from './queue-options-json.ts';

const read = (value: unknown) => readQueueOptions(Buffer.from(JSON.stringify(value)));
const options = (changes: object) => ({ options: { ...defaultQueueOptions, ...changes } });

describe('queue options', () => {
  it('are the defaults where a property is missing or null [QUEUE-002, QUEUE-003, TTL-012, QUEUE-005, QUEUE-006, QUEUE-007]', () => {
    const nulls = {
      mode: null,
      maxQueueSize: null,
      messageTtl: null,
      enableDeadLetterQueue: null,
      deadLetterQueueName: null,
      overflowStrategy: null,
      maxRetryAttempts: null,
    };
    expect(read({})).toEqual(options({}));
    expect(read(nulls)).toEqual(options({}));
    expect(defaultQueueOptions).toEqual({
      mode: DeliveryMode.RoundRobin,
      maxQueueSize: 10_000,
      enableDeadLetterQueue: false,
      overflowStrategy: OverflowStrategy.DropOldest,
      maxRetryAttempts: 3,
    });
  });

  it('are what is written [QUEUE-001]', () => {
    const written = {
      mode: 1,
      maxQueueSize: 500,
      messageTtl: '00:30:00',
      enableDeadLetterQueue: true,
      deadLetterQueueName: 'orders.failed',
      overflowStrategy: 3,
      maxRetryAttempts: 5,
    };
    const { messageTtl: _, ...rest } = written;
    expect(read(written)).toEqual({ options: { ...rest, messageTtlMs: 1_800_000 } });
  });

  it('ignore what is not one of them [QUEUE-043]', () => {
    expect(read({ colour: 'red', Mode: 3, ['__proto__']: { mode: 2 }, constructor: 1 })).toEqual(options({}));
  });

  it.each([
    ...Object.entries(DeliveryMode).flatMap(([name, value]) =>
      casesOf(name).map((text) => ['mode', text, value] as const),
    ),
    ...Object.entries(OverflowStrategy).flatMap(([name, value]) =>
      casesOf(name).map((text) => ['overflowStrategy', text, value] as const),
    ),
  ])('take for %s the name %s in any case [BODY-037, BODY-038, BODY-039]', (property, text, value) => {
    expect(read({ [property]: text })).toEqual(options({ [property]: value }));
    expect(read({ [property]: value })).toEqual(options({ [property]: value }));
  });

  it.each([
    ['mode', ['Random', '', 'Round Robin', 4, -1, 0.5, true, [], {}]],
    ['overflowStrategy', ['Explode', 4, 1.5, false]],
    ['maxQueueSize', ['100', true, [], {}]],
    ['maxRetryAttempts', ['3', false]],
    ['messageTtl', ['soon', 30, true, '-00:00:01', ['00:30:00']]],
    ['enableDeadLetterQueue', ['true', 1, 0, 'yes']],
    ['deadLetterQueueName', [1, true, {}]],
  ])('refuse a wrong %s by its name [QUEUE-036, QUEUE-041]', (property, values) => {
    for (const value of values) {
      expect(read({ [property]: value })).toEqual({
        invalid: expect.stringContaining(`${property} must be `),
      });
    }
  });

  it.each([
    ['no JSON', Buffer.from('{')],
    ['nothing but a byte order mark', Buffer.from('\ufeff')],
    ['a byte order mark before the object', Buffer.from('\ufeff{}')],
    ['an array', Buffer.from('[]')],
    ['null', Buffer.from('null')],
    ['a number', Buffer.from('1')],
    ['a text', Buffer.from('"mode"')],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['very deep nesting', Buffer.from('['.repeat(1_000_000))],
  ])('refuse %s [QUEUE-041]', (_name, payload) => {
    expect(readQueueOptions(payload)).toEqual({ invalid: expect.stringContaining('JSON object') });
  });
});

describe('queue info', () => {
  const info: QueueInfo = {
    name: 'orders',
    messageCount: 7,
    subscriberCount: 2,
    createdWallAt: Date.UTC(2026, 1, 18, 10, 30),
    options: defaultQueueOptions,
  };

  it('is written in camelCase, enumerations as numbers, without what is absent [BODY-034, BODY-035, BODY-036, QUEUE-021, QUEUE-022, QUEUE-023]', () => {
    expect(JSON.parse(queueInfoPayload(info).toString())).toEqual({
      name: 'orders',
      messageCount: 7,
      subscriberCount: 2,
      deliveryMode: 0,
      maxSize: 10_000,
      createdAt: '2026-02-18T10:30:00Z',
      enableDeadLetterQueue: false,
      overflowStrategy: 0,
      maxRetryAttempts: 3,
    });
  });

  it.each(Object.values(DeliveryMode))(
    'has all its fields in each mode and with each option, mode %d [QUEUE-021, BODY-036, BODY-041]',
    (mode) => {
      for (const changes of [{}, { messageTtlMs: 1500 }, { enableDeadLetterQueue: true }]) {
        const shown = { ...info, options: { ...defaultQueueOptions, mode, ...changes } };
        expect(JSON.parse(queueInfoPayload(shown).toString())).toMatchObject({
          ...{ name: 'orders', messageCount: 7, subscriberCount: 2, deliveryMode: mode, maxSize: 10_000 },
          ...{ createdAt: '2026-02-18T10:30:00Z', overflowStrategy: 0, maxRetryAttempts: 3 },
        });
      }
    },
  );

  it('tells the time to live and the dead letter queue where they were given [QUEUE-022, QUEUE-023]', () => {
    const given = {
      ...defaultQueueOptions,
      messageTtlMs: 1500,
      enableDeadLetterQueue: true,
      deadLetterQueueName: 'dead',
    };
    expect(JSON.parse(queueInfoPayload({ ...info, options: given }).toString())).toMatchObject({
      messageTtl: '00:00:01.5000000',
      enableDeadLetterQueue: true,
      deadLetterQueueName: 'dead',
    });
  });

  it.each(['01:02:03.4567891', '1.00:00:00.0000001'])(
    'has each digit of a time to live: %s [QUEUE-050]',
    (messageTtl) => {
      const { options: given } = read({ messageTtl }) as { readonly options: QueueOptions };
      expect(JSON.parse(queueInfoPayload({ ...info, options: given }).toString())).toMatchObject({
        messageTtl,
      });
    },
  );
});

function casesOf(name: string): readonly string[] {
  return [name, name.toLowerCase(), name.toUpperCase()];
}

describe('what a client writes and reads', () => {
  const info: QueueInfo = {
    name: 'orders',
    messageCount: 1,
    subscriberCount: 2,
    createdWallAt: Date.UTC(2026, 1, 18, 10, 30, 0, 250),
    options: { ...defaultQueueOptions, mode: DeliveryMode.PriorityBased, messageTtlMs: 90_061_500 },
  };

  it('is queue info as the broker wrote it', () => {
    expect(readQueueInfo(queueInfoPayload(info))).toEqual(info);
  });

  it('is options of which the absent ones are left out', () => {
    expect(createQueuePayload({}).toString()).toBe('{}');
    const some = { overflowStrategy: OverflowStrategy.DropNewest, messageTtlMs: 1_000 };
    expect(createQueuePayload(some).toString()).toBe('{"messageTtl":"00:00:01","overflowStrategy":1}');
    expect(readQueueOptions(createQueuePayload(info.options))).toEqual({ options: info.options });
  });

  it.each([
    ['name', undefined],
    ['messageCount', '1'],
    ['subscriberCount', 1.5],
    ['createdAt', 'yesterday'],
    ['deliveryMode', 4],
    ['deliveryMode', undefined],
    ['maxSize', null],
    ['messageTtl', '1h'],
    ['overflowStrategy', undefined],
    ['maxRetryAttempts', undefined],
  ])('is no queue info when %s is %j', (property, value) => {
    const written = JSON.parse(queueInfoPayload(info).toString());
    expect(readQueueInfo(Buffer.from(JSON.stringify({ ...written, [property]: value })))).toBeUndefined();
  });

  it.each(['', '{', '[]', 'null'])('is no queue info when the payload is %j', (text) => {
    expect(readQueueInfo(Buffer.from(text))).toBeUndefined();
  });

  it('is names of queues in an array, and nothing else', () => {
    expect(readQueueNames(Buffer.from('["a","b"]'))).toEqual(['a', 'b']);
    for (const text of ['', '{}', '[1]']) expect(readQueueNames(Buffer.from(text))).toBeUndefined();
  });
});
