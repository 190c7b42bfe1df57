// Power cuts, which kill -9 cannot show: whatever the disk has kept of unsynced writes, the store recovers every committed batch, the one
// under way completely or not at all, and nothing else. Hundreds of damaged files are opened with the real store.

import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MessageContent } from '../../broker/interface/message-content.ts';
import type { RecoveredRecord, StoreRecord } from '../../broker/interface/store-record.ts';
import {
  type FileSnapshot,
  isLogRestarted,
  layOut,
  takeSnapshot,
  type Wreck,
  wrecksOfCheckpoint,
  wrecksOfCommit,
} from '../../testing/power-cut.ts';
import { Random } from '../../testing/simulation/random.ts';
import { newFolder } from '../contract/file-place.ts';
import { KeptRecords } from '../contract/kept-records.ts';
import { bytesOf, contentOf } from '../contract/message-contents.ts';
import { randomBatches } from '../contract/random-batches.ts';
import { StoreError } from '../storage-provider.ts';
import { openDatabase } from './open-database.ts';
import { openSqliteStore, sqliteStoreOn } from './sqlite-store.ts';

const seed = Number(process.env['TRUEMQ_SEED'] ?? Date.now() % 1_000_000);
const COMMITS = 30;

let folder: string;

beforeEach(async () => {
  folder = await newFolder();
});

afterEach(() => rm(folder, { recursive: true, force: true }));

type Moment = { readonly snapshot: FileSnapshot; readonly kept: readonly RecoveredRecord[] };

/** Batches of a broker's life, large enough to take several pages each. */
function batches(chosen: number): readonly (readonly StoreRecord[])[] {
  const lives = Array.from({ length: 40 }, (_, index) => randomBatches(chosen + index));
  const longest = lives.reduce((best, life) => (size(life) > size(best) ? life : best));
  return longest.map((records) => records.map(enlarged)).slice(0, COMMITS);
}

function size(life: readonly (readonly StoreRecord[])[]): number {
  return life.length * 1_000 + life.flat().length;
}

function enlarged(record: StoreRecord): StoreRecord {
  if (record.kind === 'messageAdded') return { ...record, content: repeated(record.content, 80) };
  if (record.kind !== 'deadLettered') return record;
  return { ...record, to: { ...record.to, content: repeated(record.to.content, 1) } };
}

/** A Buffer, as the store gives back. */
function repeated(content: MessageContent, times: number): MessageContent {
  return contentOf(Buffer.concat(new Array<Uint8Array>(times).fill(bytesOf(content))));
}

/** What is on the disk after each commit, and what the store owes then. */
async function life(chosen: number): Promise<readonly Moment[]> {
  const path = join(folder, 'running.db');
  const database = await openDatabase({ path, synchronous: 'full' });
  // So that there are checkpoints among so few commits.
  database.pragma('wal_autocheckpoint = 10');
  const store = sqliteStoreOn(database);
  const kept = new KeptRecords();
  const moments: Moment[] = [{ snapshot: await takeSnapshot(path), kept: [] }];
  for (const records of batches(chosen)) {
    await store.commit(records);
    kept.take(records);
    moments.push({ snapshot: await takeSnapshot(path), kept: kept.recovered() });
  }
  await store.close();
  return moments;
}

/** What the store finds in a wreck, or why it finds nothing. */
async function found(snapshot: FileSnapshot): Promise<readonly RecoveredRecord[] | StoreError> {
  const path = join(folder, 'wreck.db');
  await layOut(snapshot, path);
  try {
    return await recovered(path);
  } catch (error) {
    if (error instanceof StoreError) return error;
    throw error;
  }
}

async function recovered(path: string): Promise<readonly RecoveredRecord[]> {
  const store = await openSqliteStore({ path, synchronous: 'normal' });
  const records: RecoveredRecord[] = [];
  for await (const record of store.recover()) records.push(record);
  await store.close();
  return records;
}

/** What is wrong with what was found in a wreck; undefined when it is one of the two that it may be. */
function complaint(
  { how, finds }: Wreck,
  records: readonly RecoveredRecord[] | StoreError,
  [before, after]: readonly [Moment, Moment],
): string | undefined {
  if (records instanceof StoreError) return `${how}: ${records.message}`;
  const isBefore = isDeepStrictEqual(records, before.kept);
  const isAfter = isDeepStrictEqual(records, after.kept);
  if ((isBefore && finds !== 'after') || (isAfter && finds !== 'before')) return undefined;
  return `${how}: ${records.length} records are neither the ${before.kept.length} before nor the ${after.kept.length} after, as ${finds} would be`;
}

describe('after a loss of power', () => {
  it('everything committed is there, the commit under way whole or not at all, nothing else [DURABLE-003, DURABLE-004]', async () => {
    const moments = await life(seed);
    const random = new Random(seed);
    const seen = { wrecks: 0, restarts: 0, checkpoints: 0, after: 0 };
    const complaints: string[] = [];
    for (const [index, after] of moments.entries()) {
      const before = moments[index - 1];
      if (before === undefined || before.snapshot.log.equals(after.snapshot.log)) continue;
      if (isLogRestarted(before.snapshot, after.snapshot)) seen.restarts += 1;
      if (!before.snapshot.file.equals(after.snapshot.file)) seen.checkpoints += 1;
      const snapshots = [before.snapshot, after.snapshot, random] as const;
      for (const wreck of [...wrecksOfCommit(...snapshots), ...wrecksOfCheckpoint(...snapshots)]) {
        const records = await found(wreck);
        seen.wrecks += 1;
        if (isDeepStrictEqual(records, after.kept)) seen.after += 1;
        const problem = complaint(wreck, records, [before, after]);
        if (problem !== undefined) complaints.push(`commit ${index}: ${problem}`);
      }
    }
    expect({ seed, complaints }).toEqual({ seed, complaints: [] });
    // The wrecks were of every kind, and some kept the commit under way.
    expect(seen.wrecks).toBeGreaterThan(200);
    expect(seen.checkpoints).toBeGreaterThan(1);
    expect(seen.restarts).toBeGreaterThan(1);
    expect(seen.after).toBeGreaterThan(10);
    expect(seen.after).toBeLessThan(seen.wrecks);
  });

  it('a loss would be seen: a log that lacks what was synced, and a batch that is half there', async () => {
    // In few lives no commit makes the log longer: it is written anew each time.
    const moments = await life(1);
    const index = moments.findIndex(
      ({ snapshot, kept }, at) =>
        at > 2 && kept.length > 3 && snapshot.log.length > (moments[at - 1]?.snapshot.log.length ?? 0),
    );
    const [before, after] = [moments[index - 1], moments[index]];
    if (before === undefined || after === undefined) throw new Error('No commit made the log longer.');
    const cut = {
      file: after.snapshot.file,
      log: after.snapshot.log.subarray(0, after.snapshot.log.length - 8_216),
    };
    const wreck: Wreck = { ...cut, how: 'synced bytes cut off', finds: 'after' };
    expect(complaint(wreck, await found(wreck), [before, after])).toContain('synced bytes cut off');
    const half = after.kept.slice(1);
    expect(complaint({ ...wreck, finds: 'before or after' }, half, [before, after])).toContain('neither');
    expect(complaint(wreck, after.kept, [before, after])).toBeUndefined();
  });
});
