// The store of the guide passes the contract, and a batch that was being written at a crash is not recovered.

import { appendFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StoredMessage } from '../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';
import { newFilePlace, newFolder } from '../storage/contract/file-place.ts';
import { openModuleStore } from '../storage/module/module-store.ts';
import { writeGuideExample } from './guide-example.ts';
import { describeStorageContract } from './storage-contract.ts';
import { contentOf } from './test-content.ts';
import { subscribe } from './tested-clients.ts';
import { TestedService } from './tested-service.ts';
import { bodyBytes } from './wire-bytes.ts';

let folder: string;

beforeAll(async () => {
  folder = await newFolder();
  await writeGuideExample(folder, 'my-store.mjs');
});

afterAll(() => rm(folder, { recursive: true, force: true }));

function openExample(storagePath: string) {
  return openModuleStore({ module: './my-store.mjs', directory: folder, storagePath });
}

describeStorageContract('the store of the guide', {
  newPlace: () => newFilePlace(openExample),
  isDurable: true,
});

it.each([
  ['within a record', Buffer.from('[{"kind":"queueCr')],
  ['within a character', Buffer.from('[{"kind":"ä').subarray(0, -1)],
])('forgets a batch that a crash has cut off %s', async (where, torn) => {
  const path = join(folder, where);
  await appendFile(path, Buffer.concat([Buffer.from('[]\n'), torn]));
  const store = await openExample(path);
  expect([...(store.recover() as Iterable<unknown>)]).toEqual([]);
  await store.commit([]);
  await store.close();
  expect(await readFile(path, 'utf8')).toBe('[]\n[]\n');
});

it('gives back plain Uint8Arrays, and a broker delivers from them, a second attempt included [DURABLE-003]', async () => {
  const path = join(folder, 'served');
  const store = await openExample(path);
  await store.commit([
    { kind: 'queueCreated', generation: 1, name: 'q', options: defaultQueueOptions, createdWallAt: 1_000 },
    { kind: 'messageAdded', ...message(1) },
    { kind: 'messageAdded', ...message(2) },
    { kind: 'attemptFailed', generation: 1, sequence: 2, failedAttempts: 1 },
  ]);
  await store.close();
  const reopened = await openExample(path);
  const tested = new TestedService({ openStore: async () => reopened });
  await tested.service.start();
  const lines = await tested.exchange(await tested.connect(), subscribe('q'));
  expect(lines).toEqual(['SubscribeAck subscribe-q q', 'Deliver m1 q', 'Deliver m2 q']);
  await reopened.close();
});

function message(sequence: number): StoredMessage {
  const id = `m${sequence}`;
  const content = bodyBytes({ command: 26, id, queue: 'q', payload: Buffer.from('{"n":1}') });
  return { generation: 1, sequence, id, priority: 1, content: contentOf(content), acceptedWallAt: 1_000 };
}
