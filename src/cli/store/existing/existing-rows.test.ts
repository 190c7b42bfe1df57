// Rows of an existing broker's database that cannot be taken: each with the reason that the operator reads. What is taken is tested with the
// whole import.

import { expect, it } from 'vitest';
import { existingDeadLetter, existingMessage, existingQueue } from '../../../testing/existing-database.ts';
import { RowProblem, readDeadLetterRow, readMessageRow, readQueueRow } from './existing-rows.ts';

type Case = readonly [string, Readonly<Record<string, unknown>>, string];

const headers = (value: unknown) => ({ headers_json: JSON.stringify(value) });
const manyHeaders = Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`h${n}`, 'x']));
const notTime = 'is not a time such as 2026-02-18T10:30:00.1234567Z';
const notJson = 'payload_json is not one JSON text: ';

const queues: readonly Case[] = [
  ['without a valid name', existingQueue('a b'), 'name is not a queue name: 1 to 256'],
  ['without a name', existingQueue('q', {}, { name: null }), 'name is not a text'],
  [
    'with options that are no JSON',
    existingQueue('q', {}, { options_json: '{' }),
    'options_json: it must be a JSON object of queue options',
  ],
  ['without options', existingQueue('q', {}, { options_json: null }), 'options_json is not a text'],
  [
    'with an unknown mode',
    existingQueue('q', { mode: 9 }),
    'options_json: mode must be one of 0 (RoundRobin)',
  ],
  [
    'with a size of zero',
    existingQueue('q', { maxQueueSize: 0 }),
    'options_json: maxQueueSize must be 1 to 2147483647',
  ],
  [
    'with options that do not go together',
    existingQueue('q', { overflowStrategy: 3 }),
    'options_json: overflowStrategy RedirectToDlq needs',
  ],
  [
    'with a negative time span',
    existingQueue('q', { messageTtl: '-00:00:01' }),
    'options_json: messageTtl must be a time span',
  ],
  [
    'that is its own dead letter queue',
    existingQueue('q', { enableDeadLetterQueue: true, deadLetterQueueName: 'q' }),
    'options_json: a queue cannot be its own',
  ],
  ['without its time', existingQueue('q', {}, { created_at: 'x' }), `created_at ${notTime}`],
];

