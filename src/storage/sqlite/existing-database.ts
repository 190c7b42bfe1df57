// The database of an existing broker of the protocol, as its rows: the tables of version 0, which has no number. Reads a copy; the rows are
// unchecked values of SQLite. Refuses what is no such database, and a newer one, because it may hold what would be lost.

import { isUtf8 } from 'node:buffer';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../storage-provider.ts';
import { type Database, loadDriver } from './driver.ts';
import { readFileHeader } from './file-header.ts';
import { reasonOf } from './open-database.ts';
import { APPLICATION_ID } from './schema.ts';
import { copySource } from './source-copy.ts';

export type ExistingRow = Readonly<Record<string, unknown>>;

export type ExistingTable = 'queues' | 'messages' | 'dead_letters';

/** A row by its number, and the text of its time. */
export type TimedRow = { readonly rowid: number; readonly time: unknown };

const COLUMNS: Readonly<Record<ExistingTable, readonly string[]>> = {
  queues: ['name', 'options_json', 'created_at'],
  messages: [
    ...['id', 'queue_name', 'payload_json', 'timestamp', 'headers_json', 'version', 'priority'],
    'delivery_attempts',
  ],
  dead_letters: ['message_id', 'message_json', 'reason', 'failed_at'],
};
/** What the driver puts in the place of bytes that are not UTF-8. */
const REPLACEMENT = '\ufffd';
/** Of existing brokers, and without a meaning for messages. */
const IGNORED_COLUMNS: readonly string[] = ['id'];

/**
 * Opens a copy of the database, which stands in `folder` until it is closed. Does not change the database nor the files beside it.
 * @throws StoreError when there is none, another program uses it, or it has not the tables and columns of an existing broker
 */
export async function openExistingDatabase(path: string, folder: string): Promise<ExistingDatabase> {
  await refuseHeader(path);
  const scratch = await mkdtemp(join(folder, '.truemq-import-')).catch((error: unknown) => {
    throw refusal(path, `there must be room for a copy of it in ${folder}: ${reasonOf(error)}`, error);
  });
  const removeCopy = () => rm(scratch, { recursive: true, force: true });
  let database: Database | undefined;
  try {
    const Driver = await loadDriver();
    database = new Driver(await copySource(path, scratch), { timeout: 0 });
    refuseSchema(database, path);
    return new ExistingDatabase(path, database, removeCopy);
  } catch (error) {
    database?.close();
    await removeCopy();
    throw error instanceof StoreError ? error : refusal(path, reasonOf(error), error);
  }
}

export class ExistingDatabase {
  readonly #path: string;
  readonly #database: Database;
  readonly #removeCopy: () => Promise<void>;

  constructor(path: string, database: Database, removeCopy: () => Promise<void>) {
    this.#path = path;
    this.#database = database;
    this.#removeCopy = removeCopy;
  }

  /** The queues in the order in which they were created. Throws StoreError when they cannot be read. */
  queues(): readonly ExistingRow[] {
    const sql = `SELECT rowid AS rowid, ${COLUMNS.queues.join(', ')} FROM queues ORDER BY rowid`;
    return this.#read(() =>
      this.#database
        .prepare<[], ExistingRow & { readonly rowid: number }>(sql)
        .all()
        .map(({ rowid, ...row }) => this.#withBytes('queues', rowid, row)),
    );
  }

  /** The numbers of all rows in the order in which they were written. Throws StoreError when they cannot be read. */
  timedRows(table: 'messages' | 'dead_letters'): readonly TimedRow[] {
    const time = table === 'messages' ? 'timestamp' : 'failed_at';
    const sql = `SELECT rowid AS rowid, ${time} AS time FROM ${table} ORDER BY rowid`;
    return this.#read(() => this.#database.prepare<[], TimedRow>(sql).all());
  }

  /** Reads rows one after the other, each by its number. Throws StoreError when one cannot be read. */
  *rows(table: 'messages' | 'dead_letters', rowids: Iterable<number>): Iterable<ExistingRow> {
    const sql = `SELECT ${COLUMNS[table].join(', ')} FROM ${table} WHERE rowid = ?`;
    const statement = this.#read(() => this.#database.prepare<[number], ExistingRow>(sql));
    for (const rowid of rowids)
      yield this.#read(() => this.#withBytes(table, rowid, statement.get(rowid) ?? {}));
  }

  async close(): Promise<void> {
    this.#database.close();
    await this.#removeCopy();
  }

  /** The row with bytes for texts that are not UTF-8: the driver has put other characters in their place. */
  #withBytes(table: ExistingTable, rowid: number, row: ExistingRow): ExistingRow {
    const suspects = Object.keys(row).filter((column) => String(row[column]).includes(REPLACEMENT));
    if (suspects.length === 0 || !this.#isUtf8()) return row;
    const blobs = suspects.map((column) => `CAST(${column} AS BLOB) AS ${column}`).join(', ');
    const bytes = this.#database
      .prepare<[number], Readonly<Record<string, Buffer>>>(`SELECT ${blobs} FROM ${table} WHERE rowid = ?`)
      .get(rowid);
    const wrong = Object.entries(bytes ?? {}).filter(([, value]) => !isUtf8(value));
    return { ...row, ...Object.fromEntries(wrong) };
  }

  /** Otherwise the bytes of a text are those of another encoding. */
  #isUtf8(): boolean {
    return this.#database.pragma('encoding', { simple: true }) === 'UTF-8';
  }

  #read<Result>(query: () => Result): Result {
    try {
      return query();
    } catch (error) {
      throw refusal(this.#path, reasonOf(error), error);
    }
  }
}

function refusal(path: string, reason: string, cause?: unknown): StoreError {
  return new StoreError(`the database ${path} cannot be imported: ${reason}`, { cause });
}

/** Judges by the first bytes of the file, so that a wrong path is not copied. */
async function refuseHeader(path: string): Promise<void> {
  const header = await readFileHeader(path);
  switch (header.kind) {
    case 'absent':
      throw refusal(path, 'there is no such file');
    case 'empty':
      throw refusal(path, 'the file is empty');
    case 'unreadable':
      throw refusal(path, header.reason);
    case 'foreign':
      throw refusal(path, 'it is not an SQLite database');
    case 'database':
      if (header.applicationId === APPLICATION_ID)
        throw refusal(
          path,
          'it is a store of TrueMQ, which needs no import: give it to "truemq serve --storage-path"',
        );
      if (header.applicationId !== 0) throw refusal(path, 'it is a database of another program');
  }
}

/** The version may stand in the log, so it is read from the open database. */
function refuseSchema(database: Database, path: string): void {
  const version = Number(database.pragma('user_version', { simple: true }));
  if (version !== 0) {
    throw refusal(path, `its schema has version ${version}, which is newer than this program knows`);
  }
  for (const [table, columns] of Object.entries(COLUMNS)) refuseTable(database, path, table, columns);
}

function refuseTable(database: Database, path: string, table: string, columns: readonly string[]): void {
  const found = database
    .prepare<[string], string>('SELECT name FROM pragma_table_info(?)')
    .pluck()
    .all(table);
  if (found.length === 0) throw refusal(path, `it has no table ${table}, so it is no database of a broker`);
  const missing = columns.find((column) => !found.includes(column));
  if (missing !== undefined) throw refusal(path, `its table ${table} has no column ${missing}`);
  const unknown = found.find((column) => !columns.includes(column) && !IGNORED_COLUMNS.includes(column));
  if (unknown !== undefined) {
    throw refusal(path, `its table ${table} has a column ${unknown}, so it is newer than this program knows`);
  }
}
