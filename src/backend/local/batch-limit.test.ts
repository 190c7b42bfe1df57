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
      batchLengths.push(countOf(records));
      await Promise.resolve();
      isCommitting = false;
    },
    close: () => undefined,
  };
  return { store, batchLengths };
}

function countOf(records: readonly StoreRecord[]): number {
  return records.filter(({ kind }) => kind === 'messageAdded').length;
}

/** Publishes `count` messages to each queue, from a client of its own and in one write, and returns the answers by queue. */
async function publishMany(
  tested: TestedBroker,
  count: number,
  queues = ['q'],
): Promise<readonly (readonly string[])[]> {
  const clients = await Promise.all(queues.map(async (queue) => ({ queue, client: await tested.connect() })));
  return Promise.all(
    clients.map(({ queue, client }) => {
      const messages = Array.from({ length: count }, (_, index) => publish(queue, `m${index}`));
      return tested.exchange(client, { command: 40, id: 'c', queue }, ...messages);
    }),
  );
}

function answersTo(count: number, queue = 'q'): readonly string[] {
  const acks = Array.from({ length: count }, (_, index) => `PublishAck m${index} ${queue}`);
  return [`CreateQueue c ${queue}`, ...acks];
}

describe('a batch', () => {
  it('holds at most 4096 arrivals', async () => {
    const { store, batchLengths } = countingStore();
    const tested = new TestedBroker({}, { store });
    const queues = [...'abcdefghijklmnopqrst'];
    const answers = await publishMany(tested, 250, queues);
    expect(answers).toEqual(queues.map((queue) => answersTo(250, queue)));
    expect(Math.max(...batchLengths)).toBeGreaterThan(4_070);
    expect(Math.max(...batchLengths)).toBeLessThanOrEqual(4_096);
  });

  it('has at most 256 frames of one connection that arrived in one turn of the event loop', async () => {
    const batchLengths: number[] = [];
    const commit = (records: readonly StoreRecord[]) => void batchLengths.push(countOf(records));
    const store: StorageProvider = { recover: () => [], commit, close: () => undefined };
    expect(await publishMany(new TestedBroker({}, { store }), 700)).toEqual([answersTo(700)]);
    expect(batchLengths.filter((length) => length > 0)).toEqual([255, 256, 189]);
  });

  it('ends when it has taken as long as the last commit, but takes 2 ms, and never over 10 ms', async () => {
    const batchLengths: number[] = [];
    let now = 0;
    // While a batch runs, which begins with the time of day, every reading of the clock takes 1 ms, and there is one for every 64 arrivals.
    let isStepping = false;
    const commitMs = [0, 50, 5];
    const commit = (records: readonly StoreRecord[]) => {
      isStepping = false;
      now += commitMs[batchLengths.length] ?? 0;
      batchLengths.push(countOf(records));
    };
    const store: StorageProvider = { recover: () => [], commit, close: () => undefined };
    const environment: Environment = {
      clock: {
        now: () => (now += isStepping ? 1 : 0),
        wallNow: () => {
          isStepping = true;
          return 0;
        },
      },
      scheduler: {
        soon: (task) => tested.environment.scheduler.soon(task),
        after: (delayMs, task) => tested.environment.scheduler.after(delayMs, task),
      },
      freshId: () => 'fresh',
    };
    const tested: TestedBroker = new TestedBroker({}, { store, environment });
    const queues = [...'abcdefgh'];
    const answers = await publishMany(tested, 200, queues);
    expect(answers).toEqual(queues.map((queue) => answersTo(200, queue)));
    // The first holds the beginning of one client's input: then the time of the turn was over. The eight creations of a queue, which are
    // no messages, are one of 16 arrivals, four of 128, and three of 640.
    expect(batchLengths.slice(0, 5)).toEqual([15, 124, 637, 320, 128]);
  });
});
