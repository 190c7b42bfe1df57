// Unsent output and pending input of a connection are limited: the broker stops reading from the client, and no other client waits.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { DeliveryMode } from '../model/delivery-mode.ts';
import { OverflowStrategy } from '../model/overflow-strategy.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';
import { testSettings } from '../testing/broker-harness.ts';
import { GatedStore } from '../testing/gated-store.ts';
import { ack, ping, publish, subscribe, TestedBroker } from '../testing/tested-broker.ts';
import { framesOf } from '../testing/wire-client.ts';

const KIB = 1024;
const payload = JSON.stringify('x'.repeat(10 * KIB));
const ids = (count: number, prefix = 'm') => Array.from({ length: count }, (_, index) => `${prefix}${index}`);

afterEach(() => void vi.restoreAllMocks());

describe('a subscriber that does not read', () => {
  const options = { maxOutboundBytes: 100 * KIB };

  async function stalledParty() {
    const tested = new TestedBroker(options);
    const { client: stalled, server } = tested.attachWithServer();
    await tested.exchange(stalled, { command: 0, id: 'c' }, subscribe('q'));
    const healthy = await tested.subscriber('q');
    const publisher = await tested.connect();
    stalled.stream.pause();
    return { tested, stalled, server, healthy, publisher };
  }

  it('delays nobody else [DELIVERY-048, CONN-021]', async () => {
    const { tested, healthy, publisher } = await stalledParty();
    for (const id of ids(300)) {
      await tested.exchange(publisher, publish('q', id, { payload }));
      for (const frame of healthy.take()) healthy.send(ack(frame.id));
    }
    await tested.settle();
    const { acknowledgedCount, inFlightCount } = tested.broker.stats();
    expect(acknowledgedCount + inFlightCount).toBe(300);
    expect(inFlightCount).toBeLessThanOrEqual(8);
    publisher.take();
    expect(await tested.exchange(publisher, ping())).toEqual(['Pong ping']);
  });

  it('is not sent more than the limit allows, and gets the rest when it reads [LIMIT-015]', async () => {
    const { tested, stalled, server, publisher } = await stalledParty();
    const fanOut = { mode: DeliveryMode.FanOutWithoutAck };
    await tested.exchange(publisher, { command: 40, id: 'c', queue: 'all', payload: JSON.stringify(fanOut) });
    stalled.send(subscribe('all'));
    await tested.settle();
    for (const id of ids(200)) await tested.exchange(publisher, publish('all', id, { payload }));
    expect(server.writableLength).toBeLessThanOrEqual(120 * KIB);
    const { discardedCount } = tested.broker.stats();
    expect(discardedCount).toBe(0);
    expect(tested.broker.queueInfo('all')?.messageCount).toBeGreaterThan(180);
    stalled.stream.resume();
    await tested.settle();
    expect(tested.broker.queueInfo('all')?.messageCount).toBe(0);
    expect(stalled.lines()).toEqual([
      'SubscribeAck subscribe-all all',
      ...ids(200).map((id) => `Deliver ${id} all`),
    ]);
  });

  it('is not sent a whole backlog at once, and gets it all when it reads [LIMIT-015, DELIVERY-028]', async () => {
    const limit = 100 * KIB;
    const tested = new TestedBroker({
      maxOutboundBytes: limit,
      broker: { ...testSettings, maxBurstBytes: limit },
    });
    const { client, server } = tested.attachWithServer();
    const create = { command: 40, id: 'c', queue: 'all', payload: '{"mode":"FanOutWithoutAck"}' };
    await tested.exchange(client, { command: 0, id: 'c' }, create);
    for (const id of ids(200)) await tested.exchange(client, publish('all', id, { payload }));
    client.stream.pause();
    client.send(subscribe('all'));
    await tested.settle();
    expect(server.writableLength).toBeGreaterThan(limit / 2);
    expect(server.writableLength).toBeLessThan(limit + 20 * KIB);
    client.stream.resume();
    await tested.settle();
    expect(client.lines().slice(1)).toEqual(ids(200).map((id) => `Deliver ${id} all`));
    expect(tested.broker.stats().discardedCount).toBe(0);
  });

  it('is not meant when it reads: a backlog of any size goes to it in one go after the other [DELIVERY-028]', async () => {
    const tested = new TestedBroker({ broker: { ...testSettings, maxBurstBytes: 10 * KIB } });
    const client = await tested.connect();
    const create = { command: 40, id: 'c', queue: 'all', payload: '{"mode":"FanOutWithoutAck"}' };
    await tested.exchange(client, create, ...ids(500).map((id) => publish('all', id)));
    const lines = await tested.exchange(client, subscribe('all'));
    expect(lines.slice(1)).toEqual(ids(500).map((id) => `Deliver ${id} all`));
    expect(client.chunks.length).toBeGreaterThan(10);
  });

  it('is not read from until it reads again, and then is answered in order [LIMIT-015, CONN-035]', async () => {
    const { tested, stalled, publisher } = await stalledParty();
    for (const id of ids(16))
      await tested.exchange(publisher, publish('q', id, { payload: JSON.stringify('x'.repeat(40 * KIB)) }));
    stalled.send(ping('p1'), publish('r', 'late'), ping('p2'));
    await tested.advance(1000);
    expect(tested.broker.queueInfo('r')).toBeUndefined();
    stalled.stream.read(50 * KIB);
    await tested.settle();
    expect(tested.broker.queueInfo('r')).toBeUndefined();
    stalled.stream.resume();
    await tested.settle();
    expect(stalled.lines().filter((line) => !line.startsWith('Deliver'))).toEqual([
      'Pong p1',
      'PublishAck late r',
      'Pong p2',
    ]);
  });

  it('is answered to its end when it has ended its side and reads too little of that [CONN-041]', async () => {
    const { tested, stalled, server } = await stalledParty();
    const questions = ids(4000, 'p'.repeat(200));
    stalled.sendRaw(framesOf(...questions.slice(0, 2000).map(ping)));
    await tested.settle();
    expect(server.isPaused()).toBe(true);
    // Now the stream has these bytes and its end when it is read again, which comes before they are handled.
    server.push(framesOf(...questions.slice(2000).map(ping), publish('r', 'last')));
    server.push(null);
    while (!server.readableEnded) {
      stalled.stream.read();
      await tested.settle();
    }
    expect(tested.broker.queueInfo('r')).toBeUndefined();
    stalled.stream.resume();
    await tested.settle();
    expect(stalled.lines()).toEqual([...questions.map((id) => `Pong ${id}`), 'PublishAck last r']);
    expect(stalled.isOver).toBe(true);
  });

  it('reads on with any limit, however small', async () => {
    const tested = new TestedBroker({ maxOutboundBytes: 1 });
    const client = await tested.connect();
    for (const id of ids(5, 'p')) expect(await tested.exchange(client, ping(id))).toEqual([`Pong ${id}`]);
    expect((await tested.exchange(client, ...ids(50, 'p').map(ping))).length).toBe(50);
  });

  it.each([
    ['nothing', 0, 301_000],
    ['a little', 100, 601_000],
    ['much', 200 * KIB, 600_000],
    ['the end of its side', 'end', 301_000],
  ] as const)(
    'is closed when it never reads again, an idle timeout after %s that it sent, which is thrown away [CONN-017]',
    async (_, sent, closedAt) => {
      const { tested, stalled, server, healthy, publisher } = await stalledParty();
      const large = JSON.stringify('x'.repeat(40 * KIB));
      for (const id of ids(16)) await tested.exchange(publisher, publish('q', id, { payload: large }));
      if (sent === 'end') stalled.stream.end();
      else stalled.sendRaw(Buffer.alloc(sent));
      for (let left = closedAt - 1; left > 0; left -= 100_000) {
        await tested.advance(Math.min(left, 100_000));
        for (const other of [healthy, publisher]) await tested.exchange(other, ping());
      }
      expect(tested.broker.stats().activeConnectionCount).toBe(3);
      await tested.advance(1);
      expect(tested.broker.stats().activeConnectionCount).toBe(2);
      expect(server.destroyed).toBe(false);
      await tested.advance(5_000);
      expect(server.destroyed).toBe(true);
    },
  );
});

