// A real store in a file, for a broker in virtual time, that fails with the driver's own errors when a test says so. It fails within a
// transaction, so the database itself rolls back the writes.

import { type Database, loadDriver } from '../storage/sqlite/driver.ts';
import { openDatabase } from '../storage/sqlite/open-database.ts';
import { sqliteStoreOn } from '../storage/sqlite/sqlite-store.ts';
import type { OpenStore } from '../storage/storage-provider.ts';

export class FaultyFile {
  readonly path: string;
  /** The code with which every transaction fails; undefined: none does. */
  failsWith: string | undefined;
  openCount = 0;
  #database: Database | undefined;

  constructor(path: string) {
    this.path = path;
  }

  readonly openStore: OpenStore = async () => {
    const { SqliteError } = await loadDriver();
    const database = await openDatabase({ path: this.path, synchronous: 'full' });
    this.openCount += 1;
    this.#database = database;
    const transaction = database.transaction.bind(database);
    database.transaction = ((write: (...given: unknown[]) => unknown) =>
      transaction((...given: unknown[]) => {
        write(...given);
        if (this.failsWith !== undefined) throw new SqliteError('made up', this.failsWith);
      })) as Database['transaction'];
    return sqliteStoreOn(database);
  };

  /** The database that was opened last. */
  get database(): Database {
    if (this.#database === undefined) throw new Error('No store was opened.');
    return this.#database;
  }
}
