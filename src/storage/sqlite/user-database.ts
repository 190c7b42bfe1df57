// Opens the file of users exclusively, creates it for its owner's eyes only, and refuses a file that is not a user database before it changes
// anything. Implements AUTH-059.

import { constants } from 'node:fs';
import { access, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UserStoreError } from '../../auth/user-store.ts';
import { type Database, loadDriver, packageProblem } from './driver.ts';
import { type FileHeader, readFileHeader } from './file-header.ts';
import { reasonOf, WHITE_SPACE_AT_THE_ENDS } from './open-database.ts';
import { APPLICATION_ID } from './schema.ts';
import { findTableProblem, migrateUsers, USER_APPLICATION_ID, USER_SCHEMA_VERSION } from './user-schema.ts';

const OWNER_ONLY = 0o600;

/** The open database, locked for this process until it is closed. Rejects with UserStoreError. */
export async function openUserDatabase(path: string): Promise<Database> {
  const Driver = await loadDriver().catch((error) => {
    const problem = `users need ${packageProblem(error.cause)}, or use --auth-database-path :memory:`;
    throw new UserStoreError(problem, { cause: error });
  });
  // The driver would open another file than the one whose header is read here, and that is made for the owner's eyes only.
  if (path.trim() !== path) throw unusable(JSON.stringify(path), WHITE_SPACE_AT_THE_ENDS);
  const header = await readFileHeader(path);
  const refusal = refusalOf(header) ?? (await accessProblem(path, header));
  if (refusal !== undefined) throw unusable(path, refusal);
  let database: Database | undefined;
  try {
    if (header.kind === 'absent') await createFile(path);
    database = new Driver(path, { timeout: 0 });
    prepare(database, header);
    return database;
  } catch (error) {
    database?.close();
    throw unusable(path, reasonOf(error), error);
  }
}

function unusable(path: string, reason: string, cause?: unknown): UserStoreError {
  return new UserStoreError(`the user database ${path} cannot be used: ${reason}`, { cause });
}

/** Why the file cannot be a user database, as far as its header says. */
function refusalOf(header: FileHeader): string | undefined {
  switch (header.kind) {
    case 'absent':
    case 'empty':
      return undefined;
    case 'unreadable':
      return header.reason;
    case 'foreign':
      return 'it is not an SQLite database; nothing was changed';
    case 'database':
      return refusalOfDatabase(header);
  }
}

function refusalOfDatabase({ applicationId, userVersion }: FileHeader & { readonly kind: 'database' }) {
  if (applicationId === APPLICATION_ID) return 'it holds messages: storagePath must be another file';
  // Brokers before this one have no id; their tables are checked when the file is open.
  if (applicationId === 0) return undefined;
  if (applicationId !== USER_APPLICATION_ID)
    return 'it is a database of another program; nothing was changed';
  if (userVersion <= USER_SCHEMA_VERSION) return undefined;
  return `it has version ${userVersion}, written by a newer TrueMQ; this one reads up to ${USER_SCHEMA_VERSION}. Nothing was changed`;
}

/** SQLite would open a read-only file and fail later, with an error that does not name the reason. */
async function accessProblem(path: string, { kind }: FileHeader): Promise<string | undefined> {
  const folder = dirname(path);
  const isWritable = (name: string) =>
    access(name, constants.W_OK).then(
      () => true,
      () => false,
    );
  if (!(await isWritable(folder))) return `the folder ${folder} does not exist or cannot be written to`;
  return kind === 'absent' || (await isWritable(path)) ? undefined : 'the file cannot be written to';
}

/** Hashes of passwords can be guessed at by whoever reads them. SQLite gives the files beside it the same mode. */
async function createFile(path: string): Promise<void> {
  const file = await open(path, 'wx', OWNER_ONLY);
  await file.close();
}

function prepare(database: Database, header: FileHeader): void {
  // Nobody else may even read: a change made elsewhere would reach no open connection.
  database.pragma('locking_mode = EXCLUSIVE');
  database.exec('BEGIN EXCLUSIVE; COMMIT');
  const version = Number(database.pragma('user_version', { simple: true }));
  const isOwn = header.kind !== 'database' || header.applicationId === USER_APPLICATION_ID;
  if (isOwn) migrateUsers(database, version);
  const problem = findTableProblem(database);
  if (problem !== undefined) throw new Error(problem);
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = FULL');
}
