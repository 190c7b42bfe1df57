// Nothing that a batch brings is seen by anybody before its records are safe, and nothing of it when they cannot be made safe.

import { describe, expect, it } from 'vitest';
import { GatedStore } from '../../testing/gated-store.ts';
import { ack, ping, publish, subscribe, TestedBroker } from '../../testing/tested-broker.ts';
import { headersOf } from '../../testing/wire-client.ts';

/** A broker with a publisher and a subscriber of queue q, whose creation is committed. */
async function party() {
  const store = new GatedStore();
  const tested = new TestedBroker({}, { store });
  const publisher = await tested.connect();
  const subscriber = await tested.connect();
  subscriber.send(subscribe('q'));
  await tested.settle();
  store.release();
  await tested.settle();
  expect(subscriber.lines()).toEqual(['SubscribeAck subscribe-q q']);
  publisher.chunks.length = 0;
  subscriber.chunks.length = 0;
  return { store, tested, publisher, subscriber };
}

describe('while a commit is under way', () => {
  it('shows neither PublishAck nor Deliver before it is done [DURABLE-001, DURABLE-002, PUBLISH-002]', async () => {
    const { store, tested, publisher, subscriber } = await party();
    publisher.send(publish('q', 'm1'));
    await tested.advance(60_000);
    expect([...publisher.lines(), ...subscriber.lines()]).toEqual([]);
    expect(store.commits.at(-1)).toEqual(['messageAdded']);
    store.release();
    await tested.settle();
    expect(publisher.lines()).toEqual(['PublishAck m1 q']);
    expect(subscriber.lines()).toEqual(['Deliver m1 q']);
  });

  it('does not deliver a dead letter, which leaves its source in the same commit [DURABLE-014]', async () => {
    const { store, tested, publisher, subscriber } = await party();
    const commit = async () => {
      await tested.settle();
      store.release();
      await tested.settle();
    };
    const options = '{"enableDeadLetterQueue":true,"maxRetryAttempts":1}';
    publisher.send({ command: 40, id: 'c', queue: 'r', payload: options });
    await commit();
    publisher.send(subscribe('r'));
    subscriber.send(subscribe('r.dlq'), publish('r', 'm1'));
    await commit();
    publisher.take();
    subscriber.take();
    publisher.send({ ...ack('m1'), headers: [['failureReason', 'HandlerException']] });
    await tested.advance(60_000);
    expect(store.commits.at(-1)).toEqual(['attemptFailed', 'deadLettered']);
    expect(subscriber.lines()).toEqual([]);
    store.release();
    await tested.settle();
    expect(subscriber.lines()).toEqual(['Deliver m1 r.dlq']);
  });

  it('queues the inputs of all clients meanwhile, and then handles them in order [CONN-031]', async () => {
    const { store, tested, publisher, subscriber } = await party();
    publisher.send(publish('q', 'm1'));
    await tested.settle();
    publisher.send(ping('p1'), publish('q', 'm2'));
    subscriber.send(ping('p2'));
    await tested.settle();
    publisher.send(publish('q', 'm3'));
    await tested.settle();
    expect(store.commits.length).toBe(2);
    store.release();
    await tested.settle();
    expect(publisher.lines()).toEqual(['PublishAck m1 q']);
    expect(store.commits.at(-1)).toEqual(['messageAdded', 'messageAdded']);
    store.release();
    await tested.settle();
    expect(publisher.lines()).toEqual(['Pong p1', 'PublishAck m2 q', 'PublishAck m3 q']);
    expect(subscriber.lines()).toEqual(['Deliver m1 q', 'Deliver m2 q', 'Pong p2', 'Deliver m3 q']);
  });

  it('moves a dead letter in one transaction, and delivers it after that [DURABLE-014]', async () => {
    const { store, tested, publisher, subscriber } = await party();
    const commit = async () => {
      await tested.settle();
      store.release();
      await tested.settle();
    };
    const payload = '{"enableDeadLetterQueue":true}';
    publisher.send({ command: 40, id: 'c', queue: 'r', payload }, publish('r', 'm1'));
    await commit();
    subscriber.send(subscribe('r'), subscribe('r.dlq'));
    await tested.settle();
    subscriber.take();
    subscriber.send({ ...ack('m1'), headers: [['failureReason', 'DeserializationError']] });
    await tested.settle();
    expect(store.commits.at(-1)).toEqual(['attemptFailed', 'deadLettered']);
    expect(subscriber.lines()).toEqual([]);
    await commit();
    expect(subscriber.lines()).toEqual(['Deliver m1 r.dlq']);
  });

  it('starts no other one [DURABLE-001]', async () => {
    const { store, tested, publisher, subscriber } = await party();
    for (let round = 1; round <= 5; round += 1) {
      publisher.send(publish('q', `a${round}`));
      await tested.settle();
      publisher.send(publish('q', `b${round}`));
      subscriber.send(ack(`a${round - 1}`));
      await tested.advance(10);
      store.release();
      await tested.settle();
      store.release();
      await tested.settle();
    }
    expect(store.maxCommitsAtOnce).toBe(1);
    expect(store.commits.length).toBe(11);
  });

  it('takes a connection that ends into account afterwards [DELIVERY-038]', async () => {
    const { store, tested, publisher, subscriber } = await party();
    publisher.send(publish('q', 'm1'));
    await tested.settle();
    subscriber.stream.destroy();
    await tested.settle();
    store.release();
    await tested.settle();
    expect(publisher.lines()).toEqual(['PublishAck m1 q']);
    expect(tested.broker.queueInfo('q')).toMatchObject({ messageCount: 1, subscriberCount: 0 });
  });

  it('commits nothing for commands that change nothing', async () => {
    const { store, tested, publisher } = await party();
    expect(await tested.exchange(publisher, ping(), { command: 42, id: 'i', queue: 'q' })).toEqual([
      'Pong ping',
      'QueueInfo i q',
    ]);
    expect(store.commits.length).toBe(1);
  });
});

