// The contract suite of storage/storage-contract.ts as tests of vitest. Random histories follow the seed of the test run.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoreUnderTest } from '../storage/contract/contract-case.ts';
import { storageContract } from '../storage/storage-contract.ts';

/** Declares the suite for one kind of store. */
export function describeStorageContract(name: string, store: StoreUnderTest): void {
  const { seed } = fc.readConfigureGlobal();
  describe(name, () => {
    for (const { name: title, run } of storageContract(store, seed === undefined ? {} : { seed })) {
      it(title, async () => {
        await expect(run()).resolves.toBeUndefined();
      });
    }
  });
}
