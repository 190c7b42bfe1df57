// Opens the database file exclusively, with every setting that safety depends on stated explicitly. Refuses a file that is not a valid
// store of this broker before it changes anything. Implements DURABLE-016, DURABLE-022 and DURABLE-026.

import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';
import { StoreError } from '../storage-provider.ts';
import { type Database, loadDriver } from './driver.ts';
import { readFileHeader } from './file-header.ts';
import { APPLICATION_ID, migrate, SCHEMA_VERSION } from './schema.ts';

export type SqliteOptions = {
  /** The file; its write-ahead log stands beside it. */
  readonly path: string;
  /** `full`: safe against a loss of power. `normal`: against a crash of the broker only, and faster. */
  readonly synchronous: 'full' | 'normal';
};

/**
 * Size of a page of a new file; an existing file keeps its own. SQLite's default of 4 KiB holds three messages of 1 KiB, and each page costs two
 * writes: a commit of 256 such messages takes a seventh less time with 8 KiB. With 16 KiB a commit of few takes longer.
 */
const PAGE_BYTES = 8192;
/** The write-ahead log is truncated to this size, in bytes, after it was larger. */
const JOURNAL_SIZE_LIMIT_BYTES = 64 * 1024 * 1024;
/** Pages in the log that trigger a checkpoint, which costs two syncs. */
const CHECKPOINT_PAGES = 2_000;

/** Why a name with it is refused; see `refuseNoFile`. */
export const WHITE_SPACE_AT_THE_ENDS =
  'SQLite leaves out white space at the ends of a name: leave it out there';

/** The open database, locked for this process until it is closed. Rejects with StoreError. */
export async function openDatabase({ path, synchronous }: SqliteOptions): Promise<Database> {
  const Driver = await loadDriver();
  refuseNoFile(path);
  await refuseOther(path);
  await refuseUnwritable(path);
  let database: Database | undefined;
  try {
    database = new Driver(path, { timeout: 0 });
    database.pragma(`page_size = ${PAGE_BYTES}`);
    lock(database);
    prepareFile(database, synchronous);
    return database;
  } catch (error) {
    database?.close();
    throw new StoreError(`the store ${path} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

/**
 * Opens the database read-only. It does not change, and no broker can open it meanwhile. Rejects with StoreError, also when a broker has
 * the file open, and when the file has another version, because migrations need write access.
 */
export async function openDatabaseForReading(path: string): Promise<Database> {
  const Driver = await loadDriver();
  await refuseMissing(path);
  await refuseOther(path);
  let database: Database | undefined;
  try {
    database = new Driver(path, { readonly: true, timeout: 0 });
    // The first read takes a lock that is held until `close`.
    const version = Number(database.pragma('user_version', { simple: true }));
    if (version !== SCHEMA_VERSION) throw new Error(olderVersion(version));
    return database;
  } catch (error) {
    database?.close();
    throw new StoreError(`the store ${path} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

function olderVersion(version: number): string {
  return `it has version ${version}, written by an older TrueMQ; a start of the broker brings it to version ${SCHEMA_VERSION}`;
}

/**
 * The driver opens a database in memory, or a temporary one, under these names: everything in it would be lost. Of other names it leaves out white
 * space at the ends, and so opens another file than the one whose header was read.
 */
export function refuseNoFile(path: string): void {
  const name = path.trim();
  const refuse = (reason: string): never => {
    throw new StoreError(`the store ${JSON.stringify(path)} cannot be used: ${reason}`);
  };
  if (['', ':memory:'].includes(name)) refuse('it is not the name of a file');
  if (name !== path) refuse(WHITE_SPACE_AT_THE_ENDS);
}

/** Rejects with StoreError when there is no store at the path. (A broker would create one.) */
export async function refuseMissing(path: string): Promise<void> {
  refuseNoFile(path);
  const { kind } = await readFileHeader(path);
  if (kind === 'absent') throw new StoreError(`the store ${path} cannot be used: there is no such file`);
  if (kind === 'empty') throw new StoreError(`the store ${path} cannot be used: the file is empty`);
}

/** Rejects with StoreError when the path cannot be a file of this broker. Reads only. */
async function refuseOther(path: string): Promise<void> {
  const header = await readFileHeader(path);
  const refuse = (reason: string): never => {
    throw new StoreError(`the store ${path} cannot be used: ${reason}`);
  };
  switch (header.kind) {
    case 'absent':
    case 'empty':
      return;
    case 'unreadable':
      return refuse(header.reason);
    case 'foreign':
      return refuse('it is not an SQLite database; nothing was changed');
    case 'database':
      if (header.applicationId !== APPLICATION_ID) {
        return refuse('it is a database of another program; nothing was changed');
      }
      if (header.userVersion > SCHEMA_VERSION) {
        return refuse(
          `it has version ${header.userVersion}, written by a newer TrueMQ; this one reads up to ${SCHEMA_VERSION}. Nothing was changed`,
        );
      }
  }
}

/**
 * Rejects with StoreError when the file is not writable. SQLite would open such a file for reading and fail to lock it later, with an error
 * that does not name the reason.
 */
async function refuseUnwritable(path: string): Promise<void> {
  const refuse = (reason: string) => () => {
    throw new StoreError(`the store ${path} cannot be used: ${reason}`);
  };
  const folder = dirname(path);
  await access(folder, constants.W_OK).catch(
    refuse(`the folder ${folder} does not exist or cannot be written to`),
  );
  const { kind } = await readFileHeader(path);
  if (kind !== 'absent') await access(path, constants.W_OK).catch(refuse('the file cannot be written to'));
}

/** Locks the file, so that no other process can even read it: two brokers on one store would deliver every message twice. */
function lock(database: Database): void {
  database.pragma('locking_mode = EXCLUSIVE');
  database.exec('BEGIN EXCLUSIVE; COMMIT');
}

function prepareFile(database: Database, synchronous: SqliteOptions['synchronous']): void {
  // Checked again: opening the file rolls back a migration that a crash interrupted.
  const version = Number(database.pragma('user_version', { simple: true }));
  // The version must stand in the file itself, not in a write-ahead log beside it.
  if (version !== SCHEMA_VERSION) database.pragma('journal_mode = DELETE');
  migrate(database, version);
  database.pragma('journal_mode = WAL');
  database.pragma(`synchronous = ${synchronous}`);
  database.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT_BYTES}`);
  database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
}

const reasons: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'it is locked: another broker uses it',
  SQLITE_CANTOPEN: 'the file or its folder cannot be opened for writing',
  SQLITE_READONLY: 'the file or its folder cannot be written to',
  SQLITE_NOTADB: 'it is not an SQLite database',
  SQLITE_CORRUPT:
    'it is damaged; restore a copy, or save what can be read with the sqlite3 command ".recover"',
  SQLITE_FULL: 'the disk is full',
  SQLITE_IOERR: 'the disk fails to read or to write',
};

/** What an error of the driver means for the operator. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = 'code' in error ? String(error.code) : '';
  const known = Object.keys(reasons).find((name) => code === name || code.startsWith(`${name}_`));
  return known === undefined ? error.message : `${reasons[known]} (${code})`;
}
