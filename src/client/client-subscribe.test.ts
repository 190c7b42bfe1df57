// Subscriptions of the client library, against a scripted broker: order, acknowledgment, failure and the end.

import { duplexPair } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { connectPair, connectSubscribed, pingPong } from '../testing/connected-pair.ts';
import { ScriptedBroker } from '../testing/scripted-broker.ts';
import { type Client, connect, type ReceivedMessage } from './index.ts';

function thrown(): never {
  throw new Error('no');
}

describe('subscribe', () => {
  it('hands over messages one after another and acknowledges each when the handler is done [CLIENT-005]', async () => {
    const gates: (() => void)[] = [];
    const seen: string[] = [];
    const { broker } = await connectSubscribed((delivery) => {
      seen.push(
        `${delivery.id} ${delivery.queue} ${JSON.stringify(delivery.json())} ${delivery.headers.get('a')}`,
      );
      return new Promise((resolve) => gates.push(resolve));
    });
    const parts = { command: 26, queue: 'orders', headers: [['a', 'b']] as [string, string][] };
    broker.send({ ...parts, id: 'm1', payload: '{"n":1}' }, { ...parts, id: 'm2', payload: '2' });
    await vi.waitFor(() => expect(seen).toEqual(['m1 orders {"n":1} b']));
    expect(broker.untaken).toEqual([]);
    gates[0]?.();
    expect(await broker.take()).toMatchObject({ command: 30, id: 'm1' });
    await vi.waitFor(() => expect(seen).toHaveLength(2));
    gates[1]?.();
    expect(await broker.take()).toMatchObject({ command: 30, id: 'm2' });
  });

  it('takes a Deliver in the same chunk as its SubscribeAck, and before the PublishAck of its own message [CLIENT-035]', async () => {
    const { client, broker } = await connectPair();
    const ids: string[] = [];
    const subscribing = client.subscribe('orders', ({ id }) => void ids.push(id));
    const { id } = await broker.take();
    broker.send({ command: 23, id, queue: 'orders' }, { command: 26, id: 'm1', queue: 'orders' });
    await subscribing;
    expect(await broker.take()).toMatchObject({ command: 30, id: 'm1' });
    const published = client.publish('orders', 1, { id: 'm2' });
    await broker.take();
    broker.send({ command: 26, id: 'm2', queue: 'orders' }, { command: 21, id: 'm2', queue: 'orders' });
    await published;
    await vi.waitFor(() => expect(ids).toEqual(['m1', 'm2']));
  });

  it('still acknowledges a message whose handler closes the client [CLIENT-005]', async () => {
    const { client, broker } = await connectSubscribed(() => void client.close());
    broker.send({ command: 26, id: 'm1', queue: 'orders' }, { command: 26, id: 'm2', queue: 'orders' });
    expect(await broker.take()).toMatchObject({ command: 30, id: 'm1' });
    expect(await broker.take()).toMatchObject({ command: 2 });
  });

  it('sends no ack for a message whose handler failed, and goes on [CLIENT-006, NACK-013]', async () => {
    const errors: unknown[] = [];
    const { broker } = await connectSubscribed(
      ({ id }) => {
        if (id === 'm1') throw new Error('no');
      },
      { onHandlerError: (error) => errors.push(error) },
    );
    broker.send({ command: 26, id: 'm1', queue: 'orders' }, { command: 26, id: 'm2', queue: 'orders' });
    expect(await broker.take()).toMatchObject({ command: 30, id: 'm2' });
    expect(errors).toEqual([new Error('no')]);
  });

  it.each([
    ['throws', () => thrown()],
    ['rejects', async () => thrown()],
    ['rejects with an object without a text form', () => Promise.reject(Object.create(null))],
  ])('goes on when onHandlerError %s', async (_, onHandlerError) => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const handle = ({ id }: ReceivedMessage) => (id === 'm1' ? thrown() : undefined);
    const { broker } = await connectSubscribed(handle, { onHandlerError });
    broker.send({ command: 26, id: 'm1', queue: 'orders' }, { command: 26, id: 'm2', queue: 'orders' });
    expect(await broker.take()).toMatchObject({ command: 30, id: 'm2' });
    await vi.waitFor(() =>
      expect(warned).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^onHandlerError failed: /)),
    );
    warned.mockRestore();
  });

  it('says why a handler failed to a broker that announced nack [NACK-011, NACK-012]', async () => {
    const handle = (delivery: ReceivedMessage) => {
      delivery.json();
      throw new Error('no');
    };
    const { broker } = await connectSubscribed(handle, {
      onHandlerError: () => undefined,
      welcome: [['capabilities', 'nack']],
    });
    broker.send(
      { command: 26, id: 'm1', queue: 'orders', payload: '1' },
      { command: 26, id: 'm2', queue: 'orders', payload: '{' },
    );
    expect(await broker.take()).toMatchObject({
      command: 30,
      id: 'm1',
      headers: [['failureReason', 'HandlerException']],
    });
    expect(await broker.take()).toMatchObject({
      id: 'm2',
      headers: [['failureReason', 'DeserializationError']],
    });
  });

  it('that cannot be sent sends no Unsubscribe; one without an answer does, and says no more than its own failure', async () => {
    vi.useFakeTimers();
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue();
    const { client, broker } = await connectPair({ commandTimeoutMs: 1_000, keepAliveIntervalMs: 60_000 });
    const subscribe = (queue: string) => client.subscribe(queue, () => undefined);
    await expect(subscribe(5 as never)).rejects.toThrow(TypeError);
    await expect(subscribe('x'.repeat(70_000))).rejects.toThrow(RangeError);
    const failed = expect(subscribe('orders')).rejects.toMatchObject({ code: 'COMMAND_TIMEOUT' });
    expect(await broker.take()).toMatchObject({ command: 22 });
    expect(broker.untaken).toEqual([]);
    await vi.advanceTimersByTimeAsync(1_000);
    await failed;
    expect(await broker.take()).toMatchObject({ command: 24, queue: 'orders' });
    await vi.advanceTimersByTimeAsync(2_000);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
    vi.useRealTimers();
    await client.close();
  });

  it('asks for a window, and is not subscribed when refused', async () => {
    const { client, broker } = await connectPair();
    const handled = vi.fn();
    const refused = expect(client.subscribe('orders', handled, { maxInFlight: 3 })).rejects.toMatchObject({
      code: 'NOT_AUTHORIZED',
    });
    const frame = await broker.take();
    expect(frame).toMatchObject({ command: 22, headers: [['maxInFlight', '3']] });
    broker.send({ command: 99, id: frame.id, errorCode: 'NOT_AUTHORIZED', errorMessage: '' });
    await refused;
    broker.send({ command: 26, id: 'm1', queue: 'orders' });
    await pingPong({ client, broker });
    expect(handled).not.toHaveBeenCalled();
  });

  it('two calls that are aborted leave no subscription', async () => {
    const { client, broker } = await connectPair();
    const handled = vi.fn();
    const [first, second] = [new AbortController(), new AbortController()];
    const calls = [first, second].map(({ signal }) => client.subscribe('orders', handled, { signal }));
    const ids = await broker.takeIds(2);
    first.abort();
    second.abort();
    await Promise.allSettled(calls);
    broker.send(...ids.map((id) => ({ command: 23, id, queue: 'orders' })));
    broker.send({ command: 26, id: 'm1', queue: 'orders' });
    expect(await broker.take()).toMatchObject({ command: 24, queue: 'orders' });
    await pingPong({ client, broker });
    expect(handled).not.toHaveBeenCalled();
  });

  it('unsubscribes [CLIENT-001]', async () => {
    const handled = vi.fn();
    const { client, broker } = await connectSubscribed(handled);
    const done = client.unsubscribe('orders');
    const frame = await broker.take();
    expect(frame).toMatchObject({ command: 24, queue: 'orders' });
    broker.send({ command: 25, id: frame.id, queue: 'orders' });
    await done;
    broker.send({ command: 26, id: 'm1', queue: 'orders' });
    await pingPong({ client, broker });
    expect(handled).not.toHaveBeenCalled();
  });

  it('stops reading while too many messages wait for the handler, and then goes on', async () => {
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const [near, far] = duplexPair();
    const broker = new ScriptedBroker(far);
    const [client] = await Promise.all([connect({ stream: near }), broker.welcome()]);
    let handledCount = 0;
    const subscribing = client.subscribe('orders', async () => {
      await gate;
      handledCount += 1;
    });
    broker.send({ command: 23, id: (await broker.take()).id });
    await subscribing;
    for (let number = 0; number < 3_000; number += 1)
      broker.send({ command: 26, id: `m${number}`, queue: 'orders' });
    await vi.waitFor(() => expect(near.isPaused()).toBe(true));
    release();
    await vi.waitFor(() => expect(handledCount).toBe(3_000));
    expect(near.isPaused()).toBe(false);
  });

  it('stops reading while too many bytes wait for the handler, however few messages they are', async () => {
    const { near, broker } = await connectStuck();
    const payload = JSON.stringify('x'.repeat(1_000_000));
    for (let number = 0; number < 70; number += 1)
      broker.send({ command: 26, id: `m${number}`, queue: 'orders', payload });
    await vi.waitFor(() => expect(near.isPaused()).toBe(true), { timeout: 10_000 });
  });

  it.each<[string, (client: Client) => Promise<void>, number]>([
    ['has replaced the handler that they wait for', (client) => client.subscribe('orders', vi.fn()), 23],
    ['has unsubscribed', (client) => client.unsubscribe('orders'), 25],
  ])('reads on when a call %s', async (_what, act, answer) => {
    const { near, client, broker } = await connectStuck();
    for (let number = 0; number <= 1_024; number += 1)
      broker.send({ command: 26, id: `m${number}`, queue: 'orders' });
    await vi.waitFor(() => expect(near.isPaused()).toBe(true));
    const acting = act(client);
    broker.send({ command: answer, id: (await broker.take()).id });
    await acting;
    expect(near.isPaused()).toBe(false);
  });

  it('reads on while a handler waits for the answer to its own command, whatever waits for handlers [CLIENT-048]', async () => {
    const { client, broker } = await connectSubscribed(async () => {
      await client.publish('results', 1);
    });
    for (let number = 0; number < 3_000; number += 1)
      broker.send({ command: 26, id: `m${number}`, queue: 'orders' });
    const commands: number[] = [];
    while (commands.length < 6_000) {
      const { command, id } = await broker.take();
      commands.push(command);
      if (command === 20) broker.send({ command: 21, id, queue: 'results' });
    }
    expect(commands).toEqual(Array.from({ length: 3_000 }, () => [20, 30]).flat());
  });

  it('reads no more again when the answer that it read on for has come [CLIENT-048]', async () => {
    const { near, client, broker } = await connectStuck();
    const sendMany = () => {
      for (let number = 0; number <= 1_024; number += 1)
        broker.send({ command: 26, id: `m${number}`, queue: 'orders' });
    };
    sendMany();
    await vi.waitFor(() => expect(near.isPaused()).toBe(true));
    sendMany();
    await pingPong({ client, broker });
    await vi.waitFor(() => expect(near.isPaused()).toBe(true));
  });
});

/** With a handler that never ends, and the client's end of the line. */
async function connectStuck() {
  const [near, far] = duplexPair();
  const broker = new ScriptedBroker(far);
  const [client] = await Promise.all([connect({ stream: near }), broker.welcome()]);
  const subscribing = client.subscribe('orders', () => new Promise(() => undefined));
  broker.send({ command: 23, id: (await broker.take()).id });
  await subscribing;
  return { near, client, broker };
}
