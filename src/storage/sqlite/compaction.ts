// Makes the file of a store as small as its contents: a file that was once full keeps its size, and its free pages are filled before it
// grows again. Each step is a transaction, so a crash leaves the store as it was before or after the step.

import { realpath, stat } from 'node:fs/promises';
import { StoreError } from '../storage-provider.ts';
import { EndedQueues } from './ended-queues.ts';
import { openDatabase, reasonOf, refuseMissing } from './open-database.ts';

export type Compaction = { readonly bytesBefore: number; readonly bytesAfter: number };

/**
 * Compacts the file, its write-ahead log included. Needs disk space for the result twice: in the folder of the file and in the folder for
 * temporary files.
 * @throws StoreError when the file cannot be used, or the disk is full; nothing is lost then
 */
export async function compactStore(path: string): Promise<Compaction> {
  await refuseMissing(path);
  const bytesBefore = await bytesOf(path);
  const database = await openDatabase({ path, synchronous: 'full' });
  try {
    const ended = new EndedQueues(database);
    while (!ended.isEmpty) database.transaction(() => ended.removeSlice())();
    database.exec('VACUUM');
    database.pragma('wal_checkpoint(TRUNCATE)');
  } catch (error) {
    throw new StoreError(
      `the store ${path} cannot be compacted, and is as it was: ${reasonOf(error)}${advice(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    database.close();
  }
  return { bytesBefore, bytesAfter: await bytesOf(path) };
}

function advice(error: unknown): string {
  const isFull = error instanceof Error && 'code' in error && error.code === 'SQLITE_FULL';
  return isFull
    ? '; it needs room for a copy in the folder of the file, and for another one among the temporary files (SQLITE_TMPDIR names another folder for these)'
    : '';
}

async function bytesOf(path: string): Promise<number> {
  // The log is beside the file itself, not beside a symbolic link to it.
  const place = await realpath(path).catch(() => path);
  const sizes = [place, `${place}-wal`].map((each) =>
    stat(each).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
