// Losing the connection and finding another, in virtual time: when the client tries, what it renews, when it gives up, and its events.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectPair } from '../testing/connected-pair.ts';
import { ScriptedNetwork, useVirtualTime } from '../testing/scripted-network.ts';
import { type Client, connect } from './index.ts';

let network: ScriptedNetwork;

beforeEach(() => {
  useVirtualTime();
  network = new ScriptedNetwork();
});

afterEach(() => {
  vi.useRealTimers();
});

/** The client's events, one line each. */
function eventsOf(client: Client): readonly string[] {
  const lines: string[] = [];
  client.on('disconnected', ({ reason }) => lines.push(`disconnected ${reason}`));
  client.on('reconnecting', ({ attempt, delayMs }) => lines.push(`reconnecting ${attempt} in ${delayMs}`));
  client.on('reconnected', ({ attempt }) => lines.push(`reconnected ${attempt}`));
  client.on('closed', ({ error }) => lines.push(`closed ${error?.code}`));
  return lines;
}

async function subscribe(
  client: Client,
  broker: Awaited<ReturnType<ScriptedNetwork['take']>>,
  handled = vi.fn(),
) {
  const subscribing = client.subscribe('orders', handled, { maxInFlight: 7 });
  const { id } = await broker.take();
  broker.send({ command: 23, id, queue: 'orders' });
  await subscribing;
  return handled;
}

