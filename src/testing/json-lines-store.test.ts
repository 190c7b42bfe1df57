// The example store passes the contract, and a batch that was being written at a crash was never there.

import { appendFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { StoredMessage } from '../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';
import { newFilePlace, newFolder } from '../storage/contract/file-place.ts';
import { openJsonLinesStore } from './json-lines-store.ts';
import { describeStorageContract } from './storage-contract.ts';
import { subscribe } from './tested-clients.ts';
import { TestedService } from './tested-service.ts';
import { bodyBytes } from './wire-bytes.ts';

describeStorageContract('the example store', {
  newPlace: () => newFilePlace(openJsonLinesStore),
  isDurable: true,
});

it('forgets a batch that a crash has cut off', async () => {
  const folder = await newFolder();
  const path = join(folder, 'store');
  await appendFile(path, '[]\n[{"kind":"queueCr');
  const store = await openJsonLinesStore(path);
  expect([...(store.recover() as Iterable<unknown>)]).toEqual([]);
  await store.commit([]);
  await store.close();
  expect(await readFile(path, 'utf8')).toBe('[]\n[]\n');
  await rm(folder, { recursive: true });
});

it('gives back plain Uint8Arrays, and a broker delivers from them, a second attempt included [DURABLE-003]', async () => {
  const folder = await newFolder();
  const store = await openJsonLinesStore(join(folder, 'store'));
  await store.commit([
    { kind: 'queueCreated', generation: 1, name: 'q', options: defaultQueueOptions, createdWallAt: 1_000 },
    { kind: 'messageAdded', ...message(1) },
    { kind: 'messageAdded', ...message(2) },
    { kind: 'attemptFailed', generation: 1, sequence: 2, failedAttempts: 1 },
  ]);
  await store.close();
  const reopened = await openJsonLinesStore(join(folder, 'store'));
  const tested = new TestedService({ openStore: async () => reopened });
  await tested.service.start();
  const lines = await tested.exchange(await tested.connect(), subscribe('q'));
  expect(lines).toEqual(['SubscribeAck subscribe-q q', 'Deliver m1 q', 'Deliver m2 q']);
  await reopened.close();
  await rm(folder, { recursive: true });
});

function message(sequence: number): StoredMessage {
  const id = `m${sequence}`;
  const content = bodyBytes({ command: 26, id, queue: 'q', payload: Buffer.from('{"n":1}') });
  return { generation: 1, sequence, id, priority: 1, content, acceptedWallAt: 1_000 };
}
