// A batch is limited in number and in time: the rest waits for the next turn of the event loop, in order.

import { describe, expect, it } from 'vitest';
import type { StoreRecord } from '../../broker/interface/store-record.ts';
import type { Environment } from '../../model/environment.ts';
import type { StorageProvider } from '../../storage/storage-provider.ts';
import { publish, TestedBroker } from '../../testing/tested-broker.ts';

function countingStore() {
  const batchLengths: number[] = [];
  let isCommitting = false;
  const store: StorageProvider = {
    recover: () => [],
    async commit(records: readonly StoreRecord[]) {
      if (isCommitting) throw new Error('two commits at a time');
      isCommitting = true;
      batchLengths.push(records.filter(({ kind }) => kind === 'messageAdded').length);
      await Promise.resolve();
      isCommitting = false;
    },
    close: () => undefined,
  };
  return { store, batchLengths };
}

/** Publishes `count` messages in one write, and returns the answers. */
async function publishMany(tested: TestedBroker, count: number): Promise<readonly string[]> {
  const client = await tested.connect();
  const messages = Array.from({ length: count }, (_, index) => publish('q', `m${index}`));
  return tested.exchange(client, { command: 40, id: 'c', queue: 'q' }, ...messages);
}

function answersTo(count: number): readonly string[] {
  return ['CreateQueue c q', ...Array.from({ length: count }, (_, index) => `PublishAck m${index} q`)];
}

describe('a batch', () => {
  it('holds at most 4096 arrivals', async () => {
    const { store, batchLengths } = countingStore();
    expect(await publishMany(new TestedBroker({}, { store }), 9_000)).toEqual(answersTo(9_000));
    expect(batchLengths.filter((length) => length > 0)).toEqual([4095, 4096, 809]);
  });

  it('ends after 10 ms', async () => {
    const { store, batchLengths } = countingStore();
    let now = 0;
    // Every reading of the clock takes 1 ms.
    const environment: Environment = {
      clock: { now: () => (now += 1), wallNow: () => 0 },
      scheduler: {
        soon: (task) => tested.environment.scheduler.soon(task),
        after: (delayMs, task) => tested.environment.scheduler.after(delayMs, task),
      },
      freshId: () => 'fresh',
    };
    const tested: TestedBroker = new TestedBroker({}, { store, environment });
    expect(await publishMany(tested, 2_000)).toEqual(answersTo(2_000));
    expect(batchLengths.filter((length) => length > 0)).toEqual([639, 640, 640, 81]);
  });
});
