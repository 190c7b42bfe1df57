// What the page says in words.

import { describe, expect, it } from 'vitest';
import { testedRow } from '../../../../testing/tested-queue-row.ts';
import {
  connectionSentence,
  healthSentence,
  modeWord,
  optionsSentence,
  refusalSentence,
  troublesOf,
} from './sentences.ts';

const healthy = { isHealthy: true, reasons: [] };
const plain = (text: string): string => text.replaceAll('\u202f', '_');

describe('a stream that the broker refuses', () => {
  it.each([
    [401, 'The password is wrong.', /^The password is wrong\. .*reload the page/],
    [403, 'Only a superuser may.', /reload the page/],
    [503, 'There are 20 streams.', /^There are 20 streams\. The page tries again/],
  ])('with %d says why, and what to do', (status, detail, sentence) => {
    expect(refusalSentence({ status, detail })).toMatch(sentence);
  });

  it('is not taken for a broker that does not answer', () => {
    expect(connectionSentence('lost', { status: 503, detail: '' })).toMatch(/^The broker answers/);
    expect(connectionSentence('lost', undefined)).toMatch(/^The broker does not answer\./);
    expect(connectionSentence('connecting', undefined)).toMatch(/^Connecting/);
  });
});

describe('the first line', () => {
  it('says how many messages wait where, and for how long', () => {
    const rows = [
      testedRow(1, 'a', { waitingCount: 1200, oldestAt: 9000 }),
      testedRow(2, 'b', { waitingCount: 4, oldestAt: 6000 }),
      testedRow(3, 'c'),
    ];
    expect(plain(healthSentence(healthy, rows, 10_000))).toBe(
      'Healthy. 1_204 messages wait in 2 of 3 queues; oldest 4_s.',
    );
  });

  it('knows one message, none, and no queues', () => {
    const one = testedRow(1, 'a', { waitingCount: 1 });
    expect(healthSentence(healthy, [one], 0)).toBe('Healthy. 1 message waits in 1 of 1 queue.');
    expect(healthSentence(healthy, [testedRow(1, 'a')], 0)).toBe('Healthy. No message waits in 1 queue.');
    expect(healthSentence(healthy, [], 0)).toBe('Healthy. There are no queues.');
  });

  it('says what is wrong first', () => {
    const health = {
      isHealthy: false,
      reasons: ['Memory is at 94 percent.', 'The broker does not serve: it stops.'],
    };
    expect(healthSentence(health, [], 0)).toBe(
      'Unhealthy: Memory is at 94 percent. The broker does not serve: it stops. There are no queues.',
    );
  });
});

describe('the trouble of a queue', () => {
  it('is none while messages wait for a subscriber that acknowledges', () => {
    expect(troublesOf(testedRow(1, 'a', { waitingCount: 5 }))).toEqual([]);
    expect(troublesOf(testedRow(1, 'a', { subscriberCount: 0 }))).toEqual([]);
  });

  it('is named, the worst first', () => {
    const row = testedRow(1, 'a', {
      waitingCount: 10_000,
      subscriberCount: 0,
      isNotAcknowledging: true,
    });
    expect(troublesOf(row)).toEqual(['full (DropOldest)', 'not acknowledging', 'no subscribers']);
  });

  it('is none for dead letters that nobody subscribes to', () => {
    const dead = { waitingCount: 5, subscriberCount: 0 };
    expect(troublesOf(testedRow(1, 'a', { ...dead, deadLetterCount: 5 }))).toEqual([]);
    expect(troublesOf(testedRow(1, 'a', { ...dead, deadLetterCount: 4 }))).toEqual(['no subscribers']);
  });
});

describe('the options of a queue', () => {
  const sentence = (facts: object) => plain(optionsSentence(testedRow(1, 'a', { facts }).facts));

  it.each([
    [
      { deadLetterQueueName: 'orders.dlq' },
      'Round robin; dropped to 10_000 messages, oldest first; retries 3 times, then orders.dlq.',
    ],
    [
      {
        deliveryMode: 'PriorityBased',
        overflowStrategy: 'BlockPublisher',
        maxQueueSize: 1,
        maxRetryAttempts: 1,
      },
      'Priority; at most 1 message, then publishers wait; retries once, then the message is dropped.',
    ],
    [
      { deliveryMode: 'FanOutWithoutAck', overflowStrategy: 'DropNewest', messageTtlMs: 3_600_000 },
      'Fan-out without ack; at most 10_000 messages, new ones are dropped; messages expire after 1_h; sent once, without acknowledgment.',
    ],
    [
      { deliveryMode: 'FanOutWithAck', overflowStrategy: 'RedirectToDlq', deadLetterQueueName: 'd' },
      'Fan-out with ack; at most 10_000 messages, new ones go to d; retries 3 times, then d.',
    ],
  ])('%o are a sentence', (facts, text) => {
    expect(sentence(facts)).toBe(text);
  });

  it('that are not known are shown as they are named', () => {
    expect(modeWord('Random')).toBe('Random');
    expect(sentence({ overflowStrategy: 'Explode' })).toContain('(Explode)');
  });
});