describe('a client that sends without reading its answers', () => {
  it('makes the broker hold little more than the limit, though one chunk asks for far more [LIMIT-015, LIMIT-018]', async () => {
    const tested = new TestedBroker({ maxOutboundBytes: 64 * KIB });
    const { client, server } = tested.attachWithServer();
    const names = ids(100, `${'n'.repeat(200)}-`);
    await tested.exchange(client, { command: 0, id: 'c' }, ...names.map((queue) => publish(queue, 'm')));
    client.stream.pause();
    let max = 0;
    const write = server.write.bind(server);
    vi.spyOn(server, 'write').mockImplementation((...args: unknown[]) => {
      const flows = (write as (...all: unknown[]) => boolean)(...args);
      max = Math.max(max, server.writableLength);
      return flows;
    });
    client.send(...ids(300, 'l').map((id) => ({ command: 43, id })));
    await tested.settle();
    expect(max).toBeGreaterThan(64 * KIB);
    expect(max).toBeLessThan(256 * KIB);
    client.stream.resume();
    await tested.settle();
    expect(client.lines()).toEqual(ids(300, 'l').map((id) => `ListQueues ${id}`));
  });
});

describe('a client that sends faster than the store stores', () => {
  it('is read from until maxPendingInputBytes wait, and again when they are worked off [LIMIT-018]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({ maxPendingInputBytes: 100 * KIB }, { store });
    const client = await tested.connect();
    for (const id of ids(50)) client.send(publish('q', id, { payload }));
    await tested.settle();
    const unreadBytes = client.stream.writableLength;
    expect(unreadBytes).toBeGreaterThan(300 * KIB);
    store.release();
    await tested.settle();
    expect(client.lines()).toEqual(['PublishAck m0 q']);
    while (client.stream.writableLength > 0) {
      store.release();
      await tested.settle();
      expect(client.take().length).toBeLessThanOrEqual(10);
    }
    store.release();
    await tested.settle();
    expect(tested.broker.queueInfo('q')?.messageCount).toBe(50);
    expect(store.maxCommitsAtOnce).toBe(1);
  });

  it('is bounded by number too: short commands weigh more than their bytes [LIMIT-018]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({ maxPendingInputBytes: 4 * KIB }, { store });
    const client = await tested.connect();
    client.send(publish('q', 'm1'));
    await tested.settle();
    client.sendRaw(framesOf(...ids(5000, 'p').map(ping)));
    await tested.settle();
    store.release();
    await tested.settle();
    const [chunk] = client.chunks.slice(1);
    expect(chunk?.length).toBeLessThan(20 * 20);
    expect(client.lines()).toEqual(['PublishAck m1 q', ...ids(5000, 'p').map((id) => `Pong ${id}`)]);
  });

  it('delays nobody else: each connection has its own share', async () => {
    const tested = new TestedBroker({ maxPendingInputBytes: KIB });
    const [greedy, modest] = [await tested.connect(), await tested.connect()];
    greedy.send(...ids(2000).map((id) => publish('q', id)));
    modest.send(ping());
    await tested.settle();
    expect(modest.lines()).toEqual(['Pong ping']);
    expect(greedy.take().length).toBe(2000);
  });

  it('is answered to its end when it closes its side meanwhile [CONN-041]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({ maxPendingInputBytes: KIB }, { store });
    const client = await tested.connect();
    client.send(publish('q', 'm1'), ...ids(100, 'p').map(ping));
    client.stream.end();
    await tested.settle();
    store.release();
    await tested.settle();
    expect(client.lines()).toEqual(['PublishAck m1 q', ...ids(100, 'p').map((id) => `Pong ${id}`)]);
    expect(client.isOver).toBe(true);
  });

  it('is answered to its end also when that comes together with more than may wait [CONN-041]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({ maxPendingInputBytes: KIB }, { store });
    const client = await tested.connect();
    client.sendRaw(framesOf(publish('q', 'm1'), ...ids(100, 'p').map(ping)));
    await tested.settle();
    // Reading is paused, so the stream delivers these bytes and its end together.
    client.sendRaw(framesOf(...ids(100, 'r').map(ping)));
    client.stream.end();
    await tested.settle();
    store.release();
    await tested.settle();
    const pongs = [...ids(100, 'p'), ...ids(100, 'r')].map((id) => `Pong ${id}`);
    expect(client.lines()).toEqual(['PublishAck m1 q', ...pongs]);
    expect(client.isOver).toBe(true);
  });
});

