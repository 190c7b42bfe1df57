// The simplest durable store: a list of the committed batches, replayed at a recovery. It is correct; the broken stores are made from it.

import type { RecoveredRecord, StoreRecord } from '../broker/interface/store-record.ts';
import { KeptRecords } from '../storage/contract/kept-records.ts';

export type StoreLog = { readonly batches: (readonly StoreRecord[])[] };

/** A synchronous StorageProvider. */
export type LoggedStore = {
  recover(): readonly RecoveredRecord[];
  commit(records: readonly StoreRecord[]): void;
  close(): void;
};

export function openLoggedStore(log: StoreLog): LoggedStore {
  return {
    recover: () => replayed(log.batches.flat()),
    commit: (records) => void log.batches.push([...records]),
    close: () => undefined,
  };
}

/** The state after these records. */
export function replayed(records: readonly StoreRecord[]): readonly RecoveredRecord[] {
  const kept = new KeptRecords();
  kept.take(records);
  return kept.recovered();
}
