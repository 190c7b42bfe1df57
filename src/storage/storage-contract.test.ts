// The contract suite can fail: a store without a fault passes every case, and for each case there is a broken store that it finds.

import { describe, expect, it } from 'vitest';
import type { RecoveredRecord, StoreRecord } from '../broker/interface/store-record.ts';
import { type BrokenStore, brokenStores } from '../testing/broken-stores.ts';
import { openLoggedStore, type StoreLog } from '../testing/logged-store.ts';
import type { ContractCase, StoreUnderTest } from './contract/contract-case.ts';
import { randomBatches } from './contract/random-batches.ts';
import { storageContract } from './storage-contract.ts';
import type { StorageProvider } from './storage-provider.ts';

const SEED = 17;

function storeOn(open: (log: StoreLog) => StorageProvider, isDurable = true): StoreUnderTest {
  const placeOf = (log: StoreLog) => ({
    open: async () => open(log),
    copy: async () => placeOf({ batches: [...log.batches] }),
    remove: async () => undefined,
  });
  return { isDurable, newPlace: async () => placeOf({ batches: [] }) };
}

/** The names of the cases that fail, with the reasons. */
async function failuresOf(cases: readonly ContractCase[]): Promise<ReadonlyMap<string, string>> {
  const failures = new Map<string, string>();
  for (const { name, run } of cases) await run().catch((error) => failures.set(name, String(error)));
  return failures;
}

describe('the contract suite', () => {
  it('is passed by a store without a fault, and has each case in both variants', async () => {
    const cases = storageContract(storeOn(openLoggedStore));
    expect(await failuresOf(cases)).toEqual(new Map());
    const [first, second] = ['as it is: ', 'delayed: '].map((variant) =>
      cases.filter(({ name }) => name.startsWith(variant)).map(({ name }) => name.slice(variant.length)),
    );
    expect(first).toEqual(second);
    expect(new Set(first).size).toBe(cases.length / 2);
  });

  it('asks nothing about recovery of a store that is not durable', async () => {
    const forgetful = storeOn(() => openLoggedStore({ batches: [] }), false);
    const cases = storageContract(forgetful);
    expect(cases).toHaveLength(12);
    expect(await failuresOf(cases)).toEqual(new Map());
  });

  it.each(brokenStores.map((broken) => [broken.fault, broken.foundBy, broken.open] as const))(
    'finds a store that %s, by "%s"',
    async (_fault, foundBy, open) => {
      const cases = storageContract(storeOn(open), { seed: SEED });
      const failures = await failuresOf(cases.filter(({ name }) => name.startsWith(foundBy)));
      expect(failures.size).toBe(1);
    },
  );

  it('has no case that no broken store fails', () => {
    const names = storageContract(storeOn(openLoggedStore)).map(({ name }) => name);
    const proven = (name: string) => brokenStores.some(({ foundBy }) => name.startsWith(foundBy));
    const unproven = names.filter((name) => name.startsWith('as it is: ') && !proven(name));
    expect(unproven).toEqual([]);
  });
});

describe('a random history', () => {
  const broken = (fault: string) => {
    const found: BrokenStore | undefined = brokenStores.find((store) => store.fault === fault);
    if (found === undefined) throw new Error(`No store ${fault}.`);
    return storeOn(found.open);
  };
  const historyOf = (store: StoreUnderTest, seed: number) =>
    storageContract(store, { seed }).filter(({ name }) => name.includes('as it is: keeps what a list'));

  it('that fails names its seed, and a suite with this seed begins with it', async () => {
    const store = broken('forgets failed attempts of dead letters');
    const [message = ''] = (await failuresOf(historyOf(store, SEED))).values();
    const seed = Number(/the history of seed (\d+) fails/.exec(message)?.[1]);
    expect(seed).toBeGreaterThanOrEqual(SEED);
    const [again = ''] = (await failuresOf(historyOf(store, seed))).values();
    expect(again).toBe(message);
  });

  it('follows from its seed, and is another one with another seed', () => {
    expect(randomBatches(SEED)).toEqual(randomBatches(SEED));
    expect(randomBatches(SEED)).not.toEqual(randomBatches(SEED + 1));
  });

  it('has records of every kind, among thirty', () => {
    const seeds = Array.from({ length: 30 }, (_, index) => SEED + index);
    const records: readonly StoreRecord[] = seeds.flatMap((seed) => randomBatches(seed).flat());
    const counts = new Map<StoreRecord['kind'] | RecoveredRecord['kind'], number>();
    for (const { kind } of records) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    expect(counts.size).toBe(6);
    expect(Math.min(...counts.values())).toBeGreaterThan(20);
  });
});
