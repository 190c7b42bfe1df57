// publishAll: how many values are under way, and what ends it: a failure of a publish, of the source, of the client, or the signal, also while the
// source has no value.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ScriptedNetwork, useVirtualTime } from '../testing/scripted-network.ts';

let network: ScriptedNetwork;

beforeEach(() => {
  useVirtualTime();
  network = new ScriptedNetwork();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Gives its values, and then nothing, for ever; notes what it is asked. */
class IdleSource implements AsyncIterable<number>, AsyncIterator<number> {
  readonly asked: string[] = [];
  readonly #values: number[];

  constructor(...values: readonly number[]) {
    this.#values = [...values];
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<number>> {
    this.asked.push('next');
    const value = this.#values.shift();
    return value === undefined ? new Promise(() => undefined) : Promise.resolve({ done: false, value });
  }

  return(): Promise<IteratorResult<number>> {
    this.asked.push('return');
    return new Promise(() => undefined);
  }
}

describe('publishAll', () => {
  it('publishes every value of an iterable, never more at a time than the window', async () => {
    const { client, broker } = await network.connect({ publishWindow: { maxCount: 3 } });
    async function* values() {
      for (let value = 0; value < 10; value += 1) yield value;
    }
    const published = client.publishAll('orders', values());
    let takenCount = 0;
    while (takenCount < 10) {
      await network.settle();
      expect(broker.untaken.length).toBeLessThanOrEqual(3);
      const ids = await broker.takeIds(broker.untaken.length);
      takenCount += ids.length;
      broker.confirm(...ids);
    }
    await expect(published).resolves.toBe(10);
    await client.close();
  });

  it('takes no more values after a failure, and rejects with it when the others are settled', async () => {
    const { client, broker } = await network.connect({ publishWindow: { maxCount: 2 } });
    let givenCount = 0;
    function* values() {
      for (;;) {
        givenCount += 1;
        yield givenCount;
      }
    }
    const failed = expect(client.publishAll('orders', values())).rejects.toMatchObject({
      code: 'QUEUE_FULL',
    });
    const [first = '', second = ''] = await broker.takeIds(2);
    broker.send({ command: 99, id: first, errorCode: 'QUEUE_FULL', errorMessage: '' });
    broker.confirm(second);
    await failed;
    expect(givenCount).toBe(2);
    expect(broker.untaken).toEqual([]);
    await client.close();
  });

  it('rejects with the failure of its source when the publishes under way are settled', async () => {
    const { client, broker } = await network.connect();
    function* values() {
      yield 1;
      throw new Error('no more');
    }
    let isSettled = false;
    const published = client.publishAll('orders', values()).finally(() => {
      isSettled = true;
    });
    const failed = expect(published).rejects.toThrow('no more');
    const ids = await broker.takeIds(1);
    await network.settle();
    expect(isSettled).toBe(false);
    broker.confirm(...ids);
    await failed;
    await client.close();
  });
});

describe('publishAll from a source that is idle', () => {
  it('ends when its signal is aborted, and asks the source to end', async () => {
    const { client, broker } = await network.connect();
    const controller = new AbortController();
    const source = new IdleSource(1);
    const published = client.publishAll('orders', source, { signal: controller.signal });
    const failed = expect(published).rejects.toThrow('enough');
    await broker.takeIds(1);
    await network.settle();
    controller.abort(new Error('enough'));
    await failed;
    expect(source.asked).toEqual(['next', 'next', 'return']);
    await client.close();
  });

  it('ends when the client is closed', async () => {
    const { client } = await network.connect();
    const source = new IdleSource();
    const failed = expect(client.publishAll('orders', source)).rejects.toMatchObject({
      code: 'CONNECTION_ENDED',
    });
    await network.settle();
    await client.close();
    await failed;
    expect(source.asked).toEqual(['next', 'return']);
    const late = new IdleSource();
    await expect(client.publishAll('orders', late)).rejects.toMatchObject({ code: 'CONNECTION_ENDED' });
    expect(late.asked).toEqual([]);
  });

  it('ends when one of its publishes fails, after the others are settled', async () => {
    const { client, broker } = await network.connect();
    const source = new IdleSource(1, 2);
    const order: string[] = [];
    const failed = expect(client.publishAll('orders', source)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    const noted = failed.then(() => order.push('failed'));
    const [first = '', second = ''] = await broker.takeIds(2);
    broker.send({ command: 99, id: first, errorCode: 'QUEUE_FULL', errorMessage: '' });
    await network.settle();
    expect(source.asked).toEqual(['next', 'next', 'next', 'return']);
    order.push('settles');
    broker.confirm(second);
    await noted;
    expect(order).toEqual(['settles', 'failed']);
    await client.close();
  });

  it('ends when its publish fails while it waits for room', async () => {
    const { client, broker } = await network.connect({ publishWindow: { maxCount: 2 } });
    const source = new IdleSource(1, 2, 3);
    const failed = expect(client.publishAll('orders', source)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    const [first = '', second = ''] = await broker.takeIds(2);
    broker.send({ command: 99, id: first, errorCode: 'QUEUE_FULL', errorMessage: '' });
    broker.confirm(second);
    await failed;
    expect(source.asked).toEqual(['next', 'next', 'return']);
    await client.close();
  });

  it('a source that fails when it is asked to end, or later, disturbs nothing', async () => {
    const rejections: unknown[] = [];
    const onRejection = (reason: unknown) => void rejections.push(reason);
    process.on('unhandledRejection', onRejection);
    const { client } = await network.connect();
    const controller = new AbortController();
    let breakLater: (error: Error) => void = () => undefined;
    const source = {
      [Symbol.asyncIterator]: () => source,
      next: () =>
        new Promise<IteratorResult<number>>((_resolve, reject) => {
          breakLater = reject;
        }),
      return: () => {
        throw new Error('no end');
      },
    };
    const { signal } = controller;
    const failed = expect(client.publishAll('orders', source, { signal })).rejects.toThrow('enough');
    await network.settle();
    controller.abort(new Error('enough'));
    await failed;
    breakLater(new Error('later'));
    await network.settle();
    process.off('unhandledRejection', onRejection);
    expect(rejections).toEqual([]);
    await client.close();
  });

  it('takes no value when its signal was aborted before', async () => {
    const { client } = await network.connect();
    const source = new IdleSource(1);
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(client.publishAll('orders', source, { signal })).rejects.toThrow('enough');
    expect(source.asked).toEqual([]);
    await client.close();
  });
});

it('publishAll refuses what has no values, and an id for all of them', async () => {
  const { client } = await network.connect();
  await expect(client.publishAll('orders', 5 as never)).rejects.toThrow(
    /^values: came 5; allowed is an iterable/,
  );
  await expect(client.publishAll('orders', [1], { id: 'm' } as object)).rejects.toThrow(/unknown option id/);
  await client.close();
});

it('publishAll awaits values that are promises', async () => {
  const { client, broker } = await network.connect();
  const published = client.publishAll('orders', [Promise.resolve('late')]);
  const frame = await broker.take();
  expect(Buffer.from(frame.payload).toString()).toBe('"late"');
  broker.confirm(frame.id);
  expect(await published).toBe(1);
  await client.close();
});