describe('a publisher that is ahead of subscribers', () => {
  const COUNT = 1100;

  async function aheadParty() {
    const tested = new TestedBroker();
    const subscriber = await tested.connect();
    const headers = [['maxInFlight', '1']] as const;
    await tested.exchange(subscriber, { ...subscribe('q'), headers });
    const publisher = await tested.connect();
    await tested.exchange(publisher, ...ids(COUNT).map((id) => publish('q', id)));
    publisher.take();
    subscriber.take();
    subscriber.send(ack('m0'), ping());
    publisher.send(...ids(40, 'fast').map((id) => publish('q', id)));
    await tested.settle();
    publisher.send(ping());
    await tested.settle();
    return { tested, publisher, subscriber };
  }

  it('is not read for two milliseconds, and then as before [PUBLISH-024]', async () => {
    const { tested, publisher } = await aheadParty();
    expect(publisher.take().map(({ id }) => id)).toEqual(ids(40, 'fast'));
    await tested.advance(1);
    expect(publisher.lines()).toEqual([]);
    await tested.advance(1);
    expect(publisher.lines()).toEqual(['Pong ping']);
  });

  it('keeps nobody else waiting, and loses nothing that was published [PUBLISH-024]', async () => {
    const { tested, subscriber } = await aheadParty();
    expect(subscriber.lines()).toEqual(['Deliver m1 q', 'Pong ping']);
    expect(tested.broker.queueInfo('q')?.messageCount).toBe(COUNT + 40 - 2);
  });
});

