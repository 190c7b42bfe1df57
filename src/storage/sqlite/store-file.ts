// The file of a store that no broker has open, for operators: its contents, its problems and its size. Reads only: files that a crash has
// left beside it are not changed, and the next broker finds them.

import { realpath, stat, unlink } from 'node:fs/promises';
import type { RecoveredRecord } from '../../broker/interface/store-record.ts';
import { StoreError } from '../storage-provider.ts';
import type { Database } from './driver.ts';
import { EndedQueues } from './ended-queues.ts';
import { openDatabaseForReading, reasonOf } from './open-database.ts';
import { type OnDamagedRow, Statements } from './statements.ts';

export type QueueFigures = {
  readonly name: string;
  /** Messages that will wait when a broker starts. */
  readonly messageCount: number;
  /** How many of them are dead letters. */
  readonly deadLetterCount: number;
  /** Bytes of their contents. */
  readonly bytes: number;
  /** When the oldest was accepted, in milliseconds since 1970; absent if there is none. */
  readonly oldestWallAt?: number;
};

export type FileFigures = {
  readonly fileBytes: number;
  /** Size of the write-ahead log: commits that are not yet copied into the file. */
  readonly writeAheadLogBytes: number;
  readonly pageBytes: number;
  readonly pageCount: number;
  /** Free pages of the file: new messages fill them, or a compaction removes them. */
  readonly freePageCount: number;
};

/**
 * Opens the file for reading. As long as it is open no broker can start on it.
 * @throws StoreError when it is not there, no store of this version, damaged at its beginning, or held by a broker
 */
export async function openStoreFile(path: string): Promise<StoreFile> {
  // SQLite puts its files beside the file itself, not beside a symbolic link to it.
  const place = await realpath(path).catch(() => path);
  const besides = [`${place}-wal`, `${place}-shm`];
  const sizes = await Promise.all(besides.map(sizeOf));
  const database = await openDatabaseForReading(path);
  return new StoreFile(
    database,
    place,
    besides.filter((_, index) => sizes[index] === undefined),
  );
}

export class StoreFile {
  readonly #database: Database;
  /** The file without symbolic links. */
  readonly #place: string;
  /** Files that did not exist before; SQLite needs them for reading too. */
  readonly #ownFiles: readonly string[];

  constructor(database: Database, place: string, ownFiles: readonly string[]) {
    this.#database = database;
    this.#place = place;
    this.#ownFiles = ownFiles;
  }

  /**
   * The records that a broker would recover, in the order of {@link StorageProvider.recover}. Throws StoreError if the file cannot be read.
   * With `onDamaged`, rows with impossible values are passed to it and skipped.
   */
  *records(onDamaged?: OnDamagedRow): Iterable<RecoveredRecord> {
    try {
      const statements = new Statements(this.#database);
      yield* statements.readQueues(onDamaged);
      yield* statements.readMessages(new EndedQueues(this.#database).generations, onDamaged);
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  /** The problems of the file, at most a hundred: first those that SQLite reports, then violations of the schema's own rules. */
  problems(): readonly string[] {
    const problems: string[] = [];
    try {
      const said = this.#database.prepare<[], string>('PRAGMA integrity_check').pluck();
      for (const text of said.iterate()) if (text !== 'ok') problems.push(...text.split('\n'));
      return problems.length > 0 ? problems : this.#contradictions();
    } catch (error) {
      // The problems reported before the failure show where it is.
      return problems.length > 0 ? problems : [reasonOf(error)];
    }
  }

  /** Throws StoreError if they cannot be read. */
  queueFigures(): readonly QueueFigures[] {
    try {
      const rows = this.#database.prepare<[], FiguresRow>(FIGURES).all();
      return rows.map(({ oldest, ...row }) => (oldest === null ? row : { ...row, oldestWallAt: oldest }));
    } catch (error) {
      throw this.#unreadable(error);
    }
  }

  async fileFigures(): Promise<FileFigures> {
    const number = (pragma: string) => Number(this.#database.pragma(pragma, { simple: true }));
    return {
      fileBytes: (await sizeOf(this.#place)) ?? 0,
      writeAheadLogBytes: (await sizeOf(`${this.#place}-wal`)) ?? 0,
      pageBytes: number('page_size'),
      pageCount: number('page_count'),
      freePageCount: number('freelist_count'),
    };
  }

  async close(): Promise<void> {
    // The file is still open, so no broker uses them. A log with contents is kept: a reader does not write one.
    for (const path of this.#ownFiles) {
      if (path.endsWith('-wal') && (await sizeOf(path)) !== 0) continue;
      await unlink(path).catch(() => undefined);
    }
    this.#database.close();
  }

  #unreadable(error: unknown): StoreError {
    return new StoreError(`the store ${this.#database.name} cannot be read: ${reasonOf(error)}`, {
      cause: error,
    });
  }

  #contradictions(): readonly string[] {
    return RULES.flatMap(({ sql, describe }) =>
      this.#database.prepare<[], RuleRow>(`${sql} LIMIT 20`).all().map(describe),
    );
  }
}

type FiguresRow = Omit<QueueFigures, 'oldestWallAt'> & { readonly oldest: number | null };

const FIGURES = `
  WITH held AS (
    SELECT generation, 0 AS letters, length(content) AS bytes, accepted_at FROM messages UNION ALL
    SELECT generation, 1, length(content), accepted_at FROM dead_letters
  ), sums AS (
    SELECT generation, count(*) AS messageCount, sum(letters) AS deadLetterCount, sum(bytes) AS bytes,
      min(accepted_at) AS oldest
    FROM held GROUP BY generation
  )
  SELECT name, coalesce(messageCount, 0) AS messageCount, coalesce(deadLetterCount, 0) AS deadLetterCount,
    coalesce(bytes, 0) AS bytes, oldest
  FROM queues LEFT JOIN sums USING (generation) ORDER BY generation`;

type RuleRow = { readonly number: number; readonly name: string };

/** Rules that SQLite cannot check. The core's checks at a recovery are not repeated here. */
const RULES: readonly { readonly sql: string; readonly describe: (row: RuleRow) => string }[] = [
  {
    sql: 'SELECT generation AS number, name FROM queues JOIN ended_queues USING (generation)',
    describe: ({ name }) => `queue ${JSON.stringify(name)} is there and deleted`,
  },
  {
    sql: 'SELECT sequence AS number, dead_letters.id AS name FROM dead_letters JOIN messages USING (sequence)',
    describe: ({ number, name }) =>
      `message ${JSON.stringify(name)} (sequence ${number}) is a dead letter and not one`,
  },
];

async function sizeOf(path: string): Promise<number | undefined> {
  return stat(path).then(
    ({ size }) => size,
    () => undefined,
  );
}
