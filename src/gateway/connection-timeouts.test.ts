// Handshake, partial-frame and idle timeouts, in virtual time.

import { describe, expect, it } from 'vitest';
import { testSettings } from '../testing/broker-harness.ts';
import { GatedStore } from '../testing/gated-store.ts';
import { ping, publish, TestedBroker } from '../testing/tested-broker.ts';
import { framesOf } from '../testing/wire-client.ts';

const timeouts = { handshakeTimeoutMs: 10_000, frameTimeoutMs: 30_000, idleTimeoutMs: 300_000 };

describe('a client that does not connect', () => {
  it('is closed at the handshake timeout, and not before [CONN-014]', async () => {
    const tested = new TestedBroker({ timeouts });
    const client = tested.attach();
    await tested.advance(9_999);
    expect(client.isOver).toBe(false);
    await tested.advance(1);
    expect(client.isOver).toBe(true);
    expect(tested.broker.stats().activeConnectionCount).toBe(0);
  });

  it('is closed however much it pings [CONN-014, CONN-018]', async () => {
    const tested = new TestedBroker({ timeouts });
    const client = tested.attach();
    for (let second = 0; second < 9; second += 1) {
      await tested.advance(1000);
      expect(await tested.exchange(client, ping())).toEqual(['Pong ping']);
    }
    await tested.advance(1000);
    expect(client.isOver).toBe(true);
  });

  it('no longer applies after its Connect has arrived [CONN-015]', async () => {
    const tested = new TestedBroker({ timeouts });
    const client = await tested.connect();
    await tested.advance(20_000);
    expect(await tested.exchange(client, ping())).toEqual(['Pong ping']);
  });

  it('is not closed after a Connect that was refused, and may send another one [CONN-015]', async () => {
    const tested = new TestedBroker({ timeouts });
    const client = tested.attach();
    await tested.advance(9_000);
    expect(await tested.exchange(client, { command: 0, id: 'c1', queue: 'no name' })).toEqual([
      'Error c1 INVALID_MESSAGE',
    ]);
    await tested.advance(20_000);
    expect(await tested.exchange(client, { command: 0, id: 'c2' })).toEqual(['ConnectAck c2']);
  });

  it('and whose Connect comes after that is heard no more [CONN-014]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({ timeouts }, { store });
    const other = await tested.connect();
    const client = tested.attach();
    other.send(publish('other', 'm'));
    await tested.advance(10_000);
    client.send({ command: 0, id: 'c' }, publish('q', 'm1'));
    await tested.settle();
    store.release();
    await tested.advance(5_000);
    expect(client.take()).toEqual([]);
    expect(client.isOver).toBe(true);
    expect(tested.broker.queueInfo('q')).toBeUndefined();
    expect(tested.broker.stats().activeConnectionCount).toBe(1);
  });
});

describe('a client that is closed with commands still unread', () => {
  it('is not heard any more, Connect or not [CONN-014]', async () => {
    const tested = new TestedBroker({ timeouts, maxOutboundBytes: 256 });
    const { client, server } = tested.attachWithServer();
    server.stallLine();
    client.send(...Array.from({ length: 100 }, () => ping()), { command: 0, id: 'c' }, publish('q', 'm1'));
    await tested.advance(10_000);
    server.resumeLine();
    await tested.settle();
    expect(client.isOver).toBe(true);
    expect(client.lines().every((line) => line === 'Pong ping')).toBe(true);
    expect(tested.broker.queueInfo('q')).toBeUndefined();
  });
});

