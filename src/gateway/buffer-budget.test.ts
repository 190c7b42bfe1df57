// The memory budget of all connections: while it is short, each connection reads and sends less, and none waits forever.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ZlibCompressor } from '../compression/zlib-compressor.ts';
import { GatedStore } from '../testing/gated-store.ts';
import { ping, publish, TestedBroker } from '../testing/tested-broker.ts';
import { bodyBytes, frameBytes } from '../testing/wire-bytes.ts';
import { framesOf, type WireClient } from '../testing/wire-client.ts';
import { BufferBudget } from './buffer-budget.ts';

const KIB = 1024;
const large = framesOf(publish('q', 'large', { payload: JSON.stringify('x'.repeat(200 * KIB)) }));

/** Room for one large frame at a time: half of the budget is for input. */
const oneLargeFrame = { maxBufferedBytes: 2 * 300 * KIB };

async function connected(tested: TestedBroker, count: number): Promise<readonly WireClient[]> {
  const clients: WireClient[] = [];
  for (let number = 0; number < count; number += 1) clients.push(await tested.connect());
  return clients;
}

function newBudget() {
  const tasks: (() => void)[] = [];
  const budget = new BufferBudget(100, (task) => tasks.push(task));
  const runTasks = () => {
    for (const task of tasks.splice(0)) task();
  };
  return { budget, runTasks };
}

describe('a budget', () => {
  it('grants free bytes, and any number to a single connection', () => {
    const { budget } = newBudget();
    expect(budget.hasRoomFor(1_000, 0)).toBe(true);
    budget.add(60);
    expect([budget.hasRoomFor(40, 10), budget.hasRoomFor(41, 10)]).toEqual([true, false]);
    expect([budget.hasRoomFor(1_000, 60), budget.isShort]).toEqual([true, false]);
    budget.add(40);
    expect(budget.isShort).toBe(true);
  });

  it('grants one at a time what those that wait would keep from each other', () => {
    const { budget } = newBudget();
    budget.add(90);
    budget.addWaiting(60);
    expect([budget.hasRoomFor(50, 20), budget.hasRoomFor(71, 20)]).toEqual([true, false]);
    budget.beginReservation();
    expect(budget.hasRoomFor(50, 20)).toBe(false);
    budget.endReservation();
    budget.addWaiting(10);
    expect(budget.hasRoomFor(1_000, 20)).toBe(true);
  });

  it('wakes those that wait in order, while it lasts', () => {
    const { budget, runTasks } = newBudget();
    budget.add(100);
    const woken: number[] = [];
    for (const number of [1, 2, 3]) {
      budget.await(() => {
        woken.push(number);
        budget.add(50);
      });
    }
    runTasks();
    expect(woken).toEqual([]);
    budget.add(-60);
    budget.add(-40);
    expect(woken).toEqual([]);
    runTasks();
    expect(woken).toEqual([1, 2]);
    budget.add(-50);
    runTasks();
    expect(woken).toEqual([1, 2, 3]);
  });
});

