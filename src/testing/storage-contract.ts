// What every store must do, whatever keeps its bytes: one suite that each implementation of the port runs, once as it is and once
// behind a delay. It asks only what the port promises. Whoever writes a store of their own calls `describeStorageContract` from
// a test file; docs/guides/write-a-store.md shows how. Implements the contract of storage-provider.ts.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { RecoveredRecord, StoredMessage, StoreRecord } from '../broker/interface/store-record.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';
import type { StorageProvider } from '../storage/storage-provider.ts';
import { KeptRecords } from './kept-records.ts';
import { recordBatches } from './record-arbitrary.ts';

/** Where one store keeps its bytes: a file, a database, a folder. */
export type StorePlace = {
  /** Opens the store there; not while it is open already. */
  open(): Promise<StorageProvider>;
  /** The place as a crash of the process at this moment would leave it, the store being open or not. */
  copy(): Promise<StorePlace>;
  /** Takes the place away with everything in it. */
  remove(): Promise<void>;
};

export type StoreUnderTest = {
  /** An empty place. */
  newPlace(): Promise<StorePlace>;
  /** False for a store that keeps nothing over a restart; the suite then asks nothing about that. */
  readonly isDurable: boolean;
};

/** Declares the suite for one kind of store. */
export function describeStorageContract(name: string, store: StoreUnderTest): void {
  describe(`${name}, as it is,`, () => declareContract(store));
  describe(`${name}, later,`, () => declareContract(later(store)));
}

/** The same store, which is done a few turns of the event loop later than it is. */
export function delayed(store: StorageProvider): StorageProvider {
  return {
    async *recover() {
      for await (const record of store.recover()) {
        await turns(1);
        yield record;
      }
    },
    commit: async (records) => {
      await turns(3);
      await store.commit(records);
    },
    close: async () => {
      await turns(1);
      await store.close();
    },
  };
}

function later({ newPlace, isDurable }: StoreUnderTest): StoreUnderTest {
  const around = (place: StorePlace): StorePlace => ({
    open: async () => delayed(await place.open()),
    copy: async () => around(await place.copy()),
    remove: () => place.remove(),
  });
  return { newPlace: async () => around(await newPlace()), isDurable };
}

function declareContract({ newPlace, isDurable }: StoreUnderTest): void {
  let place: StorePlace;

  beforeEach(async () => {
    place = await newPlace();
  });

  afterEach(() => place.remove());

  it('begins with nothing', async () => {
    expect(await recoveredFrom(place)).toEqual([]);
  });

  it('takes records of every kind [DURABLE-002]', async () => {
    const store = await place.open();
    expect(await store.commit(everyKind())).toBeUndefined();
    await store.close();
  });

  it('takes one batch after the other, each once the one before is safe', async () => {
    const store = await place.open();
    await store.commit([created(1)]);
    for (let sequence = 1; sequence <= 20; sequence += 1) {
      const records: StoreRecord[] = [{ kind: 'messageAdded', ...message(1, sequence) }];
      if (sequence > 1) records.push({ kind: 'messageRemoved', generation: 1, sequence: sequence - 1 });
      expect(await store.commit(records)).toBeUndefined();
    }
    await store.close();
  });

  it('takes a batch without records, which asks whether the next one would be safe', async () => {
    const store = await place.open();
    expect(await store.commit([])).toBeUndefined();
    await store.close();
    expect(await recoveredFrom(place)).toEqual([]);
  });

  it('leaves the records as they are, for they are shared with the live state', async () => {
    const store = await place.open();
    const records = everyKind();
    const before = structuredClone(records);
    for (const record of records) Object.freeze(record);
    await store.commit(Object.freeze(records));
    expect(structuredClone(records)).toEqual(before);
    await store.close();
  });

  it('can be closed without ever having been used', async () => {
    const store = await place.open();
    expect(await store.close()).toBeUndefined();
  });

  if (isDurable) declareDurability(() => place);
}

