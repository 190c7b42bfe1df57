// The file of users: what is refused before anything changes, files of existing brokers, and who may read it.

import { spawnSync } from 'node:child_process';
import { chmod, copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type UserStore, UserStoreError } from '../../auth/user-store.ts';
import { QueueOperation } from '../../model/access.ts';
import { newFolder } from '../contract/file-place.ts';
import { type Database, loadDriver } from './driver.ts';
import { openSqliteStore } from './sqlite-store.ts';
import { USER_APPLICATION_ID, USER_SCHEMA_VERSION } from './user-schema.ts';
import { openUserStore } from './user-store.ts';

const { Publish, ListQueues } = QueueOperation;
const HASH = `$2a$12$${'x'.repeat(53)}`;

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await newFolder();
  path = join(folder, 'auth.db');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

/** Writes a database with the tables and rows that another program might have. */
async function writeDatabase(sql: string): Promise<void> {
  const Driver = await loadDriver();
  new Driver(path).exec(sql).close();
}

async function withStore<T>(act: (store: UserStore) => T): Promise<T> {
  const store = await openUserStore(path);
  try {
    return act(store);
  } finally {
    store.close();
  }
}

async function withDatabase<T>(act: (database: Database) => T): Promise<T> {
  const Driver = await loadDriver();
  const database = new Driver(path);
  try {
    return act(database);
  } finally {
    database.close();
  }
}

const user = (username: string) => ({
  username,
  passwordHash: HASH,
  isSuperuser: false,
  createdAt: 5,
  updatedAt: 6,
});

/** Tables as the specification describes them, with what else an existing broker could have put there. */
const EXISTING = `
  CREATE TABLE users (
    id INTEGER PRIMARY KEY AUTOINCREMENT, username TEXT NOT NULL UNIQUE COLLATE NOCASE, password_hash TEXT NOT NULL,
    is_superuser INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, note TEXT
  );
  CREATE TABLE permissions (
    id INTEGER PRIMARY KEY AUTOINCREMENT, username TEXT NOT NULL REFERENCES users (username) ON DELETE CASCADE,
    queue_pattern TEXT NOT NULL, operations TEXT NOT NULL, created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
    UNIQUE (username, queue_pattern)
  );
  INSERT INTO users (username, password_hash, is_superuser, created_at, updated_at) VALUES
    ('vibemq', '${HASH}', 1, '2026-11-20T22:26:11.1234567Z', '2026-11-20 22:26:12'),
    ('alice', '${HASH}', 0, '1795213572', '2026-11-20T23:26:13+01:00');
  INSERT INTO permissions (username, queue_pattern, operations) VALUES
    ('alice', 'orders.*', '[0, 6]'), ('alice', '*', '[]');
`;

