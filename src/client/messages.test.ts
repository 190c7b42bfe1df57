// Messages in a `for await` loop, and manual acknowledgment, against a scripted broker.

import { describe, expect, it, vi } from 'vitest';
import { connectPair, connectSubscribed, pingPong } from '../testing/connected-pair.ts';
import type { ScriptedBroker } from '../testing/scripted-broker.ts';
import type { ReceivedMessage } from './index.ts';

async function accept(broker: ScriptedBroker, answer: number): Promise<void> {
  const { id, queue } = await broker.take();
  broker.send({ command: answer, id, queue });
}

const deliver = (id: string, payload = '1') => ({ command: 26, id, queue: 'orders', payload });

describe('a loop over messages', () => {
  it('acknowledges a message when it asks for the next, and not the one that it is left with [CLIENT-046]', async () => {
    const { client, broker } = await connectPair();
    const values: number[] = [];
    const looping = (async () => {
      for await (const message of client.messages<number>('orders')) {
        values.push(message.json());
        if (message.id === 'm2') break;
      }
    })();
    await accept(broker, 23);
    broker.send(deliver('m1', '11'), deliver('m2', '12'), deliver('m3', '13'));
    expect(await broker.take()).toMatchObject({ command: 30, id: 'm1' });
    const unsubscribe = await broker.take();
    expect(unsubscribe).toMatchObject({ command: 24, queue: 'orders' });
    broker.send({ command: 25, id: unsubscribe.id, queue: 'orders' });
    await looping;
    expect(values).toEqual([11, 12]);
    await pingPong({ client, broker });
    expect(broker.untaken).toEqual([]);
  });

  it('that throws acknowledges nothing more, and unsubscribes [CLIENT-046]', async () => {
    const { client, broker } = await connectPair();
    const failed = expect(
      (async () => {
        for await (const { id } of client.messages('orders')) throw new Error(`no ${id}`);
      })(),
    ).rejects.toThrow('no m1');
    await accept(broker, 23);
    broker.send(deliver('m1'));
    const unsubscribe = await broker.take();
    expect(unsubscribe).toMatchObject({ command: 24 });
    broker.send({ command: 25, id: unsubscribe.id });
    await failed;
  });

  it('ends when the client is closed, and throws when the connection is lost for good or the signal is aborted', async () => {
    const endOf = async (
      end: (pair: Awaited<ReturnType<typeof connectPair>>, controller: AbortController) => void,
    ) => {
      const pair = await connectPair();
      const controller = new AbortController();
      const loop = pair.client.messages('orders', { signal: controller.signal });
      const next = loop.next().catch((error: Error) => error);
      await accept(pair.broker, 23);
      await pingPong(pair);
      end(pair, controller);
      if (controller.signal.aborted) await accept(pair.broker, 25);
      return next;
    };
    expect(await endOf(({ client }) => void client.close())).toEqual({ done: true, value: undefined });
    expect(await endOf(({ broker }) => broker.end())).toMatchObject({ code: 'CONNECTION_ENDED' });
    expect(await endOf((_, controller) => controller.abort(new Error('enough')))).toEqual(
      new Error('enough'),
    );
  });

  it('throws when another subscription of the client takes its place, and leaves that one alone', async () => {
    const { client, broker } = await connectPair();
    const first = client.messages('orders');
    const failed = expect(first.next()).rejects.toMatchObject({
      name: 'SubscriptionReplacedError',
      code: 'SUBSCRIPTION_REPLACED',
      queue: 'orders',
      message: /^another subscription to queue "orders" took the place of this loop/,
    });
    await accept(broker, 23);
    await pingPong({ client, broker });
    const second = client.messages('orders').next();
    await accept(broker, 23);
    await failed;
    broker.send(deliver('m1'));
    expect(await second).toMatchObject({ done: false, value: { id: 'm1' } });
    await pingPong({ client, broker });
    expect(broker.untaken).toEqual([]);
  });

  it('ends when the client unsubscribes', async () => {
    const { client, broker } = await connectPair();
    const next = client.messages('orders').next();
    await accept(broker, 23);
    await pingPong({ client, broker });
    const unsubscribed = client.unsubscribe('orders');
    await accept(broker, 25);
    await unsubscribed;
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it('ends when the client is closed while another subscription waits to take its place [CLIENT-046]', async () => {
    const { client, broker } = await connectPair();
    const next = client.messages('orders').next();
    await accept(broker, 23);
    await pingPong({ client, broker });
    const failed = expect(client.subscribe('orders', vi.fn())).rejects.toMatchObject({
      code: 'CONNECTION_ENDED',
    });
    await broker.take();
    await client.close();
    expect(await next).toEqual({ done: true, value: undefined });
    await failed;
  });

  it('that was left does not come back when the subscription that was to take its place is refused', async () => {
    const { client, broker } = await connectPair();
    const loop = client.messages('orders');
    const next = loop.next();
    await accept(broker, 23);
    await pingPong({ client, broker });
    const refused = expect(client.subscribe('orders', vi.fn())).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
    const { id } = await broker.take();
    await loop.return();
    expect(await next).toEqual({ done: true, value: undefined });
    broker.send({ command: 99, id, errorCode: 'LIMIT_EXCEEDED', errorMessage: '' });
    await refused;
    expect(await broker.take()).toMatchObject({ command: 24, queue: 'orders' });
  });

  it('throws when the second of two other subscriptions takes its place, and the first is refused', async () => {
    const { client, broker } = await connectPair();
    const failed = expect(client.messages('orders').next()).rejects.toMatchObject({
      name: 'SubscriptionReplacedError',
    });
    await accept(broker, 23);
    await pingPong({ client, broker });
    const refused = expect(client.subscribe('orders', vi.fn())).rejects.toMatchObject({
      code: 'LIMIT_EXCEEDED',
    });
    const second = client.subscribe('orders', vi.fn());
    const { id } = await broker.take();
    broker.send({ command: 99, id, errorCode: 'LIMIT_EXCEEDED', errorMessage: '' });
    await accept(broker, 23);
    await Promise.all([refused, second, failed]);
  });

  it('throws when the broker refuses the subscription', async () => {
    const { client, broker } = await connectPair();
    const failed = expect(client.messages('orders').next()).rejects.toMatchObject({ code: 'NOT_AUTHORIZED' });
    const { id } = await broker.take();
    broker.send({ command: 99, id, errorCode: 'NOT_AUTHORIZED', errorMessage: '' });
    await failed;
    await pingPong({ client, broker });
    expect(broker.untaken).toEqual([]);
  });
});

describe('a loop that is left while it waits', () => {
  const over = { done: true, value: undefined };

  it.each<[string, (loop: AsyncGenerator) => Promise<unknown>]>([
    ['return()', (loop) => loop.return(undefined)],
    ['await using', async (loop) => loop[Symbol.asyncDispose]()],
    ['throw()', (loop) => loop.throw(new Error('mine')).catch((error: Error) => error)],
  ])('for a message, by %s, ends at once and unsubscribes [CLIENT-046]', async (_how, leave) => {
    const { client, broker } = await connectPair();
    const loop = client.messages('orders');
    const waiting = Promise.all([loop.next(), loop.next()]);
    await accept(broker, 23);
    await pingPong({ client, broker });
    const left = leave(loop);
    const unsubscribe = await broker.take();
    expect(unsubscribe).toMatchObject({ command: 24, queue: 'orders' });
    broker.send({ command: 25, id: unsubscribe.id, queue: 'orders' });
    expect(await waiting).toEqual([over, over]);
    expect([undefined, over, new Error('mine')]).toContainEqual(await left);
    expect(await loop.next()).toEqual(over);
    await pingPong({ client, broker });
    expect(broker.untaken).toEqual([]);
  });

  it('for the answer to its Subscribe ends at once, and takes it back', async () => {
    const { client, broker } = await connectPair();
    const loop = client.messages('orders');
    const waiting = loop.next();
    const subscribe = await broker.take();
    expect(await loop.return(undefined)).toEqual(over);
    expect(await waiting).toEqual(over);
    broker.send({ command: 23, id: subscribe.id, queue: 'orders' });
    expect(await broker.take()).toMatchObject({ command: 24, queue: 'orders' });
  });

  it('leaves the subscription before it as it was when it was not accepted yet', async () => {
    const received: string[] = [];
    const pair = await connectSubscribed(({ id }) => void received.push(id));
    const loop = pair.client.messages('orders');
    const waiting = loop.next();
    await pair.broker.take();
    await loop.return(undefined);
    expect(await waiting).toEqual(over);
    pair.broker.send(deliver('m1'));
    expect(await pair.broker.take()).toMatchObject({ command: 30, id: 'm1' });
    expect(received).toEqual(['m1']);
  });

  it('that never began sends nothing', async () => {
    const { client, broker } = await connectPair();
    const loop = client.messages('orders');
    expect(await loop.return(undefined)).toEqual(over);
    expect(await loop.next()).toEqual(over);
    await pingPong({ client, broker });
    expect(broker.untaken).toEqual([]);
  });

  it('tells who leaves it that the broker refused to end the subscription, once', async () => {
    const { client, broker } = await connectPair();
    const loop = client.messages('orders');
    const waiting = loop.next();
    await accept(broker, 23);
    await pingPong({ client, broker });
    const failed = expect(loop.return(undefined)).rejects.toMatchObject({ code: 'INTERNAL' });
    const { id } = await broker.take();
    broker.send({ command: 99, id, errorCode: 'INTERNAL', errorMessage: '' });
    await failed;
    expect(await waiting).toEqual(over);
    expect(await loop.return(undefined)).toEqual(over);
  });

  it('by its signal does not wait for the broker', async () => {
    const { client, broker } = await connectPair();
    const controller = new AbortController();
    const loop = client.messages('orders', { signal: controller.signal });
    const failed = expect(loop.next()).rejects.toThrow('enough');
    await accept(broker, 23);
    await pingPong({ client, broker });
    controller.abort(new Error('enough'));
    await failed;
    expect(await broker.take()).toMatchObject({ command: 24, queue: 'orders' });
  });
});

it('the messages of a queue can be looped over again, with another subscription [CLIENT-046]', async () => {
  const { client, broker } = await connectPair();
  const messages = client.messages('orders');
  const loopOnce = async () => {
    for await (const { id } of messages) return id;
    return 'nothing';
  };
  for (const id of ['m1', 'm2', 'm3']) {
    const looping = loopOnce();
    await accept(broker, 23);
    broker.send(deliver(id));
    await accept(broker, 25);
    expect(await looping).toBe(id);
  }
  await client.close();
  await expect(loopOnce()).rejects.toMatchObject({ code: 'CONNECTION_ENDED' });
});

it('a loop goes on with the messages that next() has left', async () => {
  const { client, broker } = await connectPair();
  const messages = client.messages('orders');
  const first = messages.next();
  await accept(broker, 23);
  broker.send(deliver('m1'), deliver('m2'));
  await first;
  const looping = (async () => {
    for await (const { id } of messages) return id;
    return 'nothing';
  })();
  expect(await broker.take()).toMatchObject({ command: 30, id: 'm1' });
  await accept(broker, 25);
  expect(await looping).toBe('m2');
});

describe('manual acknowledgment', () => {
  it('sends an ack only when the handler says so, and once [CLIENT-047]', async () => {
    const received: ReceivedMessage[] = [];
    const { client, broker } = await connectPair();
    const subscribing = client.subscribe('orders', (message) => void received.push(message), {
      ack: 'manual',
    });
    await accept(broker, 23);
    await subscribing;
    broker.send(deliver('m1'), deliver('m2'));
    await vi.waitFor(() => expect(received).toHaveLength(2));
    await pingPong({ client, broker });
    expect([received[1]?.ack(), received[1]?.ack(), received[1]?.nack()]).toEqual([true, false, false]);
    expect(await broker.take()).toMatchObject({ command: 30, id: 'm2', headers: [] });
    await pingPong({ client, broker });
    expect(broker.untaken).toEqual([]);
  });

  it('refuses a message where the broker announced nack, and the ack after the handler is not sent [NACK-013]', async () => {
    const { broker } = await connectSubscribed((message) => void message.nack('DeserializationError'), {
      welcome: [['capabilities', 'nack']],
    });
    broker.send(deliver('m1'));
    expect(await broker.take()).toMatchObject({
      id: 'm1',
      headers: [['failureReason', 'DeserializationError']],
    });
    expect(broker.untaken).toEqual([]);
  });

  it('sends no refusal that is longer than its own limit, and goes on [NACK-013]', async () => {
    const answers: boolean[] = [];
    const longId = 'm'.repeat(220);
    const handle = (message: ReceivedMessage) => {
      if (message.id === longId) answers.push(message.nack());
    };
    const { broker } = await connectSubscribed(handle, {
      welcome: [['capabilities', 'nack']],
      maxMessageSizeBytes: 256,
    });
    broker.send(deliver(longId), deliver('m2'));
    expect(await broker.take()).toMatchObject({ command: 30, id: 'm2' });
    expect(answers).toEqual([false]);
    expect(broker.untaken).toEqual([]);
  });

  it('sends neither ack nor refusal when the broker did not announce nack [NACK-013]', async () => {
    const answers: boolean[] = [];
    const { client, broker } = await connectSubscribed((message) => void answers.push(message.nack()));
    broker.send(deliver('m1'));
    await vi.waitFor(() => expect(answers).toEqual([false]));
    await pingPong({ client, broker });
    expect(broker.untaken).toEqual([]);
  });
});

it('closes the client at the end of a block with await using', async () => {
  const { client, broker } = await connectPair();
  {
    await using used = client;
    expect(used.capabilities).toBeDefined();
  }
  expect(await broker.take()).toMatchObject({ command: 2 });
});
