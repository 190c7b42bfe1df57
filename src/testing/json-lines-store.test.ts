// The example store passes the contract, and a batch that was being written at a crash was never there.

import { appendFile, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFilePlace, newFolder } from './file-places.ts';
import { openJsonLinesStore } from './json-lines-store.ts';
import { describeStorageContract } from './storage-contract.ts';

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
