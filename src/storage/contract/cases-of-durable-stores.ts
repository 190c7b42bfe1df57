// The cases for stores that keep their records over a restart and a crash: what a recovery returns. The random histories are in
// random-history-case.ts.

import assert from 'node:assert/strict';
import { defaultQueueOptions, type QueueOptions } from '../../model/queue-options.ts';
import type { PlaceCase, StorePlace } from './contract-case.ts';
import { contentOf } from './message-contents.ts';
import {
  assertRecovered,
  commitAll,
  recoveredAt,
  recoverFrom,
  sequencesOf,
  withPlace,
  withStore,
} from './recovery-check.ts';
import {
  added,
  created,
  failed,
  message,
  recoveredMessage,
  recoveredQueue,
  removed,
  sampleFacts,
} from './sample-records.ts';

export const casesOfDurableStores: readonly PlaceCase[] = [
  {
    name: 'gives back queues with their options and times of creation, in order [DURABLE-008, DURABLE-009]',
    check: givesBackQueues,
  },
  {
    name: 'gives back messages of all queues by sequence, their bytes unchanged [DURABLE-003, DURABLE-010]',
    check: givesBackMessages,
  },
  {
    name: 'gives back contents of no bytes and of a mebibyte [DURABLE-003]',
    check: givesBackContentsOfAnyLength,
  },
  { name: 'gives back large numbers and texts of any characters', check: givesBackNumbersAndTexts },
  { name: 'gives back nothing that has left [DURABLE-005, DURABLE-006]', check: givesBackNothingThatHasLeft },
  { name: 'gives back failed attempts [DURABLE-011]', check: givesBackFailedAttempts },
  {
    name: 'gives back the failed attempts of a dead letter [DURABLE-011]',
    check: givesBackThoseOfDeadLetters,
  },
  {
    name: 'gives back a dead letter with its facts, and not its source [DURABLE-012, DURABLE-014, DURABLE-015]',
    check: givesBackDeadLetters,
  },
  {
    name: 'forgets a deleted queue with its messages, and takes another of its name',
    check: forgetsDeletedQueues,
  },
  { name: 'lets numbers above those given back be used again', check: letsNumbersBeUsedAgain },
  { name: 'gives back the same at every start', check: givesBackTheSameAgain },
  {
    name: 'has everything after a crash whose commit was done [DURABLE-003, DURABLE-004]',
    check: hasEverythingAfterCrash,
  },
];

async function givesBackQueues(place: StorePlace): Promise<void> {
  // None of them is the default.
  const options: QueueOptions = {
    mode: 3,
    maxQueueSize: 7,
    messageTtlMs: 1.5,
    enableDeadLetterQueue: true,
    deadLetterQueueName: 'ß',
    overflowStrategy: 2,
    maxRetryAttempts: 5,
  };
  const second = { ...created(2), options };
  // The name of a dead letter queue stays with a queue that does not use it.
  const third = { ...created(3), options: { ...options, enableDeadLetterQueue: false } };
  await commitAll(place, [[created(1), second], [third]]);
  assertRecovered(await recoveredAt(place), [created(1), second, third].map(recoveredQueue));
}

async function givesBackMessages(place: StorePlace): Promise<void> {
  const bytes = Uint8Array.from({ length: 256 }, (_, value) => value);
  const last = { ...message(1, 9), content: contentOf(bytes), priority: 3 } as const;
  const stored = [message(2, 1), message(1, 2), message(2, 3), last];
  const records = stored.map(added);
  await commitAll(place, [[created(1), created(2), ...records.slice(0, 2)], records.slice(2)]);
  assertRecovered(await recoveredAt(place), [
    ...[created(1), created(2)].map(recoveredQueue),
    ...stored.map((each) => recoveredMessage(each)),
  ]);
}

async function givesBackContentsOfAnyLength(place: StorePlace): Promise<void> {
  const long = Uint8Array.from({ length: 1024 * 1024 }, (_, index) => (index * 31) % 251);
  const stored = [new Uint8Array(0), long].map((bytes, index) => ({
    ...message(1, index + 1),
    content: contentOf(bytes),
  }));
  await commitAll(place, [[created(1), ...stored.map(added)]]);
  const expected = [recoveredQueue(created(1)), ...stored.map((each) => recoveredMessage(each))];
  assertRecovered(await recoveredAt(place), expected);
}

