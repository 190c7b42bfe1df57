// Which superuser there is after the start.

import { beforeEach, describe, expect, it } from 'vitest';
import { hashOf, InstantHashing } from '../testing/instant-hashing.ts';
import { MemoryUserStore } from './memory-user-store.ts';
import { provideSuperuser } from './superuser.ts';

let store: MemoryUserStore;
let hashing: InstantHashing;

beforeEach(() => {
  store = new MemoryUserStore();
  hashing = new InstantHashing();
});

function add(username: string, isSuperuser: boolean, passwordHash = hashOf('stored')): void {
  store.add({ username, passwordHash, isSuperuser, createdAt: 5, updatedAt: 5 });
}

function provide(password?: string, username = 'vibemq') {
  const given = password === undefined ? {} : { password };
  return provideSuperuser({ username, ...given, store, path: 'auth.db', hashing, cost: 12, nowSeconds: 9 });
}

describe('the superuser', () => {
  it('is made with the configured name and password [AUTH-062]', async () => {
    expect(await provide('configured', 'admin')).toEqual({ kind: 'created' });
    expect(store.list()).toEqual([
      {
        username: 'admin',
        passwordHash: hashOf('configured', 12),
        isSuperuser: true,
        createdAt: 9,
        updatedAt: 9,
      },
    ]);
  });

  it('is made beside others, if it is configured and has another name', async () => {
    add('first', true);
    expect(await provide('configured')).toEqual({ kind: 'created' });
    expect(store.list().map(({ username }) => username)).toEqual(['first', 'vibemq']);
  });

  it('is made with a password of its own if none is configured and there is no superuser [AUTH-062]', async () => {
    add('alice', false);
    const outcome = await provide();
    expect(outcome).toEqual({ kind: 'generated', password: expect.stringMatching(/^[\w-]{24}$/) });
    const password = 'password' in outcome ? outcome.password : '';
    expect(store.find('vibemq')).toMatchObject({ isSuperuser: true, passwordHash: hashOf(password, 12) });
    expect(await provide()).toEqual({ kind: 'exists' });
  });

  it('gets another password each time it is made', async () => {
    const first = await provide();
    store = new MemoryUserStore();
    expect(await provide()).not.toEqual(first);
  });

  it('is not made if there is one and none is configured', async () => {
    add('first', true);
    expect(await provide()).toEqual({ kind: 'exists' });
    expect(store.list()).toHaveLength(1);
  });

  it.each([
    ['stored', 'exists', hashOf('stored')],
    ['configured', 'differs', hashOf('stored')],
    ['configured', 'differs', 'no hash'],
    ['configured', 'differs', hashOf('configured', 31)],
  ])('that exists is not changed: password %j %s [AUTH-063]', async (password, kind, stored) => {
    add('vibemq', true, stored);
    expect(await provide(password)).toEqual({ kind });
    expect(store.find('vibemq')?.passwordHash).toBe(stored);
  });

  it.each(['configured', undefined])('cannot be a user that is none, with password %s', async (password) => {
    add('vibemq', false);
    await expect(provide(password)).rejects.toThrow(
      /^the user database auth\.db has .*set superuserUsername to/,
    );
    expect(store.list()).toHaveLength(1);
  });
});
