// The client against a peer that breaks the rules, or answers late, in pieces, with other ids, or never: nothing is lost but what cannot be kept.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectPair, pingPong } from '../testing/connected-pair.ts';
import { ScriptedNetwork, useVirtualTime } from '../testing/scripted-network.ts';
import { bodyBytes, frameBytes } from '../testing/wire-bytes.ts';

afterEach(() => {
  vi.useRealTimers();
});

describe('a faulty peer', () => {
  it('may send its frames byte by byte', async () => {
    const { client, broker } = await connectPair();
    const published = [client.publish('orders', 1, { id: 'm1' }), client.publish('orders', 2, { id: 'm2' })];
    const answers = ['m1', 'm2'].map((id) => frameBytes(bodyBytes({ command: 21, id })));
    for (const byte of Buffer.concat(answers)) broker.sendRaw(Buffer.from([byte]));
    await expect(Promise.all(published)).resolves.toEqual(['m1', 'm2']);
  });

  it.each([
    ['an answer with another id', { command: 21, id: 'm9' }],
    ['another command with the right id', { command: 23, id: 'm1' }],
    ['a command that does not exist', { command: 77, id: 'm1' }],
    ['a Deliver for a queue that nobody subscribed to', { command: 26, id: 'm1', queue: 'other' }],
  ])('that sends %s settles nothing', async (_what, frame) => {
    const { client, broker } = await connectPair();
    let isSettled = false;
    const published = client.publish('orders', 1, { id: 'm1' }).then(() => {
      isSettled = true;
    });
    await broker.take();
    broker.send(frame);
    await pingPong({ client, broker });
    expect(isSettled).toBe(false);
    broker.send({ command: 21, id: 'm1' });
    await published;
  });

  it('that answers after the timeout, and twice, disturbs nothing', async () => {
    vi.useFakeTimers();
    const { client, broker } = await connectPair();
    const failed = expect(client.listQueues()).rejects.toMatchObject({ code: 'COMMAND_TIMEOUT' });
    const { id } = await broker.take();
    await vi.advanceTimersByTimeAsync(10_000);
    await failed;
    broker.send({ command: 43, id, payload: '["a"]' }, { command: 43, id, payload: '["b"]' });
    await pingPong({ client, broker });
  });

  it('each command has its own deadline, though one timer serves all [CLIENT-009]', async () => {
    vi.useFakeTimers();
    const { client, broker } = await connectPair({ commandTimeoutMs: 1_000 });
    const failures: string[] = [];
    const ask = (name: string) => client.listQueues().catch(() => void failures.push(name));
    const first = ask('first');
    await vi.advanceTimersByTimeAsync(600);
    const second = ask('second');
    await broker.take();
    const answered = client.listQueues();
    await broker.take();
    broker.send({ command: 43, id: (await broker.take()).id, payload: '[]' });
    await answered;
    await vi.advanceTimersByTimeAsync(400);
    expect(failures).toEqual(['first']);
    await vi.advanceTimersByTimeAsync(599);
    expect(failures).toEqual(['first']);
    await vi.advanceTimersByTimeAsync(1);
    await Promise.all([first, second]);
    expect(failures).toEqual(['first', 'second']);
  });

  it('that says Disconnect in the middle of a command ends with its connection, and the command fails with the reason', async () => {
    const { client, broker } = await connectPair();
    const failed = expect(client.listQueues()).rejects.toThrow(/server_shutdown/);
    await broker.take();
    const half = frameBytes(bodyBytes({ command: 43, id: 'x', payload: '["a"]' })).subarray(0, 9);
    broker.send({ command: 2, id: 'x', headers: [['reason', 'server_shutdown']] });
    broker.sendRaw(half);
    broker.end();
    await failed;
  });

  it('that breaks the protocol is left, and another connection is made [CLIENT-010]', async () => {
    useVirtualTime();
    const network = new ScriptedNetwork();
    const { client, broker } = await network.connect();
    const lost = vi.fn();
    client.on('disconnected', lost);
    const published = client.publish('orders', 1, { id: 'm1' });
    await broker.take();
    broker.sendRaw(frameBytes(Buffer.alloc(2), 0, 2 ** 31));
    await network.settle();
    expect(lost).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ error: expect.objectContaining({ name: 'ProtocolError' }) }),
    );
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    next.send({ command: 21, id: (await next.take()).id });
    await published;
    await client.close();
  });

  it('that never answers a Ping is left, and another connection is made [CLIENT-007, CLIENT-010]', async () => {
    useVirtualTime();
    const network = new ScriptedNetwork();
    const { client, broker } = await network.connect();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await broker.take()).toMatchObject({ command: 10 });
    await vi.advanceTimersByTimeAsync(10_000);
    await network.settle();
    await vi.advanceTimersByTimeAsync(1_000);
    await (await network.take()).welcome();
    await network.settle();
    expect(network.attemptsAt).toHaveLength(2);
    await client.close();
  });
});
