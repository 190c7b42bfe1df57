// How the cases of the contract suite use a store and compare the recovered records with the expected ones.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { RecoveredRecord, StoreRecord } from '../../broker/interface/store-record.ts';
import type { StorageProvider } from '../storage-provider.ts';
import type { StorePlace } from './contract-case.ts';

/** Longer contents are shown by their digest, so that a failure message stays readable. */
const MAX_SHOWN_BYTES = 64;

/** Uses the place, and removes it, also after a failure. */
export async function withPlace(place: StorePlace, use: (place: StorePlace) => Promise<void>): Promise<void> {
  try {
    await use(place);
  } finally {
    await place.remove();
  }
}

/** Opens the store, uses it, and closes it, also after a failure. */
export async function withStore<Result>(
  place: StorePlace,
  use: (store: StorageProvider) => Promise<Result>,
): Promise<Result> {
  const store = await place.open();
  const result = await use(store).catch(async (error: unknown) => {
    await closeQuietly(store);
    throw error;
  });
  await store.close();
  return result;
}

/** Opens the store, recovers, commits the batches one after the other, and closes it. */
export function commitAll(place: StorePlace, batches: readonly (readonly StoreRecord[])[]): Promise<void> {
  return withStore(place, async (store) => {
    await recoverFrom(store);
    for (const records of batches) await store.commit(records);
  });
}

/** Everything that a store which is opened there now gives back. */
export function recoveredAt(place: StorePlace): Promise<readonly RecoveredRecord[]> {
  return withStore(place, recoverFrom);
}

/** Everything that the store gives back. Fails when a content is not a Uint8Array. */
export async function recoverFrom(store: StorageProvider): Promise<readonly RecoveredRecord[]> {
  const records: RecoveredRecord[] = [];
  for await (const record of store.recover()) {
    if (record.kind === 'message')
      assert.ok(record.content instanceof Uint8Array, `the content of message ${record.id} is no Uint8Array`);
    records.push(record);
  }
  return records;
}

/** Fails unless the same records were given back in the same order, their contents byte for byte. */
export function assertRecovered(
  actual: readonly RecoveredRecord[],
  expected: readonly RecoveredRecord[],
): void {
  assert.deepStrictEqual(actual.map(comparable), expected.map(comparable));
}

/** The sequences of the recovered messages. */
export function sequencesOf(recovered: readonly RecoveredRecord[]): readonly number[] {
  return recovered.flatMap((record) => (record.kind === 'message' ? [record.sequence] : []));
}

/** A property that is undefined counts as absent, and it does not matter which kind of object or Uint8Array it is. */
function comparable(record: RecoveredRecord): object {
  if (record.kind === 'queue')
    return { ...withoutUndefined(record), options: withoutUndefined(record.options) };
  const { deadLetter, content, ...rest } = record;
  const facts = deadLetter === undefined ? {} : { deadLetter: withoutUndefined(deadLetter) };
  return { ...withoutUndefined(rest), ...facts, content: shown(content as Uint8Array) };
}

function withoutUndefined(value: object): object {
  return Object.fromEntries(Object.entries(value).filter(([, property]) => property !== undefined));
}

function shown(bytes: Uint8Array): string {
  if (bytes.length <= MAX_SHOWN_BYTES) return Buffer.from(bytes).toString('hex');
  return `${bytes.length} bytes with SHA-256 ${createHash('sha256').update(bytes).digest('hex')}`;
}

async function closeQuietly(store: StorageProvider): Promise<void> {
  try {
    await store.close();
  } catch {
    // The failure that came before says more.
  }
}
