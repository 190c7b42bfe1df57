// What the field rules let through; what they refuse is in fixtures/malformed/bodies.json and tested with the session.

import { describe, expect, it } from 'vitest';
import { isQueueName } from '../model/queue-name.ts';
import { Command } from './command.ts';
import { checkFieldRules, noCheckedQueueName } from './field-rules.ts';
import { defaultLimits } from './limits.ts';
import { type Message, noHeaders, noPayload } from './message.ts';

const sound: Message = {
  version: 1,
  command: Command.Publish,
  id: 'm-1',
  queue: 'orders',
  payload: noPayload,
  headers: noHeaders,
  errorCode: '',
  errorMessage: '',
  endAt: 0,
};

function check(changes: Partial<Message>) {
  return checkFieldRules({ ...sound, ...changes }, defaultLimits);
}

describe('checkFieldRules', () => {
  it.each([
    ['an id of 1 byte [BODY-015]', { id: 'i' }],
    ['an id of 256 ASCII bytes [BODY-015]', { id: 'i'.repeat(256) }],
    ['an id of 256 bytes in 128 characters [BODY-015]', { id: 'é'.repeat(128) }],
    ['an id of spaces and controls [BODY-015]', { id: ' \n\0' }],
    ['no queue [BODY-006]', { queue: '' }],
    ['50 headers [BODY-025]', { headers: new Map(Array.from({ length: 50 }, (_, i) => [`k${i}`, 'v'])) }],
    ['a header value of 4096 characters [BODY-027]', { headers: new Map([['k', '€'.repeat(4096)]]) }],
    ['a header key of any length', { headers: new Map([['k'.repeat(60_000), 'v']]) }],
  ])('takes %s', (_name, changes) => {
    expect(check(changes)).toBeUndefined();
  });

  it('names the id in the fault, and none when it is empty [CONN-008]', () => {
    expect(check({ queue: 'a b' })).toMatchObject({ code: 'INVALID_MESSAGE', closes: false, id: 'm-1' });
    expect(check({ id: '' })).not.toHaveProperty('id');
  });

  it('judges a queue name alike whatever the connection named before', () => {
    const names = ['orders', 'größe', '', 'x'.repeat(256), 'order s', 'x'.repeat(257)];
    const isSound = (queue: string) => queue === '' || isQueueName(queue);
    for (const before of names) {
      for (const queue of names) {
        const checked = noCheckedQueueName();
        checkFieldRules({ ...sound, queue: before }, defaultLimits, checked);
        const fault = checkFieldRules({ ...sound, queue }, defaultLimits, checked);
        expect(fault === undefined, `${queue} after ${before}`).toBe(isSound(queue));
      }
    }
  });

  it('follows the limits it is given', () => {
    const limits = { ...defaultLimits, maxHeaderCount: 1, maxHeaderValueLength: 2, maxIdBytes: 3 };
    const one = new Map([['k', 'vv']]);
    expect(checkFieldRules({ ...sound, headers: one }, limits)).toBeUndefined();
    expect(checkFieldRules({ ...sound, id: 'm-12' }, limits)).toMatchObject({
      text: expect.stringContaining('id'),
    });
    expect(checkFieldRules({ ...sound, headers: new Map([['k', 'vvv']]) }, limits)).toMatchObject({
      closes: false,
    });
    expect(checkFieldRules({ ...sound, headers: new Map([...one, ['l', 'v']]) }, limits)).toMatchObject({
      closes: false,
    });
  });
});

it('an invalid queue name is refused each time that a connection uses it [BODY-024]', () => {
  const checked = noCheckedQueueName();
  const queueNamed = (queue: string) => checkFieldRules({ ...sound, queue }, defaultLimits, checked);
  expect(queueNamed('a b')).toMatchObject({ code: 'INVALID_MESSAGE' });
  expect(queueNamed('a b')).toMatchObject({ code: 'INVALID_MESSAGE' });
  expect(queueNamed('ab')).toBeUndefined();
  expect(queueNamed('a b')).toMatchObject({ code: 'INVALID_MESSAGE' });
});

describe('isQueueName', () => {
  it.each([
    'a',
    'A.b-c_9',
    '订单',
    'заказы',
    'Ἀθήνα',
    '٣',
    '𐐀',
    'é',
    'ª',
    'q'.repeat(256),
    '𐐀'.repeat(128),
    '...',
    '-',
  ])('takes %s [BODY-022]', (name) => {
    expect(isQueueName(name)).toBe(true);
  });

  it.each([
    '',
    ' ',
    'a b',
    'a/b',
    'a\n',
    '\na',
    '½',
    'Ⅳ',
    'e\u0301',
    '📦',
    'q'.repeat(257),
    `${'𐐀'.repeat(128)}a`,
    '\ud801',
  ])('refuses %s [BODY-023, BODY-024]', (name) => {
    expect(isQueueName(name)).toBe(false);
  });
});
