// The store that keeps nothing: it passes the contract, and a commit costs nothing.

import { expect, it } from 'vitest';
import { describeStorageContract } from '../../testing/storage-contract.ts';
import { publish, TestedBroker } from '../../testing/tested-broker.ts';
import type { StorePlace } from '../contract/contract-case.ts';
import { openMemoryStore } from './memory-store.ts';

const place: StorePlace = {
  open: async () => openMemoryStore(),
  copy: async () => place,
  remove: async () => undefined,
};

describeStorageContract('the memory store', {
  newPlace: async () => place,
  isDurable: false,
});

it('is done at once: a commit gives no promise to wait for', () => {
  const store = openMemoryStore();
  expect(store.commit([{ kind: 'queueDeleted', generation: 1 }])).toBeUndefined();
});

it('leaves nothing for a broker that starts anew [DURABLE-023]', async () => {
  const store = openMemoryStore();
  const first = new TestedBroker({}, { store });
  await first.exchange(await first.connect(), publish('q', 'm1'));
  expect(first.broker.queueInfo('q')?.messageCount).toBe(1);
  const second = new TestedBroker({}, { store });
  expect(await second.exchange(await second.connect(), { command: 43, id: 'l' })).toEqual(['ListQueues l']);
  expect(second.broker.stats()).toMatchObject({ queueCount: 0, queuedBytes: 0 });
});
