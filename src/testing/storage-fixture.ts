// Writes the fixture of the current schema version: fixtures/storage/version-N.db, and beside it the expected recovery as JSON. To be run
// once, when a version of the schema is released; an existing fixture is never overwritten.
//   node --import import tsx src/testing/storage-fixture.ts

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { StoredMessage, StoreRecord } from '../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';
import { KeptRecords } from '../storage/contract/kept-records.ts';
import { SCHEMA_VERSION } from '../storage/sqlite/schema.ts';
import { openSqliteStore } from '../storage/sqlite/sqlite-store.ts';
import { contentOf } from './test-content.ts';

const base = fileURLToPath(new URL(`../../fixtures/storage/version-${SCHEMA_VERSION}`, import.meta.url));
if (existsSync(`${base}.db`)) throw new Error(`${base}.db is there already.`);

const kept = new KeptRecords();
const store = await openSqliteStore({ path: `${base}.db`, synchronous: 'full' });
for (const records of batches()) {
  await store.commit(records);
  kept.take(records);
}
await store.close();
await writeFile(`${base}.json`, `${JSON.stringify(kept.recovered(), null, 2)}\n`);

function batches(): readonly (readonly StoreRecord[])[] {
  const options = {
    ...defaultQueueOptions,
    mode: 3,
    messageTtlMs: 90_000.5,
    enableDeadLetterQueue: true,
  } as const;
  const facts = {
    reason: 'HandlerException',
    source: 'orders',
    attempts: 3,
    deadLetteredWallAt: 2_000,
  } as const;
  return [
    [
      { kind: 'queueCreated', generation: 1, name: 'orders', options, createdWallAt: 1_000 },
      {
        kind: 'queueCreated',
        generation: 2,
        name: 'orders.dlq',
        options: defaultQueueOptions,
        createdWallAt: 1_000,
      },
      {
        kind: 'queueCreated',
        generation: 3,
        name: 'gone',
        options: defaultQueueOptions,
        createdWallAt: 1_000,
      },
    ],
    [1, 2, 3].map((sequence): StoreRecord => ({ kind: 'messageAdded', ...message(1, sequence) })),
    [{ kind: 'messageAdded', ...message(3, 4) }],
    [{ kind: 'attemptFailed', generation: 1, sequence: 2, failedAttempts: 2 }],
    [
      {
        kind: 'deadLettered',
        from: { generation: 1, sequence: 1 },
        to: { ...message(2, 5), deadLetter: facts },
      },
    ],
    [
      { kind: 'messageRemoved', generation: 1, sequence: 3 },
      { kind: 'queueDeleted', generation: 3 },
    ],
  ];
}

function message(generation: number, sequence: number): StoredMessage {
  const content = contentOf(Buffer.from([1, 21, sequence, 0, 255]));
  return { generation, sequence, id: `größe-${sequence}`, priority: 3, content, acceptedWallAt: 1_500 };
}
