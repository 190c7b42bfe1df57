// Reads the first bytes of a file without opening it as a database, which would already change a file after a crash. The layout is SQLite's
// published file format. Reads only.

import { open, stat } from 'node:fs/promises';

export type FileHeader =
  | { readonly kind: 'absent' }
  | { readonly kind: 'empty' }
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** No SQLite database. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'database'; readonly applicationId: number; readonly userVersion: number };

const MAGIC = 'SQLite format 3\0';
const HEADER_BYTES = 100;
const USER_VERSION_OFFSET = 60;
const APPLICATION_ID_OFFSET = 68;

/** Never rejects: an unreadable file is a result too. */
export async function readFileHeader(path: string): Promise<FileHeader> {
  try {
    const what = await stat(path);
    // Opening a pipe would wait, without an end, for somebody who writes to it.
    if (!what.isFile()) {
      return {
        kind: 'unreadable',
        reason: what.isDirectory() ? 'it is a folder' : 'it is not a regular file',
      };
    }
    return describe(await firstBytes(path));
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return { kind: 'absent' };
    return { kind: 'unreadable', reason: error instanceof Error ? error.message : String(error) };
  }
}

function describe(bytes: Buffer): FileHeader {
  if (bytes.length === 0) return { kind: 'empty' };
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC) {
    return { kind: 'foreign' };
  }
  return {
    kind: 'database',
    applicationId: bytes.readUInt32BE(APPLICATION_ID_OFFSET),
    userVersion: bytes.readUInt32BE(USER_VERSION_OFFSET),
  };
}

async function firstBytes(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
