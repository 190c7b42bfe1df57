// The cases that every store must pass, whether or not it keeps anything over a restart.

import assert from 'node:assert/strict';
import type { StoredMessage, StoreRecord } from '../../broker/interface/store-record.ts';
import type { PlaceCase } from './contract-case.ts';
import { bytesOf } from './message-contents.ts';
import { assertRecovered, recoveredAt, withStore } from './recovery-check.ts';
import { added, created, everyKind, message, removed } from './sample-records.ts';

export const casesOfEveryStore: readonly PlaceCase[] = [
  {
    name: 'begins with nothing',
    check: async (place) => assertRecovered(await recoveredAt(place), []),
  },
  {
    name: 'takes records of every kind [DURABLE-002]',
    check: (place) =>
      withStore(place, async (store) => assert.equal(await store.commit(everyKind()), undefined)),
  },
  {
    name: 'takes one batch after the other, each once the one before is safe',
    check: (place) =>
      withStore(place, async (store) => {
        await store.commit([created(1)]);
        for (let sequence = 1; sequence <= 20; sequence += 1) {
          const records = [added(message(1, sequence))];
          if (sequence > 1) records.push(removed(1, sequence - 1));
          assert.equal(await store.commit(records), undefined);
        }
      }),
  },
  {
    name: 'takes a batch without records, which asks whether the next one would be safe',
    check: async (place) => {
      await withStore(place, async (store) => assert.equal(await store.commit([]), undefined));
      assertRecovered(await recoveredAt(place), []);
    },
  },
  {
    name: 'leaves the records as they are, for they are shared with the live state',
    check: (place) =>
      withStore(place, async (store) => {
        const records = everyKind();
        const before = snapshotOf(records);
        for (const record of records) Object.freeze(record);
        await store.commit(Object.freeze(records));
        assert.equal(snapshotOf(records), before);
      }),
  },
  {
    name: 'can be closed without ever having been used',
    check: async (place) => {
      const store = await place.open();
      assert.equal(await store.close(), undefined);
    },
  },
];

/** The records as text, the bytes of their contents included. */
function snapshotOf(records: readonly StoreRecord[]): string {
  return JSON.stringify(
    records.map((record) => {
      if (record.kind === 'messageAdded') return withShownContent(record);
      return record.kind === 'deadLettered' ? { ...record, to: withShownContent(record.to) } : record;
    }),
  );
}

function withShownContent(stored: StoredMessage): object {
  return { ...stored, content: Buffer.from(bytesOf(stored.content)).toString('hex') };
}