describe('a file of an existing broker', () => {
  it('is opened with its users, rights and times [AUTH-059]', async () => {
    await writeDatabase(EXISTING);
    await withStore((store) => {
      expect(store.list()).toEqual([
        {
          username: 'vibemq',
          passwordHash: HASH,
          isSuperuser: true,
          createdAt: 1_795_213_571,
          updatedAt: 1_795_213_572,
        },
        {
          username: 'alice',
          passwordHash: HASH,
          isSuperuser: false,
          createdAt: 1_795_213_572,
          updatedAt: 1_795_213_573,
        },
      ]);
      expect(store.accessList('alice')).toEqual([
        { queuePattern: 'orders.*', operations: [Publish, ListQueues] },
        { queuePattern: '*', operations: [] },
      ]);
      expect(store.find('ALICE')).toBeUndefined();
    });
  });

  it('can be changed, and keeps its tables and its header [AUTH-059]', async () => {
    await writeDatabase(EXISTING);
    const tables = () => withDatabase((database) => database.prepare('SELECT sql FROM sqlite_schema').all());
    const before = await tables();
    await withStore((store) => {
      store.add(user('bob'));
      store.grant('bob', { queuePattern: 'q', operations: [Publish] }, 7);
      store.setPasswordHash('vibemq', HASH, 8);
      store.delete('alice');
    });
    expect(await tables()).toEqual(before);
    await withDatabase((database) => {
      expect(database.pragma('application_id', { simple: true })).toBe(0);
      const users = 'SELECT username, is_superuser, created_at, updated_at FROM users ORDER BY id';
      expect(database.prepare(users).raw().all()).toEqual([
        ['vibemq', 1, '2026-11-20T22:26:11.1234567Z', '8'],
        ['bob', 0, '5', '6'],
      ]);
      const permissions = 'SELECT username, queue_pattern, operations FROM permissions';
      expect(database.prepare(permissions).raw().all()).toEqual([['bob', 'q', '[0]']]);
    });
    await withStore((store) => {
      expect(store.find('bob')).toEqual(user('bob'));
      expect(store.list().map(({ username }) => username)).toEqual(['vibemq', 'bob']);
    });
  });

  it('may have the columns that are named and no others, in tables without row ids [AUTH-059]', async () => {
    await writeDatabase(`
      CREATE TABLE users (username PRIMARY KEY, password_hash, is_superuser, created_at, updated_at) WITHOUT ROWID;
      CREATE TABLE permissions (username, queue_pattern, operations, created_at);
      INSERT INTO users VALUES ('b', '${HASH}', 0, 6, 6), ('c', '${HASH}', 0, 5, 5);
    `);
    await withStore((store) => expect(store.list().map(({ username }) => username)).toEqual(['c', 'b']));
  });

  const NAMED = `
    CREATE TABLE users (username, password_hash, is_superuser, created_at, updated_at);
    CREATE TABLE permissions (username, queue_pattern, operations, created_at);
  `;
  const insertUser = (values: string) => `${NAMED} INSERT INTO users VALUES (${values});`;
  const insertPermission = (values: string) => `${NAMED} INSERT INTO permissions VALUES (${values});`;

  it.each([
    ['CREATE TABLE mine (x)', 'it has no table users, so it is a database of another program'],
    ['CREATE TABLE users (username)', 'its table users has no column password_hash'],
    [
      `${NAMED} ALTER TABLE permissions DROP COLUMN operations`,
      'its table permissions has no column operations',
    ],
    [
      `${NAMED} ALTER TABLE users ADD COLUMN mail; DROP TABLE users;
       CREATE TABLE users (username, password_hash, is_superuser, created_at, updated_at, mail TEXT NOT NULL)`,
      'its table users has a column mail that this broker has no value for',
    ],
    [insertUser(`'a', NULL, 0, 5, 5`), 'password_hash of user a is not a text'],
    [insertUser(`x'00', '${HASH}', 0, 5, 5`), 'a user name is not a text'],
    [insertUser(`'a', '${HASH}', 'yes', 5, 5`), 'is_superuser of user a is neither 0 nor 1'],
    [insertUser(`'a', '${HASH}', 2, 5, 5`), 'is_superuser of user a is neither 0 nor 1'],
    [insertUser(`'a', '${HASH}', 0, 'now', 5`), 'created_at of user a is not a time'],
    [insertUser(`'a', '${HASH}', 0, 5, NULL`), 'updated_at of user a is not a time'],
    [insertUser(`'a', '${HASH}', 0, 5, 5), ('a', '${HASH}', 0, 5, 5`), 'a is there twice'],
    [
      insertPermission(`'a', 'q', '[7]', 5`),
      'operations of user a on "q" is not a JSON array of numbers from 0 to 6',
    ],
    [insertPermission(`'a', 'q', '["Publish"]', 5`), 'operations of user a on "q" is not a JSON array'],
    [insertPermission(`'a', 'q', '0', 5`), 'operations of user a on "q" is not a JSON array'],
    [insertPermission(`'a', 'q', '[', 5`), 'operations of user a on "q" is not a JSON array'],
    [insertPermission(`'a', 1, '[]', 5`), 'a queue_pattern of user a is not a text'],
    [insertPermission(`'a', 'q', '[]', 5), ('a', 'q', '[0]', 5`), '["a","q"] is there twice'],
  ])('is refused at the start when it cannot be right: %j', async (sql, reason) => {
    await writeDatabase(sql);
    await expect(openUserStore(path)).rejects.toThrow(UserStoreError);
    await expect(openUserStore(path)).rejects.toThrow(`the user database ${path} cannot be`);
    await expect(openUserStore(path)).rejects.toThrow(reason);
  });
});

