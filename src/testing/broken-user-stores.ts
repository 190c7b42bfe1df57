// User stores with one fault each, and the case of the contract suite that must find it. A table.

import { MemoryUserStore } from '../auth/memory-user-store.ts';
import type { StoredUser, UserStore } from '../auth/user-store.ts';
import type { AccessEntry } from '../model/access.ts';
import type { UserStoreUnderTest } from './user-store-contract.ts';

export type BrokenUserStore = {
  /** The fault, as the predicate of a sentence: "the store ...". */
  readonly fault: string;
  /** The name of the case that must fail, or its beginning. */
  readonly foundBy: string;
  readonly store: UserStoreUnderTest;
};

type Change = (store: MemoryUserStore, wasOpenBefore: boolean) => Partial<UserStore>;

/** A store in memory that a place keeps while it is closed. */
export function keptUserStore(change: Change = () => ({})): UserStoreUnderTest {
  return {
    isDurable: true,
    newPlace: async () => {
      const kept = new MemoryUserStore();
      let openCount = 0;
      const open = async () => {
        openCount += 1;
        return changed(kept, change(kept, openCount > 1));
      };
      return { open, remove: async () => kept.close() };
    },
  };
}

function changed(store: MemoryUserStore, change: Partial<UserStore>): UserStore {
  return {
    find: (username) => store.find(username),
    list: () => store.list(),
    accessList: (username) => store.accessList(username),
    add: (user) => store.add(user),
    delete: (username) => store.delete(username),
    setPasswordHash: (...parameters) => store.setPasswordHash(...parameters),
    grant: (username, entry) => store.grant(username, entry),
    revoke: (username, queuePattern) => store.revoke(username, queuePattern),
    close: () => undefined,
    ...change,
  };
}

function broken(fault: string, foundBy: string, change: Change): BrokenUserStore {
  return { fault, foundBy, store: keptUserStore(change) };
}

const root: StoredUser = {
  username: 'root',
  passwordHash: 'none',
  isSuperuser: true,
  createdAt: 1,
  updatedAt: 1,
};

export const brokenUserStores: readonly BrokenUserStore[] = [
  broken('has a user at the beginning', 'begins without', (store) => ({
    list: () => [root, ...store.list()],
  })),
  broken('makes no superusers', 'finds a user with everything', (store) => ({
    add: (user) => store.add({ ...user, isSuperuser: false }),
  })),
  broken('lists users by name', 'lists users in the order of their creation', (store) => ({
    list: () => store.list().toSorted((a, b) => (a.username < b.username ? -1 : 1)),
  })),
  broken('moves a changed user to the end', 'lists them in this order also after a change', (store) => ({
    setPasswordHash: (username, passwordHash, updatedAt) => {
      const user = store.find(username);
      store.delete(username);
      if (user !== undefined) store.add({ ...user, passwordHash, updatedAt });
    },
  })),
  broken('forgets when a password changed', 'changes the hash of one user', (store) => ({
    setPasswordHash: (username, hash) =>
      store.setPasswordHash(username, hash, store.find(username)?.updatedAt ?? 0),
  })),
  broken('adds a user whose password changes', 'changes the hash of no unknown user', (store) => ({
    setPasswordHash: (username, passwordHash, updatedAt) => {
      if (store.find(username) === undefined) store.add({ ...root, username });
      store.setPasswordHash(username, passwordHash, updatedAt);
    },
  })),
  broken('gives the last entry first', 'grants entries in the order', (store) => ({
    accessList: (username) => store.accessList(username).toReversed(),
  })),
  broken('adds operations to an entry', 'replaces the operations', (store) => ({
    grant: (username, { queuePattern, operations }) => {
      const before = store.accessList(username).find((entry) => entry.queuePattern === queuePattern);
      const all = [...new Set([...(before?.operations ?? []), ...operations])];
      store.grant(username, { queuePattern, operations: all });
    },
  })),
  broken('sorts operations', 'keeps the order of operations', (store) => ({
    grant: (username, { queuePattern, operations }) =>
      store.grant(username, { queuePattern, operations: operations.toSorted() }),
  })),
  broken('revokes everything', 'revokes the entry of the pattern', (store) => ({
    revoke: (username) => {
      for (const { queuePattern } of store.accessList(username)) store.revoke(username, queuePattern);
    },
  })),
  broken('refuses to revoke nothing', 'revokes what was not granted', (store) => ({
    revoke: (username, queuePattern) => {
      if (store.accessList(username).every((entry) => entry.queuePattern !== queuePattern)) throw new Error();
      store.revoke(username, queuePattern);
    },
  })),
  broken('keeps the entries of a deleted user', 'deletes a user with its entries', (store) => ({
    delete: (username) => {
      const entries = store.accessList(username);
      store.delete(username);
      for (const entry of entries) store.grant(username, entry);
    },
  })),
  broken('refuses to delete nobody', 'deletes an unknown user', (store) => ({
    delete: (username) => {
      if (store.find(username) === undefined) throw new Error('there is no such user');
      store.delete(username);
    },
  })),
  broken('compares names in lower case', 'compares names byte by byte', (store) => ({
    find: (username) => store.list().find((user) => user.username.toLowerCase() === username.toLowerCase()),
  })),
  broken('compares patterns in lower case', 'compares patterns byte by byte', (store) => ({
    grant: (username, entry) =>
      store.grant(username, { ...entry, queuePattern: entry.queuePattern.toLowerCase() }),
  })),
  broken('gives a list that grows', 'gives lists that later changes', (store) => {
    const lists = new Map<string, AccessEntry[]>();
    return {
      accessList: (username) => {
        const list = lists.get(username) ?? [];
        lists.set(username, list);
        list.splice(0, list.length, ...store.accessList(username));
        return list;
      },
      grant: (username, entry) => {
        store.grant(username, entry);
        lists.get(username)?.push(entry);
      },
    };
  }),
  broken('keeps operations that are not its own', 'keeps what it is given', () => {
    const entries = new Map<string, AccessEntry[]>();
    return {
      grant: (username, entry) => void entries.set(username, [...(entries.get(username) ?? []), entry]),
      accessList: (username) => entries.get(username) ?? [],
    };
  }),
  broken('has a user when it is opened again', 'is empty again', (store, wasOpenBefore) => ({
    list: () => (wasOpenBefore ? [root, ...store.list()] : store.list()),
  })),
  {
    fault: 'forgets its users when it is closed',
    foundBy: 'keeps users, their order',
    store: {
      isDurable: true,
      newPlace: async () => ({ open: async () => new MemoryUserStore(), remove: async () => undefined }),
    },
  },
  broken('forgets a new password when it is closed', 'keeps changes of what was kept', (store) => {
    const hashes = new Map<string, StoredUser>();
    return {
      setPasswordHash: (username, passwordHash, updatedAt) => {
        const user = store.find(username);
        if (user !== undefined) hashes.set(username, { ...user, passwordHash, updatedAt });
      },
      find: (username) => hashes.get(username) ?? store.find(username),
    };
  }),
];