function declareDurability(place: () => StorePlace): void {
  it('gives back queues with their options and times of creation, in order [DURABLE-008, DURABLE-009]', async () => {
    const options = { ...defaultQueueOptions, mode: 3, messageTtlMs: 1.5, deadLetterQueueName: 'ß' } as const;
    await commitAll(place(), [[created(1), { ...created(2), options }], [created(3)]]);
    expect(await recoveredFrom(place())).toEqual([
      { ...created(1), kind: 'queue' },
      { ...created(2), kind: 'queue', options },
      { ...created(3), kind: 'queue' },
    ]);
  });

  it('gives back messages of all queues by sequence, their bytes unchanged [DURABLE-003, DURABLE-010]', async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, value) => value));
    const last = { ...message(1, 9), content: bytes, priority: 3 } as const;
    await commitAll(place(), [
      [created(1), created(2), added(message(2, 1)), added(message(1, 2))],
      [added(message(2, 3)), added(last)],
    ]);
    const recovered = await recoveredFrom(place());
    const messages = recovered.flatMap((record) => (record.kind === 'message' ? [record] : []));
    expect(messages.map(({ generation, sequence }) => [generation, sequence])).toEqual([
      [2, 1],
      [1, 2],
      [2, 3],
      [1, 9],
    ]);
    expect(messages.at(-1)).toEqual({ ...last, kind: 'message', failedAttempts: 0 });
  });

  it('gives back nothing that has left [DURABLE-005, DURABLE-006]', async () => {
    await commitAll(place(), [
      [created(1), added(message(1, 1)), added(message(1, 2))],
      [{ kind: 'messageRemoved', generation: 1, sequence: 1 }],
      [added(message(1, 3)), { kind: 'messageRemoved', generation: 1, sequence: 3 }],
    ]);
    expect(sequencesOf(await recoveredFrom(place()))).toEqual([2]);
  });

  it('gives back failed attempts [DURABLE-011]', async () => {
    const failed = (failedAttempts: number): StoreRecord => ({
      kind: 'attemptFailed',
      generation: 1,
      sequence: 1,
      failedAttempts,
    });
    await commitAll(place(), [[created(1), added(message(1, 1)), failed(1)], [failed(2)]]);
    expect(await recoveredFrom(place())).toContainEqual({
      ...message(1, 1),
      kind: 'message',
      failedAttempts: 2,
    });
  });

  it('gives back a dead letter with its facts, and not its source [DURABLE-012, DURABLE-014, DURABLE-015]', async () => {
    const letter = { ...message(2, 5), deadLetter: FACTS };
    await commitAll(place(), [
      [created(1), created(2), added(message(1, 1))],
      [{ kind: 'deadLettered', from: { generation: 1, sequence: 1 }, to: letter }],
    ]);
    const recovered = await recoveredFrom(place());
    expect(recovered.filter(({ kind }) => kind === 'message')).toEqual([
      { ...letter, kind: 'message', failedAttempts: 0 },
    ]);
  });

  it('forgets a deleted queue with its messages, and takes another of its name', async () => {
    const many = Array.from({ length: 3_000 }, (_, index) => added(message(1 + (index % 2), index + 1)));
    const again = { ...created(3), name: created(1).name };
    await commitAll(place(), [
      [created(1), created(2), ...many],
      [{ kind: 'queueDeleted', generation: 1 }, again, added(message(3, 4_000))],
      [added(message(3, 4_001))],
    ]);
    const recovered = await recoveredFrom(place());
    expect(recovered.slice(0, 2)).toEqual([
      { ...created(2), kind: 'queue' },
      { ...again, kind: 'queue' },
    ]);
    const generations = recovered.flatMap((record) => (record.kind === 'message' ? [record.generation] : []));
    expect(generations.filter((generation) => generation === 2)).toHaveLength(1_500);
    expect(generations.filter((generation) => generation === 3)).toHaveLength(2);
    expect(generations).toHaveLength(1_502);
  });

  it('lets numbers above those given back be used again', async () => {
    await commitAll(place(), [[created(1), added(message(1, 1))], [{ kind: 'queueDeleted', generation: 1 }]]);
    const store = await place().open();
    expect(await collect(store)).toEqual([]);
    await store.commit([created(1), added(message(1, 1))]);
    await store.close();
    expect(await recoveredFrom(place())).toHaveLength(2);
  });

  it('has everything after a crash whose commit was done [DURABLE-003, DURABLE-004]', async () => {
    const store = await place().open();
    await collect(store);
    await store.commit([created(1), added(message(1, 1))]);
    await store.commit([added(message(1, 2))]);
    const crashed = await place().copy();
    expect(sequencesOf(await recoveredFrom(crashed))).toEqual([1, 2]);
    await crashed.remove();
    await store.close();
  });

  it('keeps what a list would keep, whatever the batches, over crashes and restarts', async () => {
    const property = fc.asyncProperty(recordBatches(), fc.nat(20), async (batches, restartAfter) => {
      const kept = new KeptRecords();
      let current = await place().copy();
      let store = await current.open();
      await collect(store);
      for (const [index, records] of batches.entries()) {
        await store.commit(records);
        kept.take(records);
        if (index !== restartAfter) continue;
        const crashed = await current.copy();
        await store.close();
        await current.remove();
        current = crashed;
        store = await current.open();
        expect(await collect(store)).toEqual(kept.recovered());
      }
      await store.close();
      expect(await recoveredFrom(current)).toEqual(kept.recovered());
      await current.remove();
    });
    await fc.assert(property, { numRuns: 30 });
  });
}