async function givesBackNumbersAndTexts(place: StorePlace): Promise<void> {
  const [large, wallAt, count] = [2 ** 40, 1_900_000_000_000, 2 ** 31 - 1];
  const options = { ...defaultQueueOptions, maxQueueSize: count, maxRetryAttempts: count };
  const queue = { ...created(large), options, createdWallAt: wallAt };
  const id = 'größe "1"\\\n\t\'%; 😀 \u2028';
  const facts = { ...sampleFacts, source: 'a.b-c_d', attempts: count, deadLetteredWallAt: wallAt };
  const stored = { ...message(large, large), id, acceptedWallAt: wallAt };
  const letter = { ...stored, sequence: large + 1, deadLetter: facts };
  await commitAll(place, [[queue, added(stored), added(letter), failed(large, large, count)]]);
  const expected = [recoveredQueue(queue), recoveredMessage(stored, count), recoveredMessage(letter)];
  assertRecovered(await recoveredAt(place), expected);
}

async function givesBackNothingThatHasLeft(place: StorePlace): Promise<void> {
  await commitAll(place, [
    [created(1), added(message(1, 1)), added(message(1, 2))],
    [removed(1, 1)],
    [added(message(1, 3)), removed(1, 3)],
  ]);
  assert.deepStrictEqual(sequencesOf(await recoveredAt(place)), [2]);
}

async function givesBackFailedAttempts(place: StorePlace): Promise<void> {
  await commitAll(place, [[created(1), added(message(1, 1)), failed(1, 1, 1)], [failed(1, 1, 2)]]);
  const expected = [recoveredQueue(created(1)), recoveredMessage(message(1, 1), 2)];
  assertRecovered(await recoveredAt(place), expected);
}

async function givesBackThoseOfDeadLetters(place: StorePlace): Promise<void> {
  const letter = { ...message(2, 5), deadLetter: sampleFacts };
  await commitAll(place, [
    [created(1), created(2), added(message(1, 1)), failed(1, 1, 3)],
    [{ kind: 'deadLettered', from: { generation: 1, sequence: 1 }, to: letter }],
    [failed(2, 5, 1)],
    [failed(2, 5, 2)],
  ]);
  const queues = [created(1), created(2)].map(recoveredQueue);
  assertRecovered(await recoveredAt(place), [...queues, recoveredMessage(letter, 2)]);
}

async function givesBackDeadLetters(place: StorePlace): Promise<void> {
  const letter = { ...message(2, 5), deadLetter: sampleFacts };
  await commitAll(place, [
    [created(1), created(2), added(message(1, 1))],
    [{ kind: 'deadLettered', from: { generation: 1, sequence: 1 }, to: letter }],
  ]);
  const queues = [created(1), created(2)].map(recoveredQueue);
  assertRecovered(await recoveredAt(place), [...queues, recoveredMessage(letter)]);
}

async function forgetsDeletedQueues(place: StorePlace): Promise<void> {
  const many = Array.from({ length: 3_000 }, (_, index) => message(1 + (index % 2), index + 1));
  const again = { ...created(3), name: created(1).name };
  const late = [message(3, 4_000), message(3, 4_001)] as const;
  await commitAll(place, [
    [created(1), created(2), ...many.map(added)],
    [{ kind: 'queueDeleted', generation: 1 }, again, added(late[0])],
    [added(late[1])],
  ]);
  const left = [...many.filter(({ generation }) => generation === 2), ...late];
  assertRecovered(await recoveredAt(place), [
    ...[created(2), again].map(recoveredQueue),
    ...left.map((stored) => recoveredMessage(stored)),
  ]);
}

async function letsNumbersBeUsedAgain(place: StorePlace): Promise<void> {
  await commitAll(place, [[created(1), added(message(1, 1))], [{ kind: 'queueDeleted', generation: 1 }]]);
  const other = { ...message(1, 1), id: 'another' };
  await withStore(place, async (store) => {
    assertRecovered(await recoverFrom(store), []);
    await store.commit([created(1), added(other)]);
  });
  assertRecovered(await recoveredAt(place), [recoveredQueue(created(1)), recoveredMessage(other)]);
}

async function givesBackTheSameAgain(place: StorePlace): Promise<void> {
  await commitAll(place, [[created(1), added(message(1, 1)), added(message(1, 2))], [removed(1, 1)]]);
  const expected = [recoveredQueue(created(1)), recoveredMessage(message(1, 2))];
  assertRecovered(await recoveredAt(place), expected);
  // A broker that recovers from a failure first probes whether the store accepts a commit.
  await withStore(place, async (store) => {
    await store.commit([]);
    assertRecovered(await recoverFrom(store), expected);
  });
  assertRecovered(await recoveredAt(place), expected);
}

async function hasEverythingAfterCrash(place: StorePlace): Promise<void> {
  await withStore(place, async (store) => {
    await recoverFrom(store);
    await store.commit([created(1), added(message(1, 1))]);
    await store.commit([added(message(1, 2))]);
    await withPlace(await place.copy(), async (crashed) =>
      assert.deepStrictEqual(sequencesOf(await recoveredAt(crashed)), [1, 2]),
    );
  });
}
