// The durable store: one SQLite file, one transaction per batch, durable when `commit` returns. Everything is synchronous: a commit costs
// about as much as its sync of the disk. Implements DURABLE-001 to DURABLE-015 behind the port of storage-provider.ts.

import type { RecoveredRecord, StoreRecord } from '../../broker/interface/store-record.ts';
import { type StorageProvider, StoreError } from '../storage-provider.ts';
import { BatchPlan } from './batch-plan.ts';
import type { Database } from './driver.ts';
import { EndedQueues } from './ended-queues.ts';
import { openDatabase, reasonOf, type SqliteOptions } from './open-database.ts';
import { SCHEMA_VERSION } from './schema.ts';
import { Statements } from './statements.ts';

/**
 * Opens the store in the file, and creates the file if it does not exist.
 * @throws StoreError when the file cannot be used: it is locked, no database of this broker, damaged, or cannot be written
 */
export async function openSqliteStore(options: SqliteOptions): Promise<StorageProvider> {
  return sqliteStoreOn(await openDatabase(options));
}

/** The store in a database that {@link openDatabase} has opened; closing it closes the database. */
export function sqliteStoreOn(database: Database): StorageProvider {
  return new SqliteStore(database);
}

class SqliteStore implements StorageProvider {
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #ended: EndedQueues;

  constructor(database: Database) {
    this.#database = database;
    this.#statements = new Statements(database);
    this.#ended = new EndedQueues(database);
  }

  *recover(): Iterable<RecoveredRecord> {
    try {
      yield* this.#statements.readQueues();
      yield* this.#statements.readMessages(this.#ended.generations);
      while (!this.#ended.isEmpty) this.#database.transaction(() => this.#ended.removeSlice())();
    } catch (error) {
      throw new StoreError(`the store ${this.#database.name} cannot be read: ${reasonOf(error)}`, {
        cause: error,
      });
    }
  }

  commit(records: readonly StoreRecord[]): void {
    try {
      if (records.length === 0) this.#probe();
      else this.#commit(new BatchPlan(records));
    } catch (error) {
      // Clients receive this text too, so it must not contain the path.
      throw new StoreError(`it cannot be written: ${reasonOf(error)}`, { cause: error });
    }
  }

  close(): void {
    this.#database.close();
  }

  #commit(plan: BatchPlan): void {
    if (plan.isEmpty) return;
    this.#database.transaction(() => this.#write(plan)).immediate();
  }

  /** Rewrites an existing value: like any other change, that is written to the log and synced. */
  #probe(): void {
    this.#database
      .transaction(() => void this.#database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`))
      .immediate();
  }

  #write(plan: BatchPlan): void {
    for (const queue of plan.created.values()) this.#statements.insertQueue(queue);
    for (const range of plan.removedRanges()) this.#statements.deleteMessages(range);
    for (const [sequence, count] of plan.failedAttempts)
      this.#statements.updateFailedAttempts(sequence, count);
    for (const { stored, failedAttempts } of plan.added.values()) {
      this.#statements.insertMessage(stored, failedAttempts);
    }
    for (const generation of plan.ended) {
      this.#statements.deleteQueue(generation);
      this.#ended.add(generation);
    }
    this.#ended.removeSlice();
  }
}
