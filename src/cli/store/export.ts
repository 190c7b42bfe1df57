// `truemq store export`: writes the store as lines of JSON, as fast as the output accepts them. Does not keep them in memory. Reads only.

import { createWriteStream } from 'node:fs';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openStoreFile } from '../../storage/sqlite/store-file.ts';
import { StoreError } from '../../storage/storage-provider.ts';
import { type CommandContext, ExitCode } from '../command.ts';
import { storeTextLines } from './store-text.ts';

/** Characters per write: one write per line takes several times as long. */
const CHUNK_LENGTH = 65_536;

/** Writes to the file `output`, which must not exist, or to stdout. */
export async function exportStore(
  path: string,
  output: string | undefined,
  { stdout }: CommandContext,
): Promise<ExitCode> {
  const file = await openStoreFile(path);
  try {
    const lines = Readable.from(inChunks(storeTextLines(file.records())), { highWaterMark: 4 });
    if (output === undefined) await pipeline(lines, stdout, { end: false });
    else await pipeline(lines, newFile(output));
    return ExitCode.Done;
  } catch (error) {
    if (error instanceof StoreError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreError(`the store ${path} was not exported: ${reason}`, { cause: error });
  } finally {
    await file.close();
  }
}

function newFile(path: string): Writable {
  return createWriteStream(path, { flags: 'wx' });
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
