// The versions of the database schema and the migrations between them. A released migration is never changed: the tests open a fixture of
// every released version (fixtures/storage/). Implements DURABLE-025.

import type { Database } from './driver.ts';

/** "TMQ1": marks the file, in its header, as a store of this broker. */
export const APPLICATION_ID = 0x54_4d_51_31;

/** What each step does to a file of the version before it; the first one starts from an empty file. */
export const migrations: readonly ((database: Database) => void)[] = [createFirstVersion];

/** The version that this broker reads and writes. */
export const SCHEMA_VERSION = migrations.length;

/**
 * Brings a file to the newest version, in one transaction. To be called before the write-ahead log is switched on: the version
 * then stands in the file itself, where it can be read without opening the database.
 */
export function migrate(database: Database, fromVersion: number): void {
  if (fromVersion === SCHEMA_VERSION) return;
  database.transaction(() => {
    for (const step of migrations.slice(fromVersion)) step(database);
    database.pragma(`application_id = ${APPLICATION_ID}`);
    database.pragma(`user_version = ${SCHEMA_VERSION}`);
  })();
}

// A message's sequence is its row id in whichever of the two tables, so neither needs an index. `ended_queues` holds unfinished deletions:
// rows of the generation with a sequence up to the cursor are removed already.
function createFirstVersion(database: Database): void {
  database.exec(`
    CREATE TABLE queues (
      generation INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      options TEXT NOT NULL,
      created_at INTEGER NOT NULL
    );
    CREATE TABLE messages (
      sequence INTEGER PRIMARY KEY,
      generation INTEGER NOT NULL,
      id TEXT NOT NULL,
      priority INTEGER NOT NULL,
      accepted_at INTEGER NOT NULL,
      failed_attempts INTEGER NOT NULL,
      content BLOB NOT NULL
    );
    CREATE TABLE dead_letters (
      sequence INTEGER PRIMARY KEY,
      generation INTEGER NOT NULL,
      id TEXT NOT NULL,
      priority INTEGER NOT NULL,
      accepted_at INTEGER NOT NULL,
      failed_attempts INTEGER NOT NULL,
      reason TEXT NOT NULL,
      source TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      dead_lettered_at INTEGER NOT NULL,
      content BLOB NOT NULL
    );
    CREATE TABLE ended_queues (
      generation INTEGER PRIMARY KEY,
      cursor INTEGER NOT NULL
    );
  `);
}