describe('reconnecting', () => {
  it('tries after 1, 2, 4 and 8 seconds, and after every success begins anew [CLIENT-010, CLIENT-011]', async () => {
    const { client, broker } = await network.connect();
    network.isDown = true;
    const lostAt = performance.now();
    broker.destroy();
    await network.settle();
    await vi.advanceTimersByTimeAsync(14_999);
    network.isDown = false;
    await vi.advanceTimersByTimeAsync(1);
    const next = await network.take();
    await next.welcome();
    await network.settle();
    expect(network.attemptsAt.slice(1).map((at) => Math.round(at - lostAt))).toEqual([
      1_000, 3_000, 7_000, 15_000,
    ]);
    await network.reconnect(next);
    await network.settle();
    expect(network.attemptsAt).toHaveLength(6);
    await client.close();
  });

  it('waits 5 minutes at most, and tries for days [CLIENT-012]', async () => {
    const { client, broker } = await network.connect();
    network.isDown = true;
    broker.destroy();
    await network.settle();
    await vi.advanceTimersByTimeAsync(2 * 24 * 3_600_000);
    const gaps = network.attemptsAt.slice(2).map((at, index) => at - (network.attemptsAt[index + 1] ?? 0));
    expect(gaps.length).toBeGreaterThan(570);
    expect(gaps.map(Math.round).slice(8)).toEqual(gaps.slice(8).map(() => 300_000));
    await client.close();
  });

  it('waits the initial delay before every attempt without backoff [CLIENT-013]', async () => {
    const reconnect = { exponentialBackoff: false, initialDelayMs: 500, maxAttempts: 4 };
    const { client, broker } = await network.connect({ reconnect });
    network.isDown = true;
    const events = eventsOf(client);
    broker.destroy();
    await network.settle();
    await vi.advanceTimersByTimeAsync(2_000);
    await client.closed;
    expect(events).toEqual([
      'disconnected undefined',
      ...[1, 2, 3, 4].map((attempt) => `reconnecting ${attempt} in 500`),
      'closed RECONNECT_FAILED',
    ]);
  });

  it('ends after the last attempt, and says why', async () => {
    const { client, broker } = await network.connect({ reconnect: { maxAttempts: 2 } });
    const waiting = client.publish('orders', 1);
    const failed = expect(waiting).rejects.toMatchObject({ code: 'RECONNECT_FAILED' });
    await broker.take();
    network.isDown = true;
    broker.destroy();
    await network.settle();
    await vi.advanceTimersByTimeAsync(3_000);
    await expect(client.closed).resolves.toMatchObject({
      error: { code: 'RECONNECT_FAILED', message: 'no connection after 2 attempts: nobody listens' },
    });
    await failed;
    await expect(client.ping()).rejects.toMatchObject({ code: 'RECONNECT_FAILED' });
  });

  it('tells its listeners what happens [CLIENT-039]', async () => {
    const { client, broker } = await network.connect();
    const events = eventsOf(client);
    broker.send({ command: 2, id: 'x', headers: [['reason', 'server_shutdown']] });
    broker.end();
    await network.settle();
    await vi.advanceTimersByTimeAsync(1_000);
    await (await network.take()).welcome();
    await network.settle();
    expect(events).toEqual(['disconnected server_shutdown', 'reconnecting 1 in 1000', 'reconnected 1']);
    await client.close();
    expect(events.slice(3)).toEqual(['disconnected undefined', 'closed undefined']);
  });

  it('survives a listener that throws, and forgets one that is removed [CLIENT-039]', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const { client, broker } = await network.connect();
    const removed = vi.fn();
    client.on('disconnected', removed).off('disconnected', removed);
    client.on('disconnected', () => {
      throw new Error('no');
    });
    await network.reconnect(broker);
    await network.settle();
    expect(warned).toHaveBeenCalledExactlyOnceWith('a listener of disconnected failed: no');
    expect(removed).not.toHaveBeenCalled();
    warned.mockRestore();
    await client.close();
  });

  it('tries again when a connection is lost during the handshake, and when the broker has no room', async () => {
    const { client, broker } = await network.connect();
    const events = eventsOf(client);
    broker.destroy();
    await network.settle();
    await vi.advanceTimersByTimeAsync(1_000);
    (await network.take()).destroy();
    await network.settle();
    await vi.advanceTimersByTimeAsync(2_000);
    const full = await network.take();
    full.send({ command: 99, id: (await full.take()).id, errorCode: 'CONNECTION_LIMIT', errorMessage: '' });
    await network.settle();
    await vi.advanceTimersByTimeAsync(4_000);
    await (await network.take()).welcome();
    await network.settle();
    expect(events.at(-1)).toBe('reconnected 3');
    await client.close();
  });

  it.each(['AUTH_FAILED', 'AUTH_REQUIRED'])(
    'ends when the broker answers %s: nothing would change',
    async (code) => {
      const { client, broker } = await network.connect();
      broker.destroy();
      await network.settle();
      await vi.advanceTimersByTimeAsync(1_000);
      const refusing = await network.take();
      refusing.send({ command: 99, id: (await refusing.take()).id, errorCode: code, errorMessage: '' });
      await expect(client.closed).resolves.toMatchObject({ error: { code } });
      await expect(client.publish('orders', 1)).rejects.toMatchObject({ code });
    },
  );

  it('does not try the first connection again, nor when it is not wanted', async () => {
    network.isDown = true;
    await expect(connect({ openStream: network.openStream })).rejects.toThrow('nobody listens');
    expect(network.attemptsAt).toHaveLength(1);
    network.isDown = false;
    const { client, broker } = await network.connect({ reconnect: false });
    broker.destroy();
    await expect(client.closed).resolves.toMatchObject({ error: { code: 'CONNECTION_ENDED' } });
    const given = await connectPair();
    given.broker.end();
    await expect(given.client.closed).resolves.toMatchObject({ error: { code: 'CONNECTION_ENDED' } });
  });
});

