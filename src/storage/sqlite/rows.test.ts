// The format of the rows is fixed: what is written is compared with literal text, and what is never written is refused.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoredMessage, StoredQueue } from '../../broker/interface/store-record.ts';
import { contentOf } from '../../testing/test-content.ts';
import { newFolder } from '../contract/file-place.ts';
import { StoreError } from '../storage-provider.ts';
import { loadDriver } from './driver.ts';
import { openSqliteStore } from './sqlite-store.ts';

const orders: StoredQueue = {
  generation: 1,
  name: 'orders',
  options: {
    maxRetryAttempts: 5,
    deadLetterQueueName: 'lost',
    mode: 3,
    maxQueueSize: 7,
    messageTtlMs: 1.5,
    enableDeadLetterQueue: true,
    overflowStrategy: 1,
  },
  createdWallAt: 1_000,
};
const letter: StoredMessage = {
  generation: 1,
  sequence: 4,
  id: 'm1',
  priority: 2,
  content: contentOf(Buffer.from([1, 2])),
  acceptedWallAt: 1_500,
  deadLetter: { reason: 'MessageExpired', source: 'orders', attempts: 3, deadLetteredWallAt: 2_000 },
};
const { deadLetter: _, ...message } = { ...letter, sequence: 3 };

let folder: string;

beforeEach(async () => {
  folder = await newFolder();
  const store = await openSqliteStore({ path: join(folder, 'q.db'), synchronous: 'full' });
  // A property that the broker has and the format does not: it is not written.
  const options = { ...orders.options, another: 1 };
  await store.commit([
    { kind: 'queueCreated', ...orders, options },
    { kind: 'messageAdded', ...message },
    { kind: 'messageAdded', ...letter },
  ]);
  await store.close();
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function inDatabase<Result>(
  use: (database: InstanceType<Awaited<ReturnType<typeof loadDriver>>>) => Result,
) {
  const database = new (await loadDriver())(join(folder, 'q.db'));
  try {
    return use(database);
  } finally {
    database.close();
  }
}

it('a queue is written with the names and numbers of version 1 [DURABLE-025]', async () => {
  const [row] = await inDatabase((database) => database.prepare('SELECT * FROM queues').raw().all());
  expect(row).toEqual([
    1,
    'orders',
    '{"mode":3,"maxQueueSize":7,"messageTtlMs":1.5,"enableDeadLetterQueue":true,"deadLetterQueueName":"lost","overflowStrategy":1,"maxRetryAttempts":5}',
    1_000,
  ]);
});

it('a message and a dead letter are written with the names and numbers of version 1 [DURABLE-025]', async () => {
  const rows = await inDatabase((database) => [
    database.prepare('SELECT * FROM messages').get(),
    database.prepare('SELECT * FROM dead_letters').get(),
  ]);
  const columns = { generation: 1, id: 'm1', priority: 2, accepted_at: 1_500, failed_attempts: 0 };
  const content = Buffer.from([1, 2]);
  const facts = { reason: 'MessageExpired', source: 'orders', attempts: 3, dead_lettered_at: 2_000 };
  expect(rows).toEqual([
    { sequence: 3, ...columns, content },
    { sequence: 4, ...columns, ...facts, content },
  ]);
});

it('a message that is dead-lettered moves to table dead_letters in one record [DURABLE-014]', async () => {
  const store = await openSqliteStore({ path: join(folder, 'q.db'), synchronous: 'full' });
  for await (const _ of store.recover());
  await store.commit([
    { kind: 'deadLettered', from: { generation: 1, sequence: 3 }, to: { ...letter, sequence: 5 } },
  ]);
  await store.close();
  const sequences = await inDatabase((database) => [
    database.prepare('SELECT sequence FROM messages').raw().all(),
    database.prepare('SELECT sequence FROM dead_letters').raw().all(),
  ]);
  expect(sequences).toEqual([[], [[4], [5]]]);
});

describe('a recovery refuses, by row and field,', () => {
  it.each([
    ["queues SET options = 'x'", 'queue "orders" (generation 1): options is "x"'],
    ["queues SET options = '[]'", 'queue "orders" (generation 1): options is "[]"'],
    [
      "queues SET options = json_remove(options, '$.maxQueueSize')",
      'queue "orders" (generation 1): options.maxQueueSize is nothing',
    ],
    ["queues SET options = json_set(options, '$.mode', 8)", 'options.mode is 8'],
    ["queues SET options = json_set(options, '$.messageTtlMs', 'x')", 'options.messageTtlMs is "x"'],
    ["queues SET options = json_set(options, '$.enableDeadLetterQueue', 1)", 'enableDeadLetterQueue is 1'],
    ["queues SET options = json_set(options, '$.deadLetterQueueName', 1)", 'deadLetterQueueName is 1'],
    ["queues SET created_at = 'x'", 'queue "orders" (generation 1): created_at is "x"'],
    ['messages SET priority = 4', 'message "m1" (sequence 3): priority is 4'],
    ['messages SET failed_attempts = -1', 'message "m1" (sequence 3): failed_attempts is -1'],
    ["messages SET accepted_at = 'x'", 'message "m1" (sequence 3): accepted_at is "x"'],
    ["messages SET content = 'x'", 'message "m1" (sequence 3): content is "x"'],
    ["dead_letters SET reason = 'x'", 'message "m1" (sequence 4): reason is "x"'],
    ["dead_letters SET attempts = 'x'", 'message "m1" (sequence 4): attempts is "x"'],
  ])('%s [DURABLE-016]', async (change, said) => {
    await inDatabase((database) => database.exec(`UPDATE ${change}`));
    const store = await openSqliteStore({ path: join(folder, 'q.db'), synchronous: 'full' });
    const collect = () => [...(store.recover() as Iterable<unknown>)];
    expect(collect).toThrow(StoreError);
    expect(collect).toThrow(said);
    await store.close();
  });
});
