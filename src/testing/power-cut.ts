// The states that a power cut may leave of a database and its write-ahead log. A disk keeps synced writes, and any part of later ones. So a
// snapshot is taken after every commit, when everything is synced, and the states between two snapshots are constructed: the log cut
// anywhere between the two, with or without garbage behind it, its sectors in any order, a partial checkpoint. Relies only on what SQLite
// relies on: synced writes are kept, and a sector is old or new.

import { readFile, writeFile } from 'node:fs/promises';
import type { Random } from './simulation/random.ts';

/** Snapshot of the files at a moment at which they were synced. */
export type FileSnapshot = { readonly file: Buffer; readonly log: Buffer };

export type Wreck = FileSnapshot & {
  readonly how: string;
  /** The commits that a recovery may return: the synced ones, and those that are complete anyway. */
  readonly finds: 'before' | 'before or after' | 'after';
};

const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SECTOR_BYTES = 512;
/** More than a frame of the log. */
const TAIL_BYTES = 8_300;

export async function takeSnapshot(path: string): Promise<FileSnapshot> {
  const read = (each: string) => readFile(each).catch(() => Buffer.alloc(0));
  return { file: await read(path), log: await read(`${path}-wal`) };
}

/** Writes a constructed state to disk, where a store can be opened on it. */
export async function layOut({ file, log }: FileSnapshot, path: string): Promise<void> {
  await writeFile(path, file);
  await writeFile(`${path}-wal`, log);
}

/** Whether the log was restarted in `after`: the file contains the previous log completely. */
export function isLogRestarted(before: FileSnapshot, after: FileSnapshot): boolean {
  return !before.log.subarray(0, LOG_HEADER_BYTES).equals(after.log.subarray(0, LOG_HEADER_BYTES));
}

/** States of a power cut during the commit that leads from `before` to `after`, before its checkpoint if it has one. */
export function* wrecksOfCommit(before: FileSnapshot, after: FileSnapshot, random: Random): Iterable<Wreck> {
  const restarted = isLogRestarted(before, after);
  // A new header is synced before anything behind it is written.
  if (restarted) yield* wrecksOfHeader(before, after);
  const old = restarted ? withNewHeader(before, after) : before.log;
  const whole = after.log.subarray(0, endOfFrames(old, after.log));
  for (const end of cutsBetween(old, after.log, random)) {
    const [name, tail] = random.pick(tails(old.subarray(end), random));
    const log = Buffer.concat([after.log.subarray(0, end), tail]);
    const finds = log.subarray(0, whole.length).equals(whole) ? 'after' : 'before or after';
    yield { file: before.file, log, how: `log cut at ${end}, ${name} behind`, finds };
  }
  for (let round = 0; round < 6; round += 1) {
    const log = mixed(old, after.log, random);
    yield { file: before.file, log, how: 'sectors of the log in any order', finds: 'before or after' };
  }
}

/** States of a power cut during the checkpoint: the log is complete and synced. */
export function* wrecksOfCheckpoint(
  before: FileSnapshot,
  after: FileSnapshot,
  random: Random,
): Iterable<Wreck> {
  if (before.file.equals(after.file)) return;
  for (let round = 0; round < 8; round += 1) {
    const file = mixed(before.file, after.file, random);
    yield { file, log: after.log, how: 'sectors of the file in any order', finds: 'after' };
  }
}

function* wrecksOfHeader(before: FileSnapshot, after: FileSnapshot): Iterable<Wreck> {
  for (let end = 0; end <= LOG_HEADER_BYTES; end += 4) {
    const log = Buffer.concat([after.log.subarray(0, end), before.log.subarray(end)]);
    yield { file: before.file, log, how: `header of the log cut at ${end}`, finds: 'before' };
  }
}

/** Bytes that may follow a cut: the previous bytes, or garbage. */
function tails(old: Buffer, random: Random): readonly (readonly [string, Buffer])[] {
  const garbage = Buffer.from(Array.from({ length: TAIL_BYTES }, () => random.whole(0, 255)));
  return [
    ['the old bytes', old],
    ['garbage', garbage],
    ['zeros', Buffer.alloc(TAIL_BYTES)],
  ];
}

function withNewHeader(before: FileSnapshot, after: FileSnapshot): Buffer {
  const header = after.log.subarray(0, LOG_HEADER_BYTES);
  return Buffer.concat([header, before.log.subarray(LOG_HEADER_BYTES)]);
}

/** Ends of frames, and some places within them, in the part that only the second log has. */
function cutsBetween(old: Buffer, log: Buffer, random: Random): readonly number[] {
  const first = firstDifference(old, log);
  const last = endOfFrames(old, log);
  const pageBytes = pageBytesOf(log);
  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const cuts = new Set<number>([first]);
  for (let at = LOG_HEADER_BYTES; at <= log.length; at += frameBytes) {
    if (at < first) continue;
    for (const end of [
      at - 1,
      at,
      at + 1,
      at + 4,
      at + FRAME_HEADER_BYTES,
      at + random.whole(25, pageBytes),
    ]) {
      if (end >= first && end <= last) cuts.add(end);
    }
  }
  return [...cuts].sort((a, b) => a - b);
}

function firstDifference(a: Buffer, b: Buffer): number {
  const end = Math.min(a.length, b.length);
  for (let at = 0; at < end; at += 1) if (a[at] !== b[at]) return at;
  return end;
}

/** The end of the last frame that only the second log has. The last bytes of a frame may be equal by chance. */
function endOfFrames(old: Buffer, log: Buffer): number {
  const frameBytes = FRAME_HEADER_BYTES + pageBytesOf(log);
  const frameCount = Math.ceil((lastDifference(old, log) - LOG_HEADER_BYTES) / frameBytes);
  return LOG_HEADER_BYTES + Math.max(0, frameCount) * frameBytes;
}

function pageBytesOf(log: Buffer): number {
  return log.readUInt32BE(8);
}

/** Behind the last byte that only the second log has. */
function lastDifference(a: Buffer, b: Buffer): number {
  if (b.length > a.length) return b.length;
  let at = b.length;
  while (at > 0 && a[at - 1] === b[at - 1]) at -= 1;
  return at;
}

function mixed(old: Buffer, young: Buffer, random: Random): Buffer {
  const result = Buffer.alloc(Math.max(old.length, young.length));
  old.copy(result);
  for (let at = 0; at < young.length; at += SECTOR_BYTES) {
    if (random.whole(0, 1) === 1) young.copy(result, at, at, Math.min(at + SECTOR_BYTES, young.length));
  }
  return result;
}