describe('after a reconnect', () => {
  it('the client subscribes again with the same options [CLIENT-014]', async () => {
    const { client, broker } = await network.connect();
    const handled = await subscribe(client, broker);
    const next = await network.reconnect(broker);
    const frame = await next.take();
    expect(frame).toMatchObject({ command: 22, queue: 'orders', headers: [['maxInFlight', '7']] });
    next.send({ command: 23, id: frame.id, queue: 'orders' }, { command: 26, id: 'm1', queue: 'orders' });
    expect(await next.take()).toMatchObject({ command: 30, id: 'm1' });
    expect(handled).toHaveBeenCalledOnce();
    await client.close();
  });

  it('a subscription that the broker refuses is lost, the others are not [CLIENT-014]', async () => {
    const { client, broker } = await network.connect();
    await subscribe(client, broker);
    const lost = vi.fn();
    client.on('subscriptionLost', lost);
    const next = await network.reconnect(broker);
    const { id } = await next.take();
    next.send({ command: 99, id, errorCode: 'QUEUE_NOT_FOUND', errorMessage: 'no such queue' });
    await network.settle();
    expect(lost).toHaveBeenCalledExactlyOnceWith({
      queue: 'orders',
      error: expect.objectContaining({ code: 'QUEUE_NOT_FOUND', command: 'Subscribe', queue: 'orders' }),
    });
    expect(client.capabilities).toBeDefined();
    const after = await network.reconnect(next);
    await network.settle();
    expect(after.untaken).toEqual([]);
    await client.close();
  });

  it('a subscription is renewed that is to be replaced, so that it goes on when the other one is refused [CLIENT-014]', async () => {
    const { client, broker } = await network.connect();
    const handled = await subscribe(client, broker);
    broker.destroy();
    await network.settle();
    const refused = expect(client.subscribe('orders', vi.fn())).rejects.toMatchObject({
      code: 'MEMORY_LIMIT',
    });
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    next.send({ command: 23, id: (await next.take()).id, queue: 'orders' });
    const { id } = await next.take();
    next.send({ command: 99, id, errorCode: 'MEMORY_LIMIT', errorMessage: '' });
    await refused;
    next.send({ command: 26, id: 'm1', queue: 'orders' });
    await network.settle();
    expect(handled).toHaveBeenCalledOnce();
    await client.close();
  });

  it('a subscription that is refused is lost, also while another one is to replace it [CLIENT-014]', async () => {
    const { client, broker } = await network.connect();
    await subscribe(client, broker);
    broker.destroy();
    await network.settle();
    const lost = vi.fn();
    client.on('subscriptionLost', lost);
    const replacing = client.subscribe('orders', vi.fn());
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    const { id } = await next.take();
    next.send({ command: 99, id, errorCode: 'QUEUE_NOT_FOUND', errorMessage: '' });
    next.send({ command: 23, id: (await next.take()).id, queue: 'orders' });
    await replacing;
    expect(lost).toHaveBeenCalledOnce();
    await client.close();
  });

  it('a queue that was unsubscribed in the break is not subscribed [CLIENT-014]', async () => {
    const { client, broker } = await network.connect();
    await subscribe(client, broker);
    broker.destroy();
    await network.settle();
    await client.unsubscribe('orders');
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    await network.settle();
    expect(next.untaken).toEqual([]);
    await client.close();
  });

  it('a queue that was subscribed and unsubscribed in the break is not subscribed for long [CLIENT-014]', async () => {
    const { client, broker } = await network.connect();
    broker.destroy();
    await network.settle();
    const subscribing = client.subscribe('orders', vi.fn());
    await client.unsubscribe('orders');
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    const { id } = await next.take();
    next.send({ command: 23, id, queue: 'orders' });
    const unsubscribe = await next.take();
    expect(unsubscribe).toMatchObject({ command: 24, queue: 'orders' });
    next.send({ command: 25, id: unsubscribe.id, queue: 'orders' });
    await subscribing;
    await client.close();
  });

  it('a message of the lost connection is not acknowledged, for its id may be that of another delivery [CLIENT-044]', async () => {
    const { client, broker } = await network.connect();
    const gates: (() => void)[] = [];
    await subscribe(
      client,
      broker,
      vi.fn(() => new Promise<void>((resolve) => gates.push(resolve))),
    );
    broker.send({ command: 26, id: 'm1', queue: 'orders' }, { command: 26, id: 'm2', queue: 'orders' });
    await network.settle();
    const next = await network.reconnect(broker);
    const { id } = await next.take();
    next.send({ command: 23, id, queue: 'orders' }, { command: 26, id: 'm1', queue: 'orders' });
    await network.settle();
    gates[0]?.();
    await network.settle();
    expect(next.untaken).toEqual([]);
    expect(gates).toHaveLength(2);
    gates[1]?.();
    expect(await next.take()).toMatchObject({ command: 30, id: 'm1' });
    await network.settle();
    expect(next.untaken).toEqual([]);
    await client.close();
  });
});

