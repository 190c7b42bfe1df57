// Publishes across a lost connection, and how many a client takes on: what is sent again, what waits, what is refused.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { connectPair } from '../testing/connected-pair.ts';
import { ScriptedNetwork, useVirtualTime } from '../testing/scripted-network.ts';
import { ConnectionError } from './errors.ts';
import { PublishBufferFullError } from './index.ts';
import { Publisher } from './publisher.ts';

let network: ScriptedNetwork;

beforeEach(() => {
  useVirtualTime();
  network = new ScriptedNetwork();
});

afterEach(() => {
  vi.useRealTimers();
});

describe('a publish that a lost connection interrupts', () => {
  it('is sent again with the same id, before those of the break, in order [CLIENT-042]', async () => {
    const { client, broker } = await network.connect();
    const headers = { a: 'b' };
    const published = ['m1', 'm2', 'm3'].map((id) => client.publish('orders', { id }, { id, headers }));
    await broker.takeIds(3);
    broker.confirm('m2');
    await published[1];
    broker.destroy();
    await network.settle();
    published.push(client.publish('orders', 4, { id: 'm4' }));
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    expect(await next.take()).toMatchObject({
      command: 20,
      id: 'm1',
      queue: 'orders',
      headers: [['a', 'b']],
    });
    expect(await next.takeIds(2)).toEqual(['m3', 'm4']);
    next.confirm('m1', 'm3', 'm4');
    await expect(Promise.all(published)).resolves.toEqual(['m1', 'm2', 'm3', 'm4']);
    await client.close();
  });

  it('is rejected when asked for; those of the break are sent [CLIENT-043]', async () => {
    const { client, broker } = await network.connect({ onInterruptedPublish: 'reject' });
    const interrupted = expect(client.publish('orders', 1, { id: 'm1' })).rejects.toMatchObject({
      code: 'CONNECTION_ENDED',
    });
    await broker.take();
    broker.destroy();
    await network.settle();
    await interrupted;
    const published = client.publish('orders', 2, { id: 'm2' });
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    expect(await next.takeIds(1)).toEqual(['m2']);
    next.confirm('m2');
    await published;
    await client.close();
  });

  it('is sent again when a stopping broker refused it, and no other is sent to that broker [CLIENT-042]', async () => {
    const { client, broker } = await network.connect();
    const first = client.publish('orders', 1, { id: 'm1' });
    broker.send({ command: 99, id: (await broker.take()).id, errorCode: 'SHUTTING_DOWN', errorMessage: '' });
    await network.settle();
    const second = client.publish('orders', 2, { id: 'm2' });
    await network.settle();
    expect(broker.untaken).toEqual([]);
    const next = await network.reconnect(broker);
    expect(await next.takeIds(2)).toEqual(['m1', 'm2']);
    next.confirm('m1', 'm2');
    await Promise.all([first, second]);
    await client.close();
  });

  it.each(['MESSAGE_TOO_LARGE', 'INVALID_MESSAGE'])(
    'fails when the broker ended the connection with %s: it would end every other one too',
    async (code) => {
      const { client, broker } = await network.connect();
      const failed = expect(client.publish('orders', 1)).rejects.toMatchObject({ code });
      await broker.take();
      broker.send({ command: 99, id: '', errorCode: code, errorMessage: '' });
      await network.settle();
      const next = await network.reconnect(broker);
      await failed;
      expect(next.untaken).toEqual([]);
      await client.close();
    },
  );

  it('is not sent again when its caller does not wait any more', async () => {
    const { client, broker } = await network.connect();
    const controller = new AbortController();
    const { signal } = controller;
    const failed = ['m1', 'm2'].map((id) =>
      expect(client.publish('orders', 1, { id, signal })).rejects.toThrow('enough'),
    );
    await broker.takeIds(2);
    broker.destroy();
    await network.settle();
    controller.abort(new Error('enough'));
    await Promise.all(failed);
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    await network.settle();
    expect(next.untaken).toEqual([]);
    await client.close();
  });
});