describe('a connection that sends much at once', () => {
  const rateLimit = {
    maxConnectionsPerIpPerWindow: 20,
    connectionWindowMs: 60_000,
    maxMessagesPerClientPerSecond: 1000,
  };

  /** How often the broker lets others go first, of a clock that goes on by 0.2 ms whenever it is read. */
  async function breaksOf(options: { readonly rateLimit?: typeof rateLimit }): Promise<number> {
    const tested = new TestedBroker(options);
    const client = await tested.connect();
    let nowMs = 0;
    vi.spyOn(tested.environment.clock, 'now').mockImplementation(() => {
      nowMs += 0.2;
      return nowMs;
    });
    const soon = vi.spyOn(tested.environment.scheduler, 'soon');
    client.send(...ids(200).map(() => ping()));
    await tested.settle();
    expect(client.lines()).toHaveLength(200);
    return soon.mock.calls.length;
  }

  it('has longer turns where rates are not limited', async () => {
    const limited = await breaksOf({ rateLimit });
    expect(limited).toBeGreaterThan(await breaksOf({}));
  });
});

describe('publishes that wait for room', () => {
  const blocking = {
    ...defaultQueueOptions,
    maxQueueSize: 1,
    overflowStrategy: OverflowStrategy.BlockPublisher,
  };

  it('do not keep the other commands of their connection waiting [OVERFLOW-016, OVERFLOW-017, CONN-022]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    const create = { command: 40, id: 'c', queue: 'q', payload: JSON.stringify(blocking) };
    expect(
      await tested.exchange(
        client,
        create,
        publish('q', 'm1'),
        publish('q', 'm2'),
        ping(),
        publish('r', 'm3'),
      ),
    ).toEqual(['CreateQueue c q', 'PublishAck m1 q', 'Pong ping', 'PublishAck m3 r']);
    expect(await tested.exchange(client, subscribe('q'))).toEqual([
      'SubscribeAck subscribe-q q',
      'Deliver m1 q',
      'PublishAck m2 q',
      'Deliver m2 q',
    ]);
  });

  it('do not count as pending input: more than maxPendingInputBytes may be blocked', async () => {
    const tested = new TestedBroker({
      maxPendingInputBytes: KIB,
      broker: { ...testSettings, maxBlockedPublishes: 100 },
    });
    const client = await tested.connect();
    const create = { command: 40, id: 'c', queue: 'q', payload: JSON.stringify(blocking) };
    await tested.exchange(client, create, ...ids(50).map((id) => publish('q', id, { payload })));
    expect(await tested.exchange(client, ping())).toEqual(['Pong ping']);
  });
});
