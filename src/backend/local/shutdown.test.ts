// The end of a broker in good order: clients are told, deliveries stop, what is in flight may be acknowledged, and then all closes.

import { describe, expect, it } from 'vitest';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { defaultQueueOptions } from '../../model/queue-options.ts';
import { GatedStore } from '../../testing/gated-store.ts';
import { ack, ping, publish, subscribe, TestedBroker } from '../../testing/tested-broker.ts';
import { headersOf } from '../../testing/wire-client.ts';

/** A drain under way: a subscriber with one message in flight, another with none, and a publisher. */
async function drainingParty() {
  const tested = new TestedBroker();
  const busy = await tested.subscriber('q');
  const publisher = await tested.connect();
  await tested.exchange(publisher, publish('q', 'm1'));
  const idle = await tested.subscriber('other');
  expect(busy.lines()).toEqual(['Deliver m1 q']);
  let isDrained = false;
  const drained = tested.broker.drain().then(() => {
    isDrained = true;
  });
  await tested.settle();
  return { tested, busy, idle, publisher, drained, isDrained: () => isDrained };
}

describe('a broker that shuts down', () => {
  it('tells its clients first [SHUTDOWN-004, SHUTDOWN-011, SHUTDOWN-013]', async () => {
    const { busy, idle, publisher } = await drainingParty();
    for (const client of [busy, idle, publisher]) {
      const frames = client.take();
      expect(frames.map(({ command }) => command)).toEqual([2]);
      expect(headersOf(frames[0])).toEqual({ reason: 'server_shutdown' });
    }
  });

  it('closes connections with nothing in flight at once, and those before their handshake [SHUTDOWN-008]', async () => {
    const tested = new TestedBroker();
    const [connected, silent] = [await tested.connect(), tested.attach()];
    const drained = tested.broker.drain();
    await tested.settle();
    await drained;
    expect([connected.isOver, silent.isOver]).toEqual([true, true]);
    expect(connected.take().map(({ command }) => command)).toEqual([2]);
    expect(silent.take()).toEqual([]);
  });

  it('says that it is not ready, and why [HEALTH-017]', async () => {
    const { tested } = await drainingParty();
    expect(tested.broker.readiness()).toEqual({ ready: false, reason: 'The broker is shutting down.' });
  });

  it('serves acks and pings and refuses the rest [SHUTDOWN-006, SHUTDOWN-007]', async () => {
    const { tested, busy } = await drainingParty();
    busy.take();
    expect(
      await tested.exchange(
        busy,
        ping(),
        publish('q', 'm2'),
        subscribe('r', 's'),
        { command: 24, id: 'u', queue: 'q' },
        { command: 40, id: 'c', queue: 'r' },
        { command: 41, id: 'd', queue: 'q' },
        { command: 42, id: 'i', queue: 'q' },
        { command: 43, id: 'l' },
      ),
    ).toEqual([
      'Pong ping',
      'Error m2 q SHUTTING_DOWN',
      'Error s r SHUTTING_DOWN',
      'Error u q SHUTTING_DOWN',
      'Error c r SHUTTING_DOWN',
      'Error d q SHUTTING_DOWN',
      'Error i q SHUTTING_DOWN',
      'Error l SHUTTING_DOWN',
    ]);
    expect(busy.isOver).toBe(false);
  });

  it('ends when the last ack has arrived, without waiting longer [SHUTDOWN-002, SHUTDOWN-012]', async () => {
    const { tested, busy, isDrained } = await drainingParty();
    await tested.advance(29_000);
    expect([busy.isOver, isDrained()]).toEqual([false, false]);
    busy.send(ack('m1'));
    await tested.settle();
    expect([busy.isOver, isDrained()]).toEqual([true, true]);
    expect(tested.broker.stats()).toMatchObject({ acknowledgedCount: 1, inFlightCount: 0 });
  });

  it('closes at the shutdown timeout what is not acknowledged by then [SHUTDOWN-002]', async () => {
    const { tested, busy, isDrained } = await drainingParty();
    await tested.advance(29_999);
    expect([busy.isOver, isDrained()]).toEqual([false, false]);
    await tested.advance(1);
    expect([busy.isOver, isDrained()]).toEqual([true, true]);
  });

  it('says at the shutdown timeout how many messages stay unacknowledged, and nothing when there are none', async () => {
    const { tested, busy } = await drainingParty();
    const acknowledged = await drainingParty();
    acknowledged.busy.send(ack('m1'));
    await acknowledged.tested.advance(30_000);
    await tested.advance(30_000);
    const lines = [tested, acknowledged.tested].map(({ logLines }) =>
      logLines.filter(({ level }) => level !== 'debug'),
    );
    expect(busy.isOver).toBe(true);
    expect(lines).toEqual([
      [
        {
          level: 'info',
          sentence:
            'shutdownTimeout has passed: connections are closed, and what is in flight stays unacknowledged',
          fields: { inFlight: 1, connections: 1 },
        },
      ],
      [],
    ]);
  });

  it('delivers, retries and unblocks nothing [SHUTDOWN-005]', async () => {
    const tested = new TestedBroker({ shutdownTimeoutMs: 100_000 });
    const client = await tested.connect();
    const options = {
      ...defaultQueueOptions,
      maxQueueSize: 1,
      overflowStrategy: OverflowStrategy.BlockPublisher,
    };
    await tested.exchange(
      client,
      { command: 40, id: 'c', queue: 'full', payload: JSON.stringify(options) },
      publish('full', 'waiting'),
      publish('full', 'blocked'),
      { command: 40, id: 'c2', queue: 'q', payload: JSON.stringify({ mode: DeliveryMode.RoundRobin }) },
      { command: 22, id: 's', queue: 'q', headers: [['maxInFlight', '1']] },
      publish('q', 'm1'),
      publish('q', 'm2'),
    );
    void tested.broker.drain();
    await tested.settle();
    expect(client.lines()).toEqual([
      expect.stringMatching(/^Disconnect/),
      'Error blocked full SHUTTING_DOWN',
    ]);
    await tested.advance(90_000);
    expect(client.take()).toEqual([]);
    expect(await tested.exchange(client, ack('m1'))).toEqual([]);
    expect(client.isOver).toBe(true);
  });

  it('lets nobody in any more [SHUTDOWN-001]', async () => {
    const { tested } = await drainingParty();
    const late = tested.attach();
    await tested.settle();
    expect(late.isOver).toBe(true);
    expect(tested.broker.stats().connectionsRejectedCount).toBe(1);
  });

  it('lets nobody shake hands any more, however long the last answers take [SHUTDOWN-001, SHUTDOWN-008]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({}, { store });
    const client = await tested.connect();
    const early = tested.attach();
    client.send(publish('q', 'm1'));
    await tested.settle();
    const drained = tested.broker.drain();
    early.send({ command: 0, id: 'c' });
    await tested.settle();
    expect([early.take(), early.isOver, client.isOver]).toEqual([[], true, false]);
    store.release();
    await tested.settle();
    await drained;
    expect(client.isOver).toBe(true);
  });

  it('takes what was under way before into account [DURABLE-001, SHUTDOWN-003]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({}, { store });
    const client = await tested.connect();
    client.send(publish('q', 'm1'));
    await tested.settle();
    const drained = tested.broker.drain();
    await tested.settle();
    expect(client.lines()).toEqual([expect.stringMatching(/^Disconnect/)]);
    expect(store.isClosed).toBe(false);
    store.release();
    await tested.settle();
    await drained;
    expect(client.lines()).toEqual(['PublishAck m1 q']);
    expect(client.isOver).toBe(true);
  });

  it('closes the store last, once everything is committed [SHUTDOWN-011]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({}, { store });
    const client = await tested.connect();
    client.send(subscribe('q'), publish('q', 'm1'));
    await tested.settle();
    store.release();
    await tested.settle();
    const drained = tested.broker.drain();
    client.send(ack('m1'));
    await tested.settle();
    expect(store.commits.at(-1)).toEqual(['messageRemoved']);
    expect([store.isClosed, client.isOver]).toEqual([false, false]);
    store.release();
    await tested.settle();
    await drained;
    expect(store.isClosed).toBe(true);
  });

  it('can be told to twice: both calls are done together', async () => {
    const { tested, busy, drained } = await drainingParty();
    const again = tested.broker.drain();
    await tested.settle();
    expect(busy.take().length).toBe(1);
    busy.send(ack('m1'));
    await tested.settle();
    await Promise.all([drained, again, tested.broker.drain()]);
    expect(tested.broker.stats().activeConnectionCount).toBe(0);
  });

  it('ends though a commit fails meanwhile', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({}, { store });
    const client = await tested.connect();
    client.send(publish('q', 'm1'));
    await tested.settle();
    const drained = tested.broker.drain();
    store.fail(new Error('disk full'));
    await drained;
    expect(store.isClosed).toBe(true);
    expect(tested.logged).toContain('the store has failed; recovering from it');
  });

  it('leaves no timer behind', async () => {
    const { tested, busy, drained } = await drainingParty();
    busy.send(ack('m1'));
    await tested.settle();
    await drained;
    await tested.advance(5_000);
    expect(tested.environment.timerCount).toBe(0);
  });
});
