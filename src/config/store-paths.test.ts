// Paths of stores and of users that are none, that are no files, or that are the same file.

import { describe, expect, it } from 'vitest';
import { loadGiven, problemsOf } from '../testing/tested-configuration.ts';

describe('the path of a store', () => {
  it.each([
    { flags: { 'storage-path': '' } },
    { environment: { TRUEMQ_STORAGE_PATH: '' } },
    { file: 'storagePath: ""' },
  ])('means none when it is empty: %j', (given) => {
    expect(loadGiven(given).configuration).toMatchObject({ storage: 'memory', storagePath: '' });
  });

  it.each([':memory:', ' :memory: ', ' ', 'file:orders.db', 'file::memory:'])(
    'is refused when SQLite would keep no file of that name: %j',
    (path) => {
      expect(problemsOf({ flags: { storage: 'sqlite', 'storage-path': path } })).toEqual([
        `storagePath ${path} (flag --storage-path) and storage sqlite (flag --storage) do not go together; allowed is the path ` +
          'of a file with storage sqlite, or storage memory, which keeps messages until the broker stops',
      ]);
    },
  );

  it('may be anything that a module understands', () => {
    const flags = { 'storage-module': './my-store.mjs', 'storage-path': ':memory:' };
    expect(loadGiven({ flags }).configuration.storagePath).toBe(':memory:');
  });
});

describe('one file for users and messages', () => {
  const flags = { storage: 'sqlite', 'storage-path': 'same.db' };

  it.each(['same.db', './same.db', 'a/../same.db'])('is refused: %s', (path) => {
    expect(problemsOf({ flags: { ...flags, 'auth-database-path': path } })).toEqual([
      `authDatabasePath ${path} (flag --auth-database-path) and storagePath same.db (flag --storage-path) do not go together; ` +
        'allowed is a file for users and another one for messages',
    ]);
  });

  it('is refused when a default names it', () => {
    const given = { storage: 'sqlite', 'storage-path': 'auth.db', 'superuser-password': 'x' };
    expect(problemsOf({ flags: given })).toEqual([
      expect.stringMatching(/^authDatabasePath auth.db \(default\)/),
    ]);
  });

  it.each([
    { ...flags, 'auth-database-path': 'a/same.db' },
    { ...flags, 'auth-database-path': 'same.db', 'enable-authentication': 'false' },
    { ...flags, 'auth-database-path': 'same.db', storage: 'memory' },
    { ...flags, 'auth-database-path': ':memory:' },
  ])('is no matter where only one of the two uses it: %j', (given) => {
    expect(problemsOf({ flags: given })).toEqual([]);
  });
});
