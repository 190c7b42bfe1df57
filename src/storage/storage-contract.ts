// The contract of storage-provider.ts as a list of cases. Each implementation passes all of them, once as it is and once delayed. The cases
// test only what the port promises, and need no test framework: pass them to the one you use. docs/guides/write-a-store.md shows how.

import { casesOfDurableStores } from './contract/cases-of-durable-stores.ts';
import { casesOfEveryStore } from './contract/cases-of-every-store.ts';
import type { ContractCase, PlaceCase, StoreUnderTest } from './contract/contract-case.ts';
import { delayedStoreUnderTest } from './contract/delayed-store.ts';
import { randomHistoryCase } from './contract/random-history-case.ts';
import { withPlace } from './contract/recovery-check.ts';

export type ContractOptions = {
  /** Repeats the random histories of a failure, which names its seed. A whole number; absent: another one in each run. */
  readonly seed?: number;
};

/** The cases for one kind of store. They are independent of each other and may run in any order, also at the same time. */
export function storageContract(
  store: StoreUnderTest,
  { seed = Math.floor(Math.random() * 2 ** 31) }: ContractOptions = {},
): readonly ContractCase[] {
  const durable = store.isDurable ? [...casesOfDurableStores, randomHistoryCase(seed)] : [];
  const cases = [...casesOfEveryStore, ...durable];
  return [
    ...cases.map((each) => tied(each, 'as it is', store)),
    ...cases.map((each) => tied(each, 'delayed', delayedStoreUnderTest(store))),
  ];
}

function tied({ name, check }: PlaceCase, variant: string, store: StoreUnderTest): ContractCase {
  return { name: `${variant}: ${name}`, run: async () => withPlace(await store.newPlace(), check) };
}
