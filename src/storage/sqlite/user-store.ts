// The user store in an SQLite file. Each change is one transaction, and safe on the disk when its call returns. Implements AUTH-055 and AUTH-059.

import { type StoredUser, type UserStore, UserStoreError } from '../../auth/user-store.ts';
import type { AccessEntry } from '../../model/access.ts';
import type { Database, Statement } from './driver.ts';
import { reasonOf } from './open-database.ts';
import { openUserDatabase } from './user-database.ts';
import { accessEntryOf, operationsText, type PermissionRow, type UserRow, userOf } from './user-rows.ts';
import { orderOfCreation } from './user-schema.ts';

/** Opens the file, or creates it, and reads all of it once. Rejects with UserStoreError. */
export async function openUserStore(path: string): Promise<UserStore> {
  const database = await openUserDatabase(path);
  try {
    const store = new SqliteUserStore(database);
    store.check();
    return store;
  } catch (error) {
    database.close();
    if (error instanceof UserStoreError) throw error;
    throw new UserStoreError(`the user database ${path} cannot be used: ${reasonOf(error)}`, {
      cause: error,
    });
  }
}

const USER_COLUMNS = 'username, password_hash, is_superuser, created_at, updated_at';
const PERMISSION_COLUMNS = 'username, queue_pattern, operations';
// Whatever collation a table declares, names and patterns are compared byte by byte.
const OF_USER = 'username = ? COLLATE BINARY';
const OF_PATTERN = `${OF_USER} AND queue_pattern = ? COLLATE BINARY`;

class SqliteUserStore implements UserStore {
  readonly #database: Database;
  readonly #find: Statement<[string], UserRow>;
  readonly #list: Statement<[], UserRow>;
  readonly #permissions: Statement<[string], PermissionRow>;
  readonly #allPermissions: Statement<[], PermissionRow>;
  readonly #add: Statement<[string, string, bigint, bigint, bigint]>;
  readonly #setPasswordHash: Statement<[string, bigint, string]>;
  readonly #delete: Statement<[string]>;
  readonly #deletePermissions: Statement<[string]>;
  readonly #changeOperations: Statement<[string, string, string]>;
  readonly #addPermission: Statement<[string, string, string, bigint]>;
  readonly #revoke: Statement<[string, string]>;

  constructor(database: Database) {
    const users = `SELECT ${USER_COLUMNS} FROM users`;
    const permissions = `SELECT ${PERMISSION_COLUMNS} FROM permissions`;
    const order = `ORDER BY ${orderOfCreation(database, 'permissions')}`;
    this.#database = database;
    this.#find = database.prepare(`${users} WHERE ${OF_USER}`);
    this.#list = database.prepare(`${users} ORDER BY ${orderOfCreation(database, 'users')}`);
    this.#permissions = database.prepare(`${permissions} WHERE ${OF_USER} ${order}`);
    this.#allPermissions = database.prepare(permissions);
    this.#add = database.prepare(`INSERT INTO users (${USER_COLUMNS}) VALUES (?, ?, ?, ?, ?)`);
    this.#setPasswordHash = database.prepare(
      `UPDATE users SET password_hash = ?, updated_at = ? WHERE ${OF_USER}`,
    );
    this.#delete = database.prepare(`DELETE FROM users WHERE ${OF_USER}`);
    this.#deletePermissions = database.prepare(`DELETE FROM permissions WHERE ${OF_USER}`);
    this.#changeOperations = database.prepare(`UPDATE permissions SET operations = ? WHERE ${OF_PATTERN}`);
    this.#addPermission = database.prepare(
      `INSERT INTO permissions (${PERMISSION_COLUMNS}, created_at) VALUES (?, ?, ?, ?)`,
    );
    this.#revoke = database.prepare(`DELETE FROM permissions WHERE ${OF_PATTERN}`);
  }

  /** Reads every row, so that a damaged file shows at the start and not when its user connects. */
  check(): void {
    const names = this.list().map(({ username }) => username);
    const entries = this.#reading(() =>
      this.#allPermissions
        .all()
        .map((row) => JSON.stringify([row.username, accessEntryOf(row).queuePattern])),
    );
    for (const keys of [names, entries]) {
      const repeated = firstRepeated(keys);
      if (repeated !== undefined) throw new Error(`${repeated} is there twice`);
    }
  }

  find(username: string): StoredUser | undefined {
    return this.#reading(() => {
      const row = this.#find.get(username);
      return row && userOf(row);
    });
  }

  list(): readonly StoredUser[] {
    return this.#reading(() => this.#list.all().map(userOf));
  }

  accessList(username: string): readonly AccessEntry[] {
    return this.#reading(() => this.#permissions.all(username).map(accessEntryOf));
  }

  add({ username, passwordHash, isSuperuser, createdAt, updatedAt }: StoredUser): void {
    this.#writing(() => {
      this.#add.run(username, passwordHash, isSuperuser ? 1n : 0n, whole(createdAt), whole(updatedAt));
    });
  }

  delete(username: string): void {
    this.#writing(() => {
      this.#deletePermissions.run(username);
      this.#delete.run(username);
    });
  }

  setPasswordHash(username: string, passwordHash: string, updatedAt: number): void {
    this.#writing(() => {
      this.#setPasswordHash.run(passwordHash, whole(updatedAt), username);
    });
  }

  grant(username: string, { queuePattern, operations }: AccessEntry, createdAt: number): void {
    const text = operationsText(operations);
    this.#writing(() => {
      if (this.#changeOperations.run(text, username, queuePattern).changes > 0) return;
      this.#addPermission.run(username, queuePattern, text, whole(createdAt));
    });
  }

  revoke(username: string, queuePattern: string): void {
    this.#writing(() => {
      this.#revoke.run(username, queuePattern);
    });
  }

  close(): void {
    this.#database.close();
  }

  #reading<T>(read: () => T): T {
    return this.#explained('read', read);
  }

  #writing(write: () => void): void {
    this.#explained('written', this.#database.transaction(write));
  }

  #explained<T>(verb: string, act: () => T): T {
    try {
      return act();
    } catch (error) {
      const path = this.#database.name;
      throw new UserStoreError(`the user database ${path} cannot be ${verb}: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  }
}

/** The driver passes a number as a fraction, which a column of texts would keep as `5.0`. */
function whole(number: number): bigint {
  return BigInt(number);
}

function firstRepeated(keys: readonly string[]): string | undefined {
  const known = new Set<string>();
  return keys.find((key) => known.has(key) || !known.add(key));
}
