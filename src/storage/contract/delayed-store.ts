// A store that answers a few turns of the event loop later than the one behind it. Each store must work like this too: the port
// lets a store answer at once or by a promise, and the broker then calls it at other moments.

import type { StorageProvider } from '../storage-provider.ts';
import type { StorePlace, StoreUnderTest } from './contract-case.ts';

export function delayedStore(store: StorageProvider): StorageProvider {
  return {
    async *recover() {
      for await (const record of store.recover()) {
        await turns(1);
        yield record;
      }
    },
    commit: async (records) => {
      await turns(3);
      const answer = await store.commit(records);
      await turns(1);
      return answer;
    },
    close: async () => {
      await turns(1);
      return store.close();
    },
  };
}

/** The same kind of store, with every store that is opened delayed. */
export function delayedStoreUnderTest({ newPlace, isDurable }: StoreUnderTest): StoreUnderTest {
  return { newPlace: async () => delayedPlace(await newPlace()), isDurable };
}

function delayedPlace(place: StorePlace): StorePlace {
  return {
    open: async () => delayedStore(await place.open()),
    copy: async () => delayedPlace(await place.copy()),
    remove: () => place.remove(),
  };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}
