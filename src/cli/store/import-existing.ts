// `truemq store import --from-existing`: takes the database of an existing broker into a store, which it creates if it is missing. Lists every row
// that cannot be taken. Changes nothing of the source.

import { dirname } from 'node:path';
import { type ExistingDatabase, openExistingDatabase } from '../../storage/sqlite/existing-database.ts';
import { openSqliteStore } from '../../storage/sqlite/sqlite-store.ts';
import { type CommandContext, ExitCode } from '../command.ts';
import { ExistingImport, type ImportListener, type RowCounts } from './existing/existing-import.ts';
import { ImportTarget } from './existing/import-target.ts';
import { untilInterrupted } from './interruption.ts';

/** Fails, after everything else was taken, if a row was not. */
export async function importExisting(
  sourcePath: string,
  targetPath: string,
  context: CommandContext,
): Promise<ExitCode> {
  const told = `what was taken into ${targetPath} stays, and the same command takes the rest`;
  return untilInterrupted(context, told, (interruption) =>
    importRows(sourcePath, targetPath, interruption, context),
  );
}

async function importRows(
  sourcePath: string,
  targetPath: string,
  interruption: AbortSignal,
  { stdout, stderr }: CommandContext,
): Promise<ExitCode> {
  const source = await openExistingDatabase(sourcePath, dirname(targetPath));
  try {
    const listener: ImportListener = {
      refused: (table, key, reason) => void stderr.write(`truemq: not taken: ${table} ${key}: ${reason}\n`),
      differs: (queue) =>
        void stderr.write(`truemq: queue ${JSON.stringify(queue)} is there with other options, which stay\n`),
    };
    interruption.throwIfAborted();
    const { counts } = await importInto(targetPath, source, listener, interruption);
    stdout.write(summary(targetPath, counts));
    const hasRefused = Object.values(counts).some(({ refused }) => refused > 0);
    return hasRefused ? ExitCode.Failed : ExitCode.Done;
  } finally {
    await source.close();
  }
}

async function importInto(
  path: string,
  source: ExistingDatabase,
  listener: ImportListener,
  interruption: AbortSignal,
): Promise<ExistingImport> {
  const store = await openSqliteStore({ path, synchronous: 'full' });
  try {
    const running = new ExistingImport(source, await ImportTarget.load(store), listener, interruption);
    await running.run();
    return running;
  } finally {
    await store.close();
  }
}

function summary(path: string, counts: ExistingImport['counts']): string {
  const line = (title: string, key: keyof RowCounts) => {
    const { queues, messages, dead_letters: letters } = counts;
    return `  ${title.padEnd(18)} queues ${queues[key]}, messages ${messages[key]}, dead letters ${letters[key]}\n`;
  };
  return `${path}\n${line('taken', 'taken')}${line('present already', 'present')}${line('not taken', 'refused')}`;
}