describe('a frame that is not completed', () => {
  const half = framesOf(publish('q', 'm1', { payload: JSON.stringify('x'.repeat(200)) })).subarray(0, 100);

  it('closes the connection at the frame timeout after its first byte, though bytes keep coming [CONN-016]', async () => {
    const tested = new TestedBroker({ timeouts });
    const client = await tested.connect();
    for (const byte of half.subarray(0, 29)) {
      client.sendRaw(Buffer.from([byte]));
      await tested.advance(1000);
    }
    client.sendRaw(half.subarray(29, 30));
    await tested.advance(999);
    expect(client.isOver).toBe(false);
    await tested.advance(1);
    expect(client.isOver).toBe(true);
  });

  it('keeps the client from being idle as long as bytes come [CONN-017]', async () => {
    const tested = new TestedBroker({ timeouts: { ...timeouts, idleTimeoutMs: 5000 } });
    const client = await tested.connect();
    const frame = framesOf(ping());
    for (const byte of frame.subarray(0, 7)) {
      client.sendRaw(Buffer.from([byte]));
      await tested.advance(4000);
    }
    client.sendRaw(frame.subarray(7));
    await tested.settle();
    expect(client.lines()).toContain('Pong ping');
  });

  it('is not meant when every chunk ends in another one [CONN-016]', async () => {
    const tested = new TestedBroker({ timeouts });
    const client = await tested.connect();
    // Longer than the timeout has seconds, so that no chunk ends between two frames before it is over.
    const frame = framesOf(publish('q', 'm1', { payload: JSON.stringify('x'.repeat(200)) }));
    const stream = Buffer.concat(Array.from({ length: 200 }, () => frame));
    const step = frame.length + 1;
    for (let at = 0; at + step < stream.length; at += step) {
      client.sendRaw(stream.subarray(at, at + step));
      await tested.advance(1000);
    }
    expect(client.isOver).toBe(false);
    expect(client.take().length).toBeGreaterThan(150);
  });

  it('is not held against a client whose own answers wait to be read [CONN-016]', async () => {
    const tested = new TestedBroker({ timeouts, maxOutboundBytes: 50_000 });
    const client = await tested.subscriber('q');
    const publisher = await tested.connect();
    const half = framesOf(ping());
    client.sendRaw(half.subarray(0, 4));
    client.stream.pause();
    const payload = JSON.stringify('x'.repeat(20_000));
    await tested.exchange(publisher, ...['a', 'b', 'c', 'd', 'e'].map((id) => publish('q', id, { payload })));
    await tested.advance(29_000);
    client.sendRaw(half.subarray(4));
    await tested.advance(29_000);
    client.stream.resume();
    await tested.settle();
    expect(client.lines()).toContain('Pong ping');
  });

  it('is not held against a client that the broker does not read from [CONN-016]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({ timeouts, maxPendingInputBytes: 100 }, { store });
    const client = await tested.connect();
    const rest = framesOf(ping('p2'));
    client.sendRaw(Buffer.concat([framesOf(publish('q', 'm1')), rest.subarray(0, 4)]));
    await tested.advance(100_000);
    client.sendRaw(rest.subarray(4));
    await tested.advance(100_000);
    store.release();
    await tested.settle();
    expect(client.lines()).toEqual(['PublishAck m1 q', 'Pong p2']);
    expect(client.isOver).toBe(false);
  });

  it('is waited for anew when reading goes on', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({ timeouts, maxPendingInputBytes: 100 }, { store });
    const client = await tested.connect();
    client.sendRaw(Buffer.concat([framesOf(publish('q', 'm1')), framesOf(ping()).subarray(0, 4)]));
    await tested.advance(100_000);
    store.release();
    await tested.advance(29_999);
    expect(client.isOver).toBe(false);
    await tested.advance(1);
    expect(client.isOver).toBe(true);
  });
});

describe('a client that is silent', () => {
  it('is closed at the idle timeout [CONN-017]', async () => {
    const tested = new TestedBroker({ timeouts });
    const client = await tested.connect();
    await tested.advance(200_000);
    expect(await tested.exchange(client, ping())).toEqual(['Pong ping']);
    await tested.advance(299_999);
    expect(client.isOver).toBe(false);
    await tested.advance(1);
    expect(client.isOver).toBe(true);
  });

  it('is closed though the broker has sent to it meanwhile, and has its messages given to others [CONN-017]', async () => {
    const tested = new TestedBroker({ timeouts, broker: { ...testSettings, ackTimeoutMs: 3_600_000 } });
    const silent = await tested.subscriber('q');
    await tested.advance(100_000);
    const other = await tested.connect();
    await tested.exchange(other, publish('q', 'm1'));
    await tested.advance(150_000);
    await tested.exchange(other, { command: 22, id: 's', queue: 'q' });
    await tested.advance(50_000);
    expect(silent.isOver).toBe(true);
    expect(other.lines()).toEqual(['Deliver m1 q']);
  });

  it('is closed a second later where the broker did not read for its own reasons, and looks first [CONN-017]', async () => {
    const { tested } = await congested();
    await tested.advance(300_999);
    expect(tested.broker.stats().activeConnectionCount).toBe(1);
    await tested.advance(1);
    expect(tested.broker.stats().activeConnectionCount).toBe(0);
  });
});

describe('a client that sends, while the broker does not read it', () => {
  it('is not closed as idle [CONN-017]', async () => {
    const { tested, client } = await congested();
    for (let minute = 0; minute < 60; minute += 1) {
      client.send(ping(`p${minute}`));
      await tested.advance(60_000);
    }
    client.stream.resume();
    await tested.settle();
    const lines = client.lines();
    expect(lines.filter((line) => line.startsWith('Pong'))).toHaveLength(60);
    expect(client.isOver).toBe(false);
  });

  it('is not closed as idle where much of it waits for the store [CONN-017]', async () => {
    const store = new GatedStore();
    const tested = new TestedBroker({ timeouts, maxPendingInputBytes: 100 }, { store });
    const client = await tested.connect();
    const payload = JSON.stringify('x'.repeat(100_000));
    client.send(...['a', 'b', 'c'].map((id) => publish('q', id, { payload })));
    for (let minute = 0; minute < 25; minute += 1) await tested.advance(60_000);
    for (let count = 0; count < 3; count += 1) {
      store.release();
      await tested.settle();
    }
    expect(client.lines()).toEqual(['PublishAck a q', 'PublishAck b q', 'PublishAck c q']);
  });
});

/** A client that reads nothing, and so much for it that the broker does not read it either. */
async function congested() {
  const tested = new TestedBroker({ timeouts, maxOutboundBytes: 50_000 });
  const client = await tested.subscriber('q');
  const publisher = await tested.connect();
  client.stream.pause();
  const payload = JSON.stringify('x'.repeat(20_000));
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'])
    await tested.exchange(publisher, publish('q', id, { payload }));
  expect(tested.logged).toEqual(['a client does not read: reading from it waits']);
  publisher.stream.end();
  await tested.settle();
  return { tested, client };
}