describe('commands', () => {
  it('under way when the connection is lost fail, because nobody knows whether they were carried out', async () => {
    const { client, broker } = await network.connect();
    const failed = expect(client.deleteQueue('orders')).rejects.toMatchObject({ code: 'CONNECTION_ENDED' });
    await broker.take();
    const next = await network.reconnect(broker);
    await failed;
    await network.settle();
    expect(next.untaken).toEqual([]);
    await client.close();
  });

  it('of a break wait for the connection', async () => {
    const { client, broker } = await network.connect();
    broker.destroy();
    await network.settle();
    const listed = client.listQueues();
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    const { id, command } = await next.take();
    next.send({ command, id, payload: '["a"]' });
    await expect(listed).resolves.toEqual(['a']);
    await client.close();
  });

  it('of a break wait no longer than the command timeout', async () => {
    const { client, broker } = await network.connect({ reconnect: { initialDelayMs: 60_000 } });
    broker.destroy();
    await network.settle();
    const failed = expect(client.deleteQueue('orders')).rejects.toMatchObject({
      code: 'NOT_CONNECTED',
      message: 'DeleteQueue of queue "orders" was not sent: there was no connection for 10000 ms',
    });
    await vi.advanceTimersByTimeAsync(10_000);
    await failed;
    await client.close();
  });
});

describe('close', () => {
  it('ends a wait between two attempts, and what waits for the connection', async () => {
    const { client, broker } = await network.connect();
    broker.destroy();
    await network.settle();
    const failed = [client.publish('orders', 1), client.listQueues()].map((operation) =>
      expect(operation).rejects.toMatchObject({ code: 'CONNECTION_ENDED' }),
    );
    await client.close();
    await Promise.all(failed);
    await expect(client.closed).resolves.toEqual({ error: undefined, reason: undefined });
    expect(vi.getTimerCount()).toBe(0);
    expect(network.attemptsAt).toHaveLength(1);
  });

  it('ends an attempt that is under way', async () => {
    const { client, broker } = await network.connect();
    broker.destroy();
    await network.settle();
    await vi.advanceTimersByTimeAsync(1_000);
    await network.take();
    await client.close();
    await network.settle();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('an AbortSignal', () => {
  it('ends a connect that waits for the answer', async () => {
    const controller = new AbortController();
    const { openStream } = network;
    const failed = expect(connect({ openStream, signal: controller.signal })).rejects.toThrow('enough');
    await network.settle();
    controller.abort(new Error('enough'));
    await failed;
  });

  it('ends a command under way, one that waits in a break, and one that has not begun', async () => {
    const { client, broker } = await network.connect();
    const controller = new AbortController();
    const { signal } = controller;
    const underWay = expect(client.listQueues({ signal })).rejects.toThrow('enough');
    await broker.take();
    controller.abort(new Error('enough'));
    await underWay;
    await expect(client.queueInfo('orders', { signal })).rejects.toThrow('enough');
    broker.destroy();
    await network.settle();
    const later = new AbortController();
    const waiting = expect(client.ping({ signal: later.signal })).rejects.toThrow('enough');
    later.abort(new Error('enough'));
    await waiting;
    await client.close();
  });
});
