// `truemq store export`: writes the store as lines of JSON, as fast as the output accepts them. Does not keep them in memory. Only
// reads the store.

import { type FileHandle, open, unlink } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openStoreFile } from '../../storage/sqlite/store-file.ts';
import { StoreError } from '../../storage/storage-provider.ts';
import { type CommandContext, ExitCode } from '../command.ts';
import { untilInterrupted } from './interruption.ts';
import { storeTextLines } from './store-text.ts';

/** Characters per write: one write per line takes several times as long. */
const CHUNK_LENGTH = 65_536;

/** Writes to the file `output`, which must not exist, or to stdout. */
export async function exportStore(
  path: string,
  output: string | undefined,
  context: CommandContext,
): Promise<ExitCode> {
  // A reader of stdout sees by the last line that the text was cut off.
  if (output === undefined)
    return writeText(path, (lines) => pipeline(lines, context.stdout, { end: false }));
  return untilInterrupted(context, `the store ${path} was not exported`, (signal) =>
    writeText(path, (lines) => intoNewFile(output, lines, signal)),
  );
}

async function writeText(path: string, write: (lines: Readable) => Promise<void>): Promise<ExitCode> {
  const file = await openStoreFile(path);
  try {
    const lines = Readable.from(inChunks(storeTextLines(file.records())), { highWaterMark: 4 });
    await write(lines);
    return ExitCode.Done;
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError(`the store ${path} was not exported: ${reason}`, { cause: error });
  } finally {
    await file.close();
  }
}

/** Removes the file again when not all of the text is in it: a text that was cut off helps nobody, and would be in the way of the next one. */
async function intoNewFile(path: string, lines: Readable, signal: AbortSignal): Promise<void> {
  const handle = await newFile(path);
  try {
    await pipeline(lines, handle.createWriteStream(), { signal });
  } catch (error) {
    await unlink(path).catch(() => undefined);
    throw error;
  }
}

function newFile(path: string): Promise<FileHandle> {
  return open(path, 'wx').catch((error: unknown) => {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    throw new Error(`${path} exists; an export makes a new file and overwrites nothing`, { cause: error });
  });
}

function* inChunks(lines: Iterable<string>): Iterable<string> {
  let chunk = '';
  for (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  yield chunk;
}
