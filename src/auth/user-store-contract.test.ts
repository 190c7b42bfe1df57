// Every user store keeps the promises of the port, and for each promise there is a broken store that the suite finds.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { QueueOperation } from '../model/access.ts';
import { newFolder } from '../storage/contract/file-place.ts';
import { openUserStore } from '../storage/sqlite/user-store.ts';
import { brokenUserStores, keptUserStore } from '../testing/broken-user-stores.ts';
import { runsOf } from '../testing/property-runs.ts';
import { type UserStoreUnderTest, userStoreCases } from '../testing/user-store-contract.ts';
import { MemoryUserStore } from './memory-user-store.ts';
import type { UserStore } from './user-store.ts';

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

/** One change of a store; names and patterns are few, so that changes meet. */
const change: fc.Arbitrary<(store: UserStore) => void> = fc
  .record({
    kind: fc.constantFrom('add', 'add', 'delete', 'setPasswordHash', 'grant', 'grant', 'revoke'),
    username: fc.constantFrom('a', 'A', 'b'),
    queuePattern: fc.constantFrom('*', 'q.*', 'Q.*'),
    operations: fc.uniqueArray(fc.constantFrom(...Object.values(QueueOperation))),
    number: fc.nat(),
  })
  .map(({ kind, username, queuePattern, operations, number }) => (store: UserStore) => {
    const isThere = store.find(username) !== undefined;
    const times = { createdAt: number, updatedAt: number };
    if (kind === 'add' && !isThere) {
      store.add({ username, passwordHash: `${number}`, isSuperuser: number % 2 === 0, ...times });
    }
    if (kind === 'delete') store.delete(username);
    if (kind === 'setPasswordHash') store.setPasswordHash(username, `${number}`, number);
    if (kind === 'grant' && isThere) store.grant(username, { queuePattern, operations }, number);
    if (kind === 'revoke') store.revoke(username, queuePattern);
  });

describe('a store in a file', () => {
  const contentsOf = (store: UserStore) => ({
    users: store.list(),
    found: ['a', 'A', 'b'].map((username) => store.find(username)),
    rights: ['a', 'A', 'b'].map((username) => store.accessList(username)),
  });

  it('holds after every change what one in memory holds, also when it is opened again [AUTH-059]', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(change, { maxLength: 20 }), { maxLength: 3 }), async (lives) => {
        const [place, memory] = [await inFile.newPlace(), new MemoryUserStore()];
        for (const changes of lives) {
          const store = await place.open();
          for (const apply of changes) {
            apply(store);
            apply(memory);
            expect(contentsOf(store)).toEqual(contentsOf(memory));
          }
          store.close();
        }
        const store = await place.open();
        expect(contentsOf(store)).toEqual(contentsOf(memory));
        store.close();
        await place.remove();
      }),
      { numRuns: runsOf(25) },
    );
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