describe('one turn of the event loop', () => {
  it('is one commit and one write for each connection', async () => {
    const tested = new TestedBroker();
    const publisher = await tested.connect();
    const other = await tested.connect();
    const subscriber = await tested.subscriber('q');
    publisher.send(publish('q', 'm1'), ping('p1'), publish('q', 'm2'), { command: 43, id: 'list' });
    other.send(publish('q', 'm3'));
    await tested.settle();
    expect(publisher.lines()).toEqual(['PublishAck m1 q', 'Pong p1', 'PublishAck m2 q', 'ListQueues list']);
    expect(subscriber.lines()).toEqual(['Deliver m1 q', 'Deliver m2 q', 'Deliver m3 q']);
    expect([publisher, other, subscriber].map(({ chunks }) => chunks.length)).toEqual([1, 1, 1]);
  });
});

describe.each([
  ['rejects', (store: GatedStore) => store.fail(new Error('disk full'))],
  ['throws', undefined],
])('a commit that %s', (_name, fail) => {
  async function failedParty() {
    const { store, tested, publisher, subscriber } = await party();
    const broken = new Error('disk full');
    if (fail === undefined) {
      store.commit = () => {
        throw broken;
      };
    }
    publisher.send(publish('q', 'm1'), ping('p1'));
    await tested.settle();
    if (fail !== undefined) {
      publisher.send(publish('q', 'm2'));
      await tested.settle();
      fail(store);
      await tested.settle();
    }
    return { store, tested, publisher, subscriber };
  }

  it('makes nothing visible and answers the publishes that it takes along STORAGE_ERROR [DURABLE-017, PUBLISH-002]', async () => {
    const { publisher, subscriber } = await failedParty();
    const taken = fail === undefined ? ['m1'] : ['m1', 'm2'];
    expect(publisher.lines()).toEqual([
      ...taken.map((id) => `Error ${id} q STORAGE_ERROR`),
      expect.stringMatching(/^Disconnect fresh-/),
    ]);
    expect(subscriber.lines()).toEqual([expect.stringMatching(/^Disconnect fresh-/)]);
  });

  it('tells every client storage_error and closes its connection [DURABLE-018]', async () => {
    const { publisher, subscriber } = await failedParty();
    for (const client of [publisher, subscriber]) {
      expect(headersOf(client.take().at(-1))).toEqual({ reason: 'storage_error' });
      expect(client.isOver).toBe(true);
    }
  });

  it('is reported once, and nothing happens afterwards', async () => {
    const { tested, publisher, subscriber } = await failedParty();
    subscriber.take();
    publisher.take();
    publisher.send(publish('q', 'm3'), ping());
    await tested.advance(5_000);
    await tested.advance(600_000);
    expect(tested.logged.filter((sentence) => sentence.startsWith('the store has failed'))).toHaveLength(1);
    expect([...publisher.take(), ...subscriber.take()]).toEqual([]);
    expect(tested.broker.stats().activeConnectionCount).toBe(0);
  });

  it('leaves a broker that refuses every Connect and drains at once', async () => {
    const { tested, store } = await failedParty();
    expect(await tested.exchange(tested.attach(), { command: 0, id: 'c' })).toEqual([
      'Error c STORAGE_ERROR',
    ]);
    await tested.broker.drain();
    expect(store.isClosed).toBe(true);
  });
});
