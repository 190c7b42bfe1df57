// The contract suite of user stores: each promise of auth/user-store.ts as a case that throws if it is broken.

import assert from 'node:assert/strict';
import type { StoredUser, UserStore } from '../auth/user-store.ts';
import { type AccessEntry, QueueOperation } from '../model/access.ts';

/** Where one store keeps its users. */
export type UserStorePlace = {
  /** Opens the store there. A case closes it before it opens it again. */
  open(): Promise<UserStore>;
  /** Removes the place with everything in it. */
  remove(): Promise<void>;
};

export type UserStoreUnderTest = {
  /** Makes an empty place. */
  newPlace(): Promise<UserStorePlace>;
  /** False for a store that forgets its users when it is closed: the suite then leaves out what comes after. */
  readonly isDurable: boolean;
};

export type UserStoreCase = {
  readonly name: string;
  /** Rejects when the store does not keep the promise. */
  readonly run: (store: UserStoreUnderTest) => Promise<void>;
};

const { Publish, Subscribe, ListQueues } = QueueOperation;

const alice: StoredUser = user('alice', 10);
const bob: StoredUser = { ...user('bob', 9), isSuperuser: true, updatedAt: 12 };
const orders: AccessEntry = { queuePattern: 'orders.*', operations: [Publish, Subscribe] };
const everything: AccessEntry = { queuePattern: '*', operations: Object.values(QueueOperation) };

/** Names and patterns that another comparison could take for the same, or for something else. */
const sensitive = [
  'a',
  'A',
  'á',
  'a\u0301',
  'İ',
  'i',
  'ß',
  'ss',
  "'; --",
  '%',
  '_',
  '*',
  '😀',
  '日本',
  ' a',
  'a ',
];

export const userStoreContract: readonly UserStoreCase[] = [
  whileOpen('begins without users', (store) => {
    assert.deepEqual(store.list(), []);
    assert.equal(store.find('alice'), undefined);
    assert.deepEqual(store.accessList('alice'), []);
  }),
  whileOpen('finds a user with everything that was added', (store) => {
    for (const each of [alice, bob]) store.add(each);
    assert.deepEqual(store.find('alice'), alice);
    assert.deepEqual(store.find('bob'), bob);
    assert.equal(store.find('carol'), undefined);
  }),
  whileOpen('lists users in the order of their creation, whatever their times are', (store) => {
    const names = ['m', 'z', 'a', 'k'];
    for (const name of names) store.add(user(name, 10 - store.list().length));
    assert.deepEqual(namesOf(store), names);
    store.delete('z');
    store.add(user('z', 3));
    assert.deepEqual(namesOf(store), ['m', 'a', 'k', 'z']);
  }),
  whileOpen('lists them in this order also after a change', (store) => {
    for (const each of [alice, bob]) store.add(each);
    store.setPasswordHash('alice', hash('y'), 99);
    assert.deepEqual(namesOf(store), ['alice', 'bob']);
  }),
  whileOpen('changes the hash of one user and the time of the change, and nothing else', (store) => {
    for (const each of [alice, bob]) store.add(each);
    store.setPasswordHash('alice', hash('y'), 99);
    assert.deepEqual(store.find('alice'), { ...alice, passwordHash: hash('y'), updatedAt: 99 });
    assert.deepEqual(store.find('bob'), bob);
  }),
  whileOpen('changes the hash of no unknown user', (store) => {
    store.setPasswordHash('alice', hash('y'), 99);
    assert.deepEqual(store.list(), []);
  }),
  whileOpen('grants entries in the order of the first grant [AUTH-042]', (store) => {
    for (const each of [alice, bob]) store.add(each);
    for (const entry of [orders, everything]) store.grant('alice', entry, 20);
    assert.deepEqual(store.accessList('alice'), [orders, everything]);
    assert.deepEqual(store.accessList('bob'), []);
  }),
  whileOpen('replaces the operations of the same pattern, in its place [AUTH-024]', (store) => {
    store.add(alice);
    for (const entry of [orders, everything]) store.grant('alice', entry, 20);
    const replaced = { queuePattern: 'orders.*', operations: [ListQueues] };
    store.grant('alice', replaced, 21);
    assert.deepEqual(store.accessList('alice'), [replaced, everything]);
  }),
  whileOpen('keeps the order of operations', (store) => {
    store.add(alice);
    const entry = { queuePattern: 'q', operations: [ListQueues, Publish] };
    store.grant('alice', entry, 20);
    assert.deepEqual(store.accessList('alice'), [entry]);
  }),
  whileOpen('revokes the entry of the pattern and no other [AUTH-040]', (store) => {
    for (const each of [alice, bob]) {
      store.add(each);
      for (const entry of [orders, everything]) store.grant(each.username, entry, 20);
    }
    store.revoke('alice', '*');
    assert.deepEqual(store.accessList('alice'), [orders]);
    assert.deepEqual(store.accessList('bob'), [orders, everything]);
  }),
  whileOpen('revokes what was not granted without a word [AUTH-025]', (store) => {
    store.add(alice);
    store.grant('alice', orders, 20);
    store.revoke('alice', 'other');
    store.revoke('nobody', 'orders.*');
    assert.deepEqual(store.accessList('alice'), [orders]);
  }),
  whileOpen('deletes a user with its entries, and no other [AUTH-036]', (store) => {
    for (const each of [alice, bob]) {
      store.add(each);
      store.grant(each.username, orders, 20);
    }
    store.delete('alice');
    assert.deepEqual(namesOf(store), ['bob']);
    assert.deepEqual(store.accessList('bob'), [orders]);
    store.add(alice);
    assert.deepEqual(store.accessList('alice'), []);
  }),
  whileOpen('deletes an unknown user without a word', (store) => {
    store.add(alice);
    store.delete('nobody');
    assert.deepEqual(namesOf(store), ['alice']);
  }),
  whileOpen('compares names byte by byte', (store) => {
    for (const [index, name] of sensitive.entries()) store.add(user(name, index));
    assert.deepEqual(namesOf(store), sensitive);
    for (const [index, name] of sensitive.entries()) assert.equal(store.find(name)?.createdAt, index);
    store.setPasswordHash('a', hash('y'), 99);
    store.delete('A');
    assert.deepEqual(
      store
        .list()
        .filter(({ updatedAt }) => updatedAt === 99)
        .map(({ username }) => username),
      ['a'],
    );
    assert.equal(store.list().length, sensitive.length - 1);
  }),
  whileOpen('compares patterns byte by byte', (store) => {
    store.add(alice);
    for (const queuePattern of sensitive) store.grant('alice', { queuePattern, operations: [Publish] }, 20);
    store.revoke('alice', 'A');
    store.grant('alice', { queuePattern: 'a', operations: [Subscribe] }, 21);
    const expected = sensitive
      .filter((pattern) => pattern !== 'A')
      .map((queuePattern) => ({
        queuePattern,
        operations: queuePattern === 'a' ? [Subscribe] : [Publish],
      }));
    assert.deepEqual(store.accessList('alice'), expected);
  }),
  whileOpen('gives lists that later changes leave as they are', (store) => {
    store.add(alice);
    store.grant('alice', orders, 20);
    const [users, entries, found] = [store.list(), store.accessList('alice'), store.find('alice')];
    store.setPasswordHash('alice', hash('y'), 99);
    store.grant('alice', everything, 20);
    assert.deepEqual([users, entries, found], [[alice], [orders], alice]);
  }),
  whileOpen('keeps what it is given as it was then', (store) => {
    const given = { ...alice };
    const operations: QueueOperation[] = [Publish];
    store.add(given);
    store.grant('alice', { queuePattern: 'q', operations }, 20);
    Object.assign(given, { passwordHash: hash('z') });
    operations.push(Subscribe);
    assert.deepEqual(store.find('alice'), alice);
    assert.deepEqual(store.accessList('alice'), [{ queuePattern: 'q', operations: [Publish] }]);
  }),
];

