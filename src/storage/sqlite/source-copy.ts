// A copy of another program's database file, made so that the file, its log and its folder stay as they are: SQLite would create or change files
// beside it even for reading. Refuses a file that another program uses, as far as that can be seen.

import type { BigIntStats } from 'node:fs';
import { chmod, constants, copyFile, link, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { StoreError } from '../storage-provider.ts';
import { type Database, loadDriver } from './driver.ts';

/** The file, its write-ahead log, and the journal of a transaction that a crash has interrupted. */
const SUFFIXES = ['', '-wal', '-journal'] as const;

/**
 * Copies the file and what belongs to it into `folder`, which is empty; returns the path of the copy. Rejects with StoreError when another
 * program has the file open in write-ahead mode, or changes it during the copy.
 */
export async function copySource(path: string, folder: string): Promise<string> {
  await refuseOpened(path, join(folder, 'probe.db'));
  const copy = join(folder, 'source.db');
  const before = await stateOf(path);
  for (const suffix of SUFFIXES) await copyIfThere(path + suffix, copy + suffix);
  if ((await stateOf(path)) !== before) throw inUse(path);
  return copy;
}

function inUse(path: string): StoreError {
  return new StoreError(
    `the database ${path} cannot be imported: another program uses it; stop that broker first`,
  );
}

/**
 * Tries to lock the file under another name, so that SQLite does not look for the files beside it. Nothing is written. Says nothing where such
 * a name cannot be made: on another file system, or without the right to write to the file.
 */
async function refuseOpened(path: string, probe: string): Promise<void> {
  const isLinked = await link(path, probe).then(
    () => true,
    () => false,
  );
  if (!isLinked) return;
  try {
    if (await isLocked(probe)) throw inUse(path);
  } finally {
    for (const suffix of [...SUFFIXES, '-shm']) await rm(probe + suffix, { force: true });
  }
}

async function isLocked(path: string): Promise<boolean> {
  const Driver = await loadDriver();
  let database: Database | undefined;
  try {
    database = new Driver(path, { timeout: 0 });
    database.pragma('locking_mode = EXCLUSIVE');
    database.exec('BEGIN EXCLUSIVE; ROLLBACK');
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
  } finally {
    database?.close();
  }
}

async function copyIfThere(from: string, to: string): Promise<void> {
  if ((await statOf(from)) === undefined) return;
  await copyFile(from, to, constants.COPYFILE_FICLONE);
  // The copy of a file that nobody may write to could not be opened.
  await chmod(to, 0o600);
}

/** Differs when one of the files was written, replaced, created or removed. */
async function stateOf(path: string): Promise<string> {
  const stats = await Promise.all(SUFFIXES.map((suffix) => statOf(path + suffix)));
  return stats
    .map((found) => (found === undefined ? '' : `${found.ino} ${found.size} ${found.mtimeNs}`))
    .join('\n');
}

function statOf(path: string): Promise<BigIntStats | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}
