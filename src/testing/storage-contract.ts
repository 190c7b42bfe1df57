// What every store must do, whatever keeps its bytes: one suite that each implementation of the port runs, once as it is and once
// behind a delay. It asks only what the port promises; what a store keeps over a restart is asked where there is a way to read it.
// Implements the contract of storage-provider.ts.

import { describe, expect, it } from 'vitest';
import { defaultQueueOptions } from '../broker/queue-options.ts';
import type { StoredMessage, StoreRecord } from '../broker/store-record.ts';
import type { StorageProvider } from '../storage/storage-provider.ts';

type OpenStore = () => StorageProvider | Promise<StorageProvider>;

/** Declares the suite for one kind of store; `open` gives an empty one each time. */
export function describeStorageContract(name: string, open: OpenStore): void {
  describe(`${name}, as it is,`, () => declareContract(open));
  describe(`${name}, later,`, () => declareContract(async () => delayed(await open())));
}

/** The same store, which is done a few turns of the event loop later than it is. */
export function delayed(store: StorageProvider): StorageProvider {
  return {
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

function declareContract(open: OpenStore): void {
  it('takes records of every kind [DURABLE-002]', async () => {
    const store = await open();
    expect(await store.commit(everyKind())).toBeUndefined();
    await store.close();
  });

  it('takes one batch after the other, each once the one before is safe', async () => {
    const store = await open();
    await store.commit([created(1)]);
    for (let sequence = 1; sequence <= 20; sequence += 1) {
      const records: StoreRecord[] = [{ kind: 'messageAdded', ...message(1, sequence) }];
      if (sequence > 1) records.push({ kind: 'messageRemoved', generation: 1, sequence: sequence - 1 });
      expect(await store.commit(records)).toBeUndefined();
    }
    await store.close();
  });

  it('takes a batch of thousands', async () => {
    const store = await open();
    const added = Array.from(
      { length: 5000 },
      (_, index): StoreRecord => ({ kind: 'messageAdded', ...message(1, index + 1) }),
    );
    expect(await store.commit([created(1), ...added])).toBeUndefined();
    await store.close();
  });

  it('leaves the records as they are, for they are shared with the live state', async () => {
    const store = await open();
    const records = everyKind();
    const before = structuredClone(records);
    await store.commit(deepFrozen(records));
    expect(structuredClone(records)).toEqual(before);
    await store.close();
  });

  it('can be closed without ever having been used', async () => {
    const store = await open();
    expect(await store.close()).toBeUndefined();
  });
}

function everyKind(): readonly StoreRecord[] {
  const deadLetter = {
    reason: 'MessageExpired',
    source: 'orders',
    attempts: 0,
    deadLetteredWallAt: 1000,
  } as const;
  return [
    created(1),
    created(2),
    { kind: 'messageAdded', ...message(1, 1) },
    { kind: 'messageAdded', ...message(1, 2) },
    { kind: 'attemptFailed', generation: 1, sequence: 1, failedAttempts: 1 },
    { kind: 'deadLettered', from: { generation: 1, sequence: 1 }, to: { ...message(2, 1), deadLetter } },
    { kind: 'messageRemoved', generation: 1, sequence: 2 },
    { kind: 'queueDeleted', generation: 1 },
  ];
}

function created(generation: number): StoreRecord {
  const name = `queue-${generation}`;
  return { kind: 'queueCreated', generation, name, options: defaultQueueOptions, createdWallAt: 1000 };
}

function message(generation: number, sequence: number): StoredMessage {
  const content = { byteLength: 3, bytes: [1, 2, sequence % 256] };
  return { generation, sequence, id: `m${sequence}`, priority: 1, content, acceptedWallAt: 1000 };
}

function deepFrozen<Value extends object>(value: Value): Value {
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && inner !== null) deepFrozen(inner);
  return Object.freeze(value);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => void setImmediate(resolve));
}