describe('while memory for input is short', () => {
  it('a large frame is read when all of it fits, and those that have begun end [LIMIT-021]', async () => {
    const tested = new TestedBroker(oneLargeFrame);
    const [first, second] = await connected(tested, 2);
    for (const client of [first, second]) client?.sendRaw(large.subarray(0, 100 * KIB));
    await tested.settle();
    second?.sendRaw(large.subarray(100 * KIB));
    await tested.settle();
    expect(second?.lines()).toEqual([]);
    first?.sendRaw(large.subarray(100 * KIB));
    await tested.settle();
    expect([first?.lines(), second?.lines()]).toEqual([['PublishAck large q'], ['PublishAck large q']]);
    await tested.settle();
    expect(tested.broker.stats().bufferedBytes).toBe(0);
  });

  it('many large frames that have begun do not wait for each other [LIMIT-021]', async () => {
    const tested = new TestedBroker(oneLargeFrame);
    const clients = await connected(tested, 6);
    for (const client of clients) {
      client.sendRaw(large.subarray(0, 100 * KIB));
      await tested.settle();
    }
    for (const client of clients) client.sendRaw(large.subarray(100 * KIB));
    await tested.settle();
    expect(clients.map((client) => client.lines())).toEqual(clients.map(() => ['PublishAck large q']));
    await tested.settle();
    expect(tested.broker.stats().bufferedBytes).toBe(0);
  });

  it('the memory of a frame that never ends is free when its connection is [LIMIT-021]', async () => {
    const tested = new TestedBroker(oneLargeFrame);
    const [first, second] = await connected(tested, 2);
    first?.sendRaw(large.subarray(0, 100 * KIB));
    await tested.settle();
    second?.sendRaw(large.subarray(0, 100 * KIB));
    await tested.settle();
    second?.sendRaw(large.subarray(100 * KIB));
    await tested.settle();
    expect(second?.lines()).toEqual([]);
    first?.stream.destroy();
    second?.send(ping());
    await tested.settle();
    expect(second?.lines()).toEqual(['PublishAck large q', 'Pong ping']);
  });

  it('the memory of a client that never connected wakes those that wait, though nothing else happens [LIMIT-021]', async () => {
    const tested = new TestedBroker(oneLargeFrame);
    const client = await tested.connect();
    const stranger = tested.attach();
    stranger.sendRaw(large.subarray(0, 100 * KIB));
    await tested.settle();
    for (const part of [large.subarray(0, 100 * KIB), large.subarray(100 * KIB)]) {
      client.sendRaw(part);
      await tested.settle();
    }
    expect(client.lines()).toEqual([]);
    stranger.stream.destroy();
    await tested.settle();
    expect(client.lines()).toEqual(['PublishAck large q']);
  });

  it('a compressed frame is opened when what it may hold fits [LIMIT-021]', async () => {
    // A body may hold 1 MiB when decompressed.
    const tested = new TestedBroker(
      { maxBufferedBytes: 2 * 1200 * KIB },
      { compressor: new ZlibCompressor() },
    );
    const [first] = await connected(tested, 1);
    const second = await tested.connect({}, [['supported-compression', 'gzip']]);
    first?.sendRaw(large.subarray(0, 100 * KIB));
    await tested.settle();
    const body = bodyBytes(publish('q', 'small', { payload: JSON.stringify('x'.repeat(2 * KIB)) }));
    second.sendRaw(frameBytes(gzipSync(body), 1));
    await tested.settle();
    expect(second.lines()).toEqual([]);
    expect(tested.broker.stats().limitCounts.bufferedBytes).toBe(1);
    first?.sendRaw(large.subarray(100 * KIB));
    await tested.settle();
    expect([first?.lines(), second.lines()]).toEqual([['PublishAck large q'], ['PublishAck small q']]);
    await tested.settle();
    expect(tested.broker.stats().bufferedBytes).toBe(0);
  });

  it('a connection is read further when nothing of it is pending [LIMIT-021]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({ maxBufferedBytes: 2 * 100 * KIB }, { store });
    const clients = await connected(tested, 4);
    const payload = JSON.stringify('x'.repeat(10 * KIB));
    for (const client of clients) {
      for (let number = 0; number < 20; number += 1) client.send(publish('q', `m${number}`, { payload }));
    }
    await tested.settle();
    expect(tested.broker.stats().bufferedBytes).toBeLessThan(4 * 64 * KIB + 100 * KIB);
    expect(tested.broker.stats().limitCounts).toMatchObject({ bufferedBytes: 4, pendingInput: 0 });
    expect(tested.logged).toHaveLength(1);
    for (let released = 0; released < store.commits.length; released += 1) {
      store.release();
      await tested.settle();
    }
    for (const client of clients) expect(client.take()).toHaveLength(20);
    expect(tested.broker.queueInfo('q')?.messageCount).toBe(20);
  });
});

describe('while memory for output is short', () => {
  it('each connection is sent no more than its share, and nobody is kept from sending [LIMIT-021]', async () => {
    const tested = new TestedBroker({ maxBufferedBytes: 2 * 500 * KIB });
    const clients = await connected(tested, 10);
    for (const client of clients) {
      await tested.exchange(client, { command: 22, id: 's', queue: 'q' });
      client.stream.pause();
    }
    const [publisher] = await connected(tested, 1);
    const payload = JSON.stringify('x'.repeat(2 * KIB));
    for (let number = 0; number < 3000; number += 1) {
      publisher?.send(publish('q', `m${number}`, { payload }));
      await tested.settle();
    }
    expect(publisher?.take()).toHaveLength(3000);
    expect(tested.broker.stats().bufferedBytes).toBeLessThan(500 * KIB + 10 * 70 * KIB);
  });

  it('it is counted and told that a connection over its share waits, which is not over its own limit', async () => {
    const tested = new TestedBroker({ maxBufferedBytes: 2 * 500 * KIB });
    const [publisher, ...clients] = await connected(tested, 11);
    if (publisher === undefined) throw new Error('nobody publishes');
    const create = { command: 40, id: 'c', queue: 'q', payload: '{"mode":"FanOutWithoutAck"}' };
    await tested.exchange(publisher, create);
    for (const client of clients) {
      await tested.exchange(client, { command: 22, id: 's', queue: 'q' });
      client.stream.pause();
    }
    const payload = JSON.stringify('x'.repeat(2 * KIB));
    for (let number = 0; number < 100; number += 1)
      await tested.exchange(publisher, publish('q', `m${number}`, { payload }));
    expect(tested.broker.stats().limitCounts).toMatchObject({ bufferedBytes: 10, unsentOutput: 0 });
    expect(tested.logged).toHaveLength(1);
  });
});
