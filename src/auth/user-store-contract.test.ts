// Every user store keeps the promises of the port, and for each promise there is a broken store that the suite finds.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { newFolder } from '../storage/contract/file-place.ts';
import { openUserStore } from '../storage/sqlite/user-store.ts';
import { brokenUserStores, keptUserStore } from '../testing/broken-user-stores.ts';
import { type UserStoreUnderTest, userStoreCases } from '../testing/user-store-contract.ts';
import { MemoryUserStore } from './memory-user-store.ts';

const inMemory: UserStoreUnderTest = {
  isDurable: false,
  newPlace: async () => ({ open: async () => new MemoryUserStore(), remove: async () => undefined }),
};

const inFile: UserStoreUnderTest = {
  isDurable: true,
  newPlace: async () => {
    const folder = await newFolder();
    return {
      open: () => openUserStore(join(folder, 'auth.db')),
      remove: () => rm(folder, { recursive: true }),
    };
  },
};

describe.each([
  ['in memory', inMemory],
  ['in a file', inFile],
  ['that the suite is tested with', keptUserStore()],
])('the store %s', (_, store) => {
  it.each(userStoreCases(store))('$name', async ({ run }) => {
    await expect(run(store)).resolves.toBeUndefined();
  });
});

describe('the contract suite', () => {
  it.each(brokenUserStores)('finds a store that $fault', async ({ foundBy, store }) => {
    const found = userStoreCases(store).filter(({ name }) => name.startsWith(foundBy));
    expect(found).toHaveLength(1);
    for (const { run } of found) await expect(run(store)).rejects.toThrow();
  });

  it('has no case that no broken store fails', () => {
    const proven = (name: string) => brokenUserStores.some(({ foundBy }) => name.startsWith(foundBy));
    const unproven = userStoreCases(keptUserStore()).filter(({ name }) => !proven(name));
    expect(unproven).toEqual([]);
  });
});