const FACTS = { reason: 'MessageExpired', source: 'orders', attempts: 3, deadLetteredWallAt: 1_000 } as const;

function everyKind(): readonly StoreRecord[] {
  return [
    created(1),
    created(2),
    added(message(1, 1)),
    added(message(1, 2)),
    { kind: 'attemptFailed', generation: 1, sequence: 1, failedAttempts: 1 },
    {
      kind: 'deadLettered',
      from: { generation: 1, sequence: 1 },
      to: { ...message(2, 3), deadLetter: FACTS },
    },
    { kind: 'messageRemoved', generation: 1, sequence: 2 },
    { kind: 'queueDeleted', generation: 1 },
  ];
}

function created(generation: number): Extract<StoreRecord, { readonly kind: 'queueCreated' }> {
  const name = `queue-${generation}`;
  return { kind: 'queueCreated', generation, name, options: defaultQueueOptions, createdWallAt: 1_000 };
}

function message(generation: number, sequence: number): StoredMessage {
  // Records hold Uint8Arrays: a store that needs a Buffer makes one.
  const bytes = [1, 2, sequence % 256];
  const content = sequence % 2 === 0 ? Uint8Array.from(bytes) : Buffer.from(bytes);
  return { generation, sequence, id: `m${sequence}`, priority: 1, content, acceptedWallAt: 1_000 };
}

function added(stored: StoredMessage): StoreRecord {
  return { kind: 'messageAdded', ...stored };
}

function sequencesOf(recovered: readonly RecoveredRecord[]): readonly number[] {
  return recovered.flatMap((record) => (record.kind === 'message' ? [record.sequence] : []));
}

async function commitAll(place: StorePlace, batches: readonly (readonly StoreRecord[])[]): Promise<void> {
  const store = await place.open();
  await collect(store);
  for (const records of batches) await store.commit(records);
  await store.close();
}

/** Opens the store, takes everything that it gives back, and closes it. */
async function recoveredFrom(place: StorePlace): Promise<readonly RecoveredRecord[]> {
  const store = await place.open();
  const records = await collect(store);
  await store.close();
  return records;
}

async function collect(store: StorageProvider): Promise<readonly RecoveredRecord[]> {
  const records: RecoveredRecord[] = [];
  for await (const record of store.recover()) records.push(comparable(record));
  return records;
}

/** The port asks for a Uint8Array; whether it is a Buffer is the store's choice. */
function comparable(record: RecoveredRecord): RecoveredRecord {
  if (record.kind === 'queue') return record;
  expect(record.content, `the content of ${record.id}`).toBeInstanceOf(Uint8Array);
  return { ...record, content: Buffer.from(record.content as Uint8Array) };
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}
