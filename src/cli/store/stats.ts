// `truemq store stats`: the contents of a store and the size of its file, for people or programs. Reads only.

import { type FileFigures, openStoreFile, type QueueFigures } from '../../storage/sqlite/store-file.ts';
import { type CommandContext, ExitCode } from '../command.ts';
import { formatBytes } from './bytes.ts';

export async function showStatistics(
  path: string,
  { asJson }: { readonly asJson: boolean },
  { stdout }: CommandContext,
): Promise<ExitCode> {
  const file = await openStoreFile(path);
  try {
    const [queues, figures] = [file.queueFigures(), await file.fileFigures()];
    stdout.write(asJson ? jsonOf(path, queues, figures) : tableOf(path, queues, figures));
    return ExitCode.Done;
  } finally {
    await file.close();
  }
}

function jsonOf(path: string, queues: readonly QueueFigures[], file: FileFigures): string {
  const withTimes = queues.map(({ oldestWallAt, ...queue }) => ({
    ...queue,
    oldestAt: timeOf(oldestWallAt),
  }));
  return `${JSON.stringify({ path, ...file, queues: withTimes })}\n`;
}

function tableOf(path: string, queues: readonly QueueFigures[], file: FileFigures): string {
  const rows = queues.map(({ name, messageCount, deadLetterCount, bytes, oldestWallAt }) => [
    name,
    String(messageCount),
    String(deadLetterCount),
    formatBytes(bytes),
    timeOf(oldestWallAt) ?? '-',
  ]);
  const table = [['queue', 'messages', 'dead letters', 'content', 'oldest'], ...rows];
  const widths =
    table[0]?.map((_, column) => table.reduce((most, row) => Math.max(most, row[column]?.length ?? 0), 0)) ??
    [];
  const lines = table.map((row) =>
    row
      .map((cell, column) =>
        column === 0 || column === 4 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd(),
  );
  return `${[...lines, '', sizeLine(path, file)].join('\n')}\n`;
}

function sizeLine(path: string, file: FileFigures): string {
  const { fileBytes, writeAheadLogBytes, pageBytes, freePageCount } = file;
  const free = formatBytes(freePageCount * pageBytes);
  return `${path}: ${formatBytes(fileBytes)}, of these free ${free}; write-ahead log ${formatBytes(writeAheadLogBytes)}`;
}

/** Undefined also for the impossible time of a damaged file, of which "store check" tells. */
function timeOf(wallAt: number | undefined): string | undefined {
  const time = new Date(wallAt ?? Number.NaN);
  return Number.isNaN(time.getTime()) ? undefined : time.toISOString();
}
