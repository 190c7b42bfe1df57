// The case of random histories: batches as a broker could give them, a crash in between, and a list that says what must be left.
// A failure names the seed of its history; a suite that is given this seed begins with that history.

import type { StoreRecord } from '../../broker/interface/store-record.ts';
import type { StorageProvider } from '../storage-provider.ts';
import type { PlaceCase, StorePlace } from './contract-case.ts';
import { KeptRecords } from './kept-records.ts';
import { randomBatches } from './random-batches.ts';
import { assertRecovered, recoveredAt, recoverFrom, withPlace, withStore } from './recovery-check.ts';

const HISTORY_COUNT = 30;

type Batches = readonly (readonly StoreRecord[])[];

/** Checks the histories of the seed and of those that follow it. */
export function randomHistoryCase(firstSeed: number): PlaceCase {
  return {
    name: 'keeps what a list would keep, whatever the batches, over crashes and restarts',
    check: async (place) => {
      for (let seed = firstSeed; seed < firstSeed + HISTORY_COUNT; seed += 1) await checkSeed(place, seed);
    },
  };
}

async function checkSeed(empty: StorePlace, seed: number): Promise<void> {
  const batches = randomBatches(seed);
  const crashAfter = Math.abs(seed) % (batches.length + 1);
  try {
    await checkHistory(empty, batches.slice(0, crashAfter), batches.slice(crashAfter));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `the history of seed ${seed} fails (${batches.length} batches, a crash after ${crashAfter} of them); the option { seed: ${seed} } begins with it: ${reason}`,
      { cause: error },
    );
  }
}

async function checkHistory(empty: StorePlace, beforeCrash: Batches, afterCrash: Batches): Promise<void> {
  const kept = new KeptRecords();
  await withPlace(await empty.copy(), async (place) => {
    const crashed = await withStore(place, async (store) => {
      await recoverAndCommit(store, beforeCrash, kept);
      return place.copy();
    });
    await withPlace(crashed, async () => {
      await withStore(crashed, (store) => recoverAndCommit(store, afterCrash, kept));
      assertRecovered(await recoveredAt(crashed), kept.recovered());
    });
  });
}

async function recoverAndCommit(store: StorageProvider, batches: Batches, kept: KeptRecords): Promise<void> {
  assertRecovered(await recoverFrom(store), kept.recovered());
  for (const records of batches) {
    await store.commit(records);
    kept.take(records);
  }
}