describe('a publish that is given up', () => {
  it('and then refused ends no other: the Error was not the last word of the broker', async () => {
    const { client, broker } = await network.connect();
    const controller = new AbortController();
    const { signal } = controller;
    const givenUp = expect(client.publish('orders', 1, { id: 'm1', signal })).rejects.toThrow('enough');
    const published = client.publish('orders', 2, { id: 'm2' });
    await broker.takeIds(2);
    controller.abort(new Error('enough'));
    await givenUp;
    broker.send({ command: 99, id: 'm1', errorCode: 'INVALID_MESSAGE', errorMessage: '' });
    await network.settle();
    const next = await network.reconnect(broker);
    expect(await next.takeIds(1)).toEqual(['m2']);
    next.confirm('m2');
    await published;
    await client.close();
  });

  it('after a stopping broker refused it takes nothing of the window of the next connection', async () => {
    const { client, broker } = await network.connect({ publishWindow: { maxCount: 2 } });
    const controller = new AbortController();
    const { signal } = controller;
    const givenUp = expect(client.publish('orders', 1, { id: 'm1', signal })).rejects.toThrow('enough');
    await broker.takeIds(1);
    broker.send({ command: 99, id: 'm1', errorCode: 'SHUTTING_DOWN', errorMessage: '' });
    await network.settle();
    controller.abort(new Error('enough'));
    await givenUp;
    const published = ['m2', 'm3', 'm4'].map((id) => client.publish('orders', 1, { id }));
    const next = await network.reconnect(broker);
    await network.settle();
    expect(await next.takeIds(2)).toEqual(['m2', 'm3']);
    expect(next.untaken).toEqual([]);
    next.confirm('m2', 'm3');
    expect(await next.takeIds(1)).toEqual(['m4']);
    next.confirm('m4');
    await Promise.all(published);
    await client.close();
  });

  it('behind one that waits is never sent, however many there are', async () => {
    const { client, broker } = await network.connect();
    broker.destroy();
    await network.settle();
    const first = client.publish('orders', 0, { id: 'first' });
    for (let number = 0; number < 1_000; number += 1) {
      const controller = new AbortController();
      const givenUp = client.publish('orders', number, { signal: controller.signal });
      controller.abort(new Error('enough'));
      await expect(givenUp).rejects.toThrow('enough');
    }
    const last = client.publish('orders', 0, { id: 'last' });
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    expect(await next.takeIds(2)).toEqual(['first', 'last']);
    expect(next.untaken).toEqual([]);
    next.confirm('first', 'last');
    await Promise.all([first, last]);
    await client.close();
  });
});

describe('publishes of a client that is closed while it reconnects', () => {
  it('fail, those that were interrupted and those that wait', async () => {
    const { client, broker } = await network.connect();
    const failed = [client.publish('orders', 1, { id: 'm1' })];
    await broker.takeIds(1);
    broker.destroy();
    await network.settle();
    failed.push(client.publish('orders', 2, { id: 'm2' }), client.publish('orders', 3, { id: 'm3' }));
    const outcomes = Promise.allSettled(failed);
    await client.close();
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  });
});