/** Cases for stores that keep their users: each change is there after the store was opened again. */
export const durableUserStoreContract: readonly UserStoreCase[] = [
  afterReopening(
    'is empty again when nothing was added',
    (store) => assert.deepEqual(store.list(), []),
    (store) => assert.deepEqual(store.list(), []),
  ),
  afterReopening(
    'keeps users, their order and their entries [AUTH-059]',
    (store) => {
      for (const each of [alice, bob]) store.add(each);
      for (const entry of [everything, orders]) store.grant('bob', entry, 20);
    },
    (store) => {
      assert.deepEqual(store.list(), [alice, bob]);
      assert.deepEqual(store.accessList('bob'), [everything, orders]);
    },
  ),
  afterReopening(
    'keeps changes of what was kept before [AUTH-059]',
    (store) => {
      for (const each of [alice, bob]) store.add(each);
      for (const entry of [everything, orders]) store.grant('alice', entry, 20);
      store.setPasswordHash('alice', hash('y'), 99);
      store.grant('alice', { ...orders, operations: [Publish] }, 30);
      store.revoke('alice', '*');
      store.delete('bob');
    },
    (store) => {
      assert.deepEqual(store.list(), [{ ...alice, passwordHash: hash('y'), updatedAt: 99 }]);
      assert.deepEqual(store.accessList('alice'), [{ ...orders, operations: [Publish] }]);
    },
  ),
];

/** The cases for one kind of store. */
export function userStoreCases({ isDurable }: UserStoreUnderTest): readonly UserStoreCase[] {
  return isDurable ? [...userStoreContract, ...durableUserStoreContract] : userStoreContract;
}

function whileOpen(name: string, check: (store: UserStore) => void): UserStoreCase {
  return { name, run: (under) => inPlace(under, (place) => withStore(place, check)) };
}

function afterReopening(
  name: string,
  change: (store: UserStore) => void,
  check: (store: UserStore) => void,
): UserStoreCase {
  const run = (under: UserStoreUnderTest) =>
    inPlace(under, async (place) => {
      await withStore(place, change);
      await withStore(place, check);
    });
  return { name, run };
}

async function inPlace(
  under: UserStoreUnderTest,
  act: (place: UserStorePlace) => Promise<void>,
): Promise<void> {
  const place = await under.newPlace();
  try {
    await act(place);
  } finally {
    await place.remove();
  }
}

async function withStore(place: UserStorePlace, act: (store: UserStore) => void): Promise<void> {
  const store = await place.open();
  try {
    act(store);
  } finally {
    store.close();
  }
}

function namesOf(store: UserStore): readonly string[] {
  return store.list().map(({ username }) => username);
}

function user(username: string, createdAt: number): StoredUser {
  return { username, passwordHash: hash('x'), isSuperuser: false, createdAt, updatedAt: createdAt };
}

function hash(character: string): string {
  return `$2b$04$${character.repeat(53)}`;
}