describe('a file that cannot be the user database is refused, and nothing of it changes', () => {
  async function expectRefusal(reason: string | RegExp): Promise<void> {
    const before = await readFile(path);
    await expect(openUserStore(path)).rejects.toThrow(UserStoreError);
    await expect(openUserStore(path)).rejects.toThrow(reason);
    expect(await readFile(path)).toEqual(before);
  }

  it('because it is no database', async () => {
    await writeFile(path, 'my diary'.repeat(100));
    await expectRefusal(
      `the user database ${path} cannot be used: it is not an SQLite database; nothing was changed`,
    );
  });

  it('because it holds messages', async () => {
    const store = await openSqliteStore({ path, synchronous: 'full' });
    await store.close();
    await expectRefusal('it holds messages: storagePath must be another file');
  });

  it('because another program marked it', async () => {
    await writeDatabase(`${EXISTING}; PRAGMA application_id = 7`);
    await expectRefusal('it is a database of another program; nothing was changed');
  });

  it('because a newer broker wrote it', async () => {
    const version = USER_SCHEMA_VERSION + 1;
    await writeDatabase(
      `${EXISTING}; PRAGMA application_id = ${USER_APPLICATION_ID}; PRAGMA user_version = ${version}`,
    );
    await expectRefusal(`it has version ${version}, written by a newer TrueMQ`);
  });

  it('because it is damaged', async () => {
    await withStore((store) => store.add(user('a')));
    const file = await readFile(path);
    file[100] = 0;
    await writeFile(path, file);
    await expect(openUserStore(path)).rejects.toThrow(/cannot be used: it is damaged; .*\(SQLITE_CORRUPT/);
  });

  it('because another broker has it', async () => {
    const store = await openUserStore(path);
    await expect(openUserStore(path)).rejects.toThrow(/it is locked: another broker uses it \(SQLITE_BUSY/);
    store.add(user('a'));
    store.close();
    await withStore((again) => expect(again.list()).toHaveLength(1));
  });

  it('because it is a folder', async () => {
    await mkdir(path);
    await expect(openUserStore(path)).rejects.toThrow('it is a folder');
  });

  it('because the driver would open the file without the white space at the ends of its name', async () => {
    await expect(openUserStore(`${path}\r`)).rejects.toThrow(
      /\\r" cannot be used: .* white space at the ends/,
    );
    expect(await readdir(folder)).toEqual([]);
  });

  it('because it is a pipe, which would wait, or a device', async () => {
    spawnSync('mkfifo', [path]);
    await expect(openUserStore(path)).rejects.toThrow('it is not a regular file');
    await expect(openUserStore('/dev/null')).rejects.toThrow('it is not a regular file');
  });

  it('because its folder is not there', async () => {
    path = join(folder, 'no', 'auth.db');
    await expect(openUserStore(path)).rejects.toThrow(`the folder ${join(folder, 'no')} does not exist`);
  });
});

describe('a new file', () => {
  it('is for its owner only, and so is the log beside it', async () => {
    const store = await openUserStore(path);
    store.add(user('a'));
    for (const name of [path, `${path}-wal`]) expect((await stat(name)).mode & 0o777, name).toBe(0o600);
    store.close();
  });

  it('has the tables that existing brokers use, and a mark of this one [AUTH-059]', async () => {
    await withStore((store) => {
      store.add({ ...user('a'), isSuperuser: true });
      store.grant('a', { queuePattern: 'q.*', operations: [ListQueues, Publish] }, 7);
    });
    await withDatabase((database) => {
      expect(database.prepare('SELECT * FROM users').all()).toEqual([
        { username: 'a', password_hash: HASH, is_superuser: 1, created_at: 5, updated_at: 6 },
      ]);
      expect(database.prepare('SELECT * FROM permissions').all()).toEqual([
        { username: 'a', queue_pattern: 'q.*', operations: '[6,0]', created_at: 7 },
      ]);
      expect(database.pragma('application_id', { simple: true })).toBe(USER_APPLICATION_ID);
      expect(database.pragma('user_version', { simple: true })).toBe(USER_SCHEMA_VERSION);
    });
  });

  it('stands where an empty one stood, whose mode is left as it is', async () => {
    await writeFile(path, '');
    await chmod(path, 0o640);
    await withStore((store) => store.add(user('a')));
    expect((await stat(path)).mode & 0o777).toBe(0o640);
  });
});

describe('an open file', () => {
  it('keeps a change when the process is killed [AUTH-059]', async () => {
    const store = await openUserStore(path);
    store.add(user('a'));
    store.grant('a', { queuePattern: 'q', operations: [Publish] }, 7);
    const left = path;
    path = join(folder, 'left.db');
    // What a killed process leaves: the file and the log beside it.
    for (const suffix of ['', '-wal']) await copyFile(`${left}${suffix}`, `${path}${suffix}`);
    store.close();
    await withStore((again) => expect(again.accessList('a')).toHaveLength(1));
  });

  it('names itself and the reason when it cannot be read or written', async () => {
    const store = await openUserStore(path);
    store.close();
    const message = (verb: string) => `the user database ${path} cannot be ${verb}: `;
    expect(() => store.list()).toThrow(UserStoreError);
    expect(() => store.find('a')).toThrow(message('read'));
    expect(() => store.add(user('a'))).toThrow(UserStoreError);
    expect(() => store.add(user('a'))).toThrow(message('written'));
  });

  it('changes nothing when a change fails', async () => {
    await withStore((store) => {
      store.add(user('a'));
      expect(() => store.add(user('a'))).toThrow(/cannot be written: .*UNIQUE/);
      expect(() => store.grant('nobody', { queuePattern: 'q', operations: [] }, 7)).toThrow(/FOREIGN KEY/);
      expect(store.list()).toEqual([user('a')]);
      expect(store.accessList('nobody')).toEqual([]);
    });
  });
});