describe('the window of publishes', () => {
  const publishWindow = { maxCount: 2, maxWaitingCount: 2 };

  it('lets publishes wait, in order, until others are confirmed [CLIENT-045]', async () => {
    const { client, broker } = await network.connect({ publishWindow });
    const published = ['m1', 'm2', 'm3', 'm4'].map((id) => client.publish('orders', 1, { id }));
    await network.settle();
    expect(await broker.takeIds(2)).toEqual(['m1', 'm2']);
    expect(broker.untaken).toEqual([]);
    broker.confirm('m2');
    expect(await broker.takeIds(1)).toEqual(['m3']);
    broker.confirm('m1', 'm3');
    expect(await broker.takeIds(1)).toEqual(['m4']);
    broker.confirm('m4');
    await Promise.all(published);
    await client.close();
  });

  it('counts bytes too; a message that is larger alone is sent alone [CLIENT-045]', async () => {
    const { client, broker } = await network.connect({ publishWindow: { maxBytes: 100 } });
    const values = ['x'.repeat(200), 'y', 'z'];
    const published = values.map((value, index) => client.publish('q', value, { id: `m${index}` }));
    await network.settle();
    expect(await broker.takeIds(1)).toEqual(['m0']);
    expect(broker.untaken).toEqual([]);
    broker.confirm('m0');
    expect(await broker.takeIds(2)).toEqual(['m1', 'm2']);
    broker.confirm('m1', 'm2');
    await Promise.all(published);
    await client.close();
  });

  it('refuses a publish when too many wait, and takes others when there is room [CLIENT-045]', async () => {
    const { client, broker } = await network.connect({ publishWindow });
    const published = ['m1', 'm2', 'm3', 'm4'].map((id) => client.publish('orders', 1, { id }));
    const refused = client.publish('orders', 1, { id: 'm5' });
    await expect(refused).rejects.toThrow(PublishBufferFullError);
    await expect(refused).rejects.toMatchObject({ code: 'PUBLISH_BUFFER_FULL', queue: 'orders' });
    let hasRoom = false;
    const room = client.roomToPublish().then(() => {
      hasRoom = true;
    });
    broker.confirm(...(await broker.takeIds(2)));
    await network.settle();
    expect(hasRoom).toBe(false);
    broker.confirm(...(await broker.takeIds(2)));
    await Promise.all(published);
    await room;
    await client.close();
  });

  it('a wait for room fails when the client ends, and on one that has ended, as every operation does', async () => {
    const { client, broker } = await network.connect({ publishWindow });
    const published = ['m1', 'm2', 'm3'].map((id) => client.publish('orders', 1, { id }));
    const ended = { name: 'ConnectionError', code: 'CONNECTION_ENDED' };
    const failures = [...published, client.roomToPublish()].map((promise) =>
      expect(promise).rejects.toMatchObject(ended),
    );
    await broker.takeIds(2);
    await client.close();
    await Promise.all(failures);
    await expect(client.roomToPublish()).rejects.toMatchObject(ended);
  });

  it('sends the next when one that was sent is given up, and never one that waited and was given up', async () => {
    const { client, broker } = await network.connect({ publishWindow: { maxCount: 1 } });
    const controllers = [new AbortController(), new AbortController()];
    const failed = controllers.map(({ signal }, index) =>
      expect(client.publish('orders', 1, { id: `m${index}`, signal })).rejects.toThrow(),
    );
    const published = client.publish('orders', 1, { id: 'last' });
    await broker.takeIds(1);
    for (const controller of controllers.reverse()) controller.abort();
    await Promise.all(failed);
    expect(await broker.takeIds(1)).toEqual(['last']);
    broker.confirm('m0', 'last');
    await published;
    await client.close();
  });

  it.each([[{ maxCount: 0 }], [{ maxBytes: Number.NaN }], [{ maxWaitingCount: -1 }]])(
    'refuses %j',
    async (window) => {
      await expect(connectPair({ publishWindow: window })).rejects.toThrow(RangeError);
    },
  );
});

describe('a wait for room', () => {
  it('that was given up is forgotten', () => {
    const window = { maxCount: 0, maxBytes: 0, maxWaitingCount: 0, maxWaitingBytes: 0 };
    const publisher = new Publisher({ window, resends: true });
    const announced: string[] = [];
    publisher.onRoom(() => announced.push('waits'));
    const forget = publisher.onRoom(() => announced.push('gave up'));
    forget();
    publisher.end(new ConnectionError('CONNECTION_ENDED', 'the end'));
    expect(announced).toEqual(['waits']);
  });
});