const messages: readonly Case[] = [
  ['with an empty id', existingMessage(''), 'The id is empty.'],
  ['with a long id', existingMessage('ä'.repeat(129)), 'The id is longer than 256 bytes.'],
  ['with an id of bytes', existingMessage('m', { id: Buffer.from('m') }), 'id is not a text'],
  ['without a queue', existingMessage('m', { queue_name: null }), 'queue_name is not a text'],
  ['of an empty queue', existingMessage('m', { queue_name: '' }), 'queue_name is empty'],
  [
    'of a queue that cannot be',
    existingMessage('m', { queue_name: 'a b' }),
    'The queue name must have 1 to 256',
  ],
  [
    'with an unknown priority',
    existingMessage('m', { priority: 4 }),
    'priority must be 0 (Low), 1 (Normal), 2 (High), 3 (Critical)',
  ],
  ['without a priority', existingMessage('m', { priority: null }), 'priority must be 0 (Low)'],
  ['without a time', existingMessage('m', { timestamp: 5 }), `timestamp ${notTime}`],
  [
    'with fewer than no attempts',
    existingMessage('m', { delivery_attempts: -1 }),
    'delivery_attempts is not a whole number from 0 on',
  ],
  [
    'with half an attempt',
    existingMessage('m', { delivery_attempts: 0.5 }),
    'delivery_attempts is not a whole number from 0 on',
  ],
  ['with a payload that is no JSON', existingMessage('m', { payload_json: '{"a":}' }), notJson],
  ['with two payloads', existingMessage('m', { payload_json: '1 2' }), notJson],
  ['with an empty payload', existingMessage('m', { payload_json: '' }), notJson],
  [
    'with a payload that is nested too deep',
    existingMessage('m', { payload_json: '['.repeat(65) + ']'.repeat(65) }),
    notJson,
  ],
  ['with a number as its payload', existingMessage('m', { payload_json: 7 }), 'payload_json is not a text'],
  [
    'that no frame may carry',
    existingMessage('m', { payload_json: `"${'x'.repeat(1_048_576)}"` }),
    'the message has 1048597 bytes; at most 1048576',
  ],
  ['with headers that are no object', existingMessage('m', headers([])), 'headers_json is not a JSON object'],
  [
    'with headers that are no text',
    existingMessage('m', { headers_json: 1 }),
    'headers_json is not a JSON object',
  ],
  [
    'with a header that is no text',
    existingMessage('m', headers({ a: 1 })),
    'headers_json: "a" is not a text',
  ],
  [
    'with an empty header',
    existingMessage('m', headers({ a: '' })),
    'headers_json: "a" is empty, or is not valid Unicode',
  ],
  [
    'with a header without a name',
    existingMessage('m', headers({ '': 'a' })),
    'headers_json: "" is empty, or is not valid Unicode',
  ],
  [
    'with half a character',
    existingMessage('m', { headers_json: '{"a":"\\ud800"}' }),
    'headers_json: "a" is empty, or is not valid Unicode',
  ],
  [
    'with a long header',
    existingMessage('m', headers({ a: 'x'.repeat(4_097) })),
    'A header value is longer than 4096 characters.',
  ],
  ['with too many headers', existingMessage('m', headers(manyHeaders)), 'There are more than 50 headers.'],
  [
    'with a header that no frame can hold',
    existingMessage('m', headers({ a: 'x'.repeat(70_000) })),
    'A text of 70000 bytes does not fit into a frame.',
  ],
];

const deadLetters: readonly Case[] = [
  ['without its id', existingDeadLetter('d', {}, { message_id: null }), 'message_id is not a text'],
  [
    'without its message',
    existingDeadLetter('d', {}, { message_json: 'x' }),
    'message_json is not one JSON object',
  ],
  ['of another message', existingDeadLetter('d', { id: 'e' }), 'message_json has another id: "e"'],
  ['without a queue', existingDeadLetter('d', { queueName: undefined }), 'queue_name is not a text'],
  [
    'with a broken header',
    existingDeadLetter('d', { headers: { a: {} } }),
    'headers_json: "a" is not a text',
  ],
  [
    'with an unknown reason',
    existingDeadLetter('d', {}, { reason: 17 }),
    'reason must be 0 (MaxRetriesExceeded), 1 (MessageExpired)',
  ],
  ['without its time', existingDeadLetter('d', {}, { failed_at: null }), `failed_at ${notTime}`],
];

function problemOf(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof RowProblem) return error.message;
    throw error;
  }
  return 'taken';
}

it.each(queues)('a queue %s is refused', (_, row, problem) => {
  expect(problemOf(() => readQueueRow(row))).toContain(problem);
});

it.each(messages)('a message %s is refused', (_, row, problem) => {
  expect(problemOf(() => readMessageRow(row))).toContain(problem);
});

it.each(deadLetters)('a dead letter %s is refused', (_, row, problem) => {
  expect(problemOf(() => readDeadLetterRow(row))).toContain(problem);
});

it('a message of the largest size is taken', () => {
  const payload = `"${'x'.repeat(1_048_576 - 21 - 2)}"`;
  expect(problemOf(() => readMessageRow(existingMessage('m', { payload_json: payload })))).toContain('taken');
});

it('a dead letter is taken without what has a default', () => {
  const row = existingDeadLetter('d', { headers: null, priority: undefined, deliveryAttempts: undefined });
  expect(readDeadLetterRow(row)).toMatchObject({
    message: { priority: 1, attempts: 0 },
    facts: { attempts: 0 },
  });
});
