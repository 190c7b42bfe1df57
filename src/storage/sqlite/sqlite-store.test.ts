// The SQLite store does what every store must.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { describeStorageContract } from '../../testing/storage-contract.ts';
import { newFilePlace, newFolder } from '../contract/file-place.ts';
import { added, created, everyKind, message } from '../contract/sample-records.ts';
import { openDatabase } from './open-database.ts';
import { openSqliteStore, sqliteStoreOn } from './sqlite-store.ts';

describeStorageContract('the SQLite store', {
  newPlace: () => newFilePlace((path) => openSqliteStore({ path, synchronous: 'normal' })),
  isDurable: true,
});

describe('an open SQLite store', () => {
  it('prepares no more statements, each of which would be kept until the process ends', async () => {
    const folder = await newFolder();
    onTestFinished(() => rm(folder, { recursive: true }));
    const database = await openDatabase({ path: join(folder, 'store'), synchronous: 'normal' });
    const store = sqliteStoreOn(database);
    for await (const record of store.recover()) expect.fail(`an empty store has ${record.kind}`);
    const prepared = [vi.spyOn(database, 'prepare'), vi.spyOn(database, 'pragma')];
    await store.commit(everyKind());
    // Enough for several slices of a queue that ends.
    const messages = Array.from({ length: 2500 }, (_, index) => added(message(3, 10 + index)));
    await store.commit([created(3), ...messages]);
    await store.commit([{ kind: 'queueDeleted', generation: 3 }]);
    for (let number = 4; number < 8; number += 1) await store.commit([created(number)]);
    await store.commit([]);
    // As after a failed commit.
    for await (const { kind } of store.recover()) expect(['queue', 'message']).toContain(kind);
    expect(prepared.map((spy) => spy.mock.calls)).toEqual([[], []]);
    expect(database.prepare('SELECT count(*) FROM messages').pluck().get()).toBe(0);
    await store.close();
  });
});

describe('a SQLite store that is opened again', () => {
  it('gives back nothing of a long queue that was deleted just before the end [DURABLE-027]', async () => {
    const folder = await newFolder();
    onTestFinished(() => rm(folder, { recursive: true }));
    const path = join(folder, 'store');
    const store = await openSqliteStore({ path, synchronous: 'normal' });
    // Removed in several slices, of which the deletion does the first.
    const messages = Array.from({ length: 2500 }, (_, index) => added(message(3, 10 + index)));
    await store.commit([created(2), created(3), added(message(2, 9)), ...messages]);
    await store.commit([{ kind: 'queueDeleted', generation: 3 }]);
    await store.close();
    const again = await openSqliteStore({ path, synchronous: 'normal' });
    const kept = [];
    for await (const record of again.recover()) kept.push([record.kind, record.generation]);
    expect(kept).toEqual([
      ['queue', 2],
      ['message', 2],
    ]);
    await again.close();
  });
});
