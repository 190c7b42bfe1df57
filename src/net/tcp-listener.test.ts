// The TCP listener over real sockets on loopback: bytes reach the broker and answers come back; how the listener starts and ends.

import { once } from 'node:events';
import { connect as dial, Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ZlibCompressor } from '../compression/zlib-compressor.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { systemEnvironment } from '../gateway/system-environment.ts';
import { encodeFrame } from '../protocol/encode.ts';
import { openMemoryStore } from '../storage/memory/memory-store.ts';
import { type BrokerOptions, composeBroker } from '../testing/composed-broker.ts';
import { receivedFrames } from '../testing/received-frames.ts';
import { ack, ping, publish, subscribe, testOptions } from '../testing/tested-broker.ts';
import { payloadOf, WireClient } from '../testing/wire-client.ts';
import { listenTcp, type TcpOptions, type TcpServer } from './tcp-listener.ts';

const silent = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
};
const host = '127.0.0.1';
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
  vi.restoreAllMocks();
});

async function listen(
  options: Partial<BrokerOptions> = {},
  tcp: Partial<TcpOptions> = {},
): Promise<{ broker: Gateway; server: TcpServer }> {
  const broker = composeBroker(
    { ...testOptions, ...options },
    {
      environment: systemEnvironment,
      openStore: async () => openMemoryStore(),
      compressor: new ZlibCompressor(),
      logger: silent,
    },
  );
  await broker.start();
  const server = await listenTcp(broker, { host, port: 0, ...tcp });
  undo.push(() => server.close());
  return { broker, server };
}

async function client(server: TcpServer): Promise<{ wire: WireClient; socket: Socket }> {
  const socket = dial({ host, port: server.port, noDelay: true });
  undo.push(() => socket.destroy());
  await once(socket, 'connect');
  return { wire: new WireClient(socket), socket };
}

function dialled(server: TcpServer): Promise<unknown> {
  return once(dial({ host, port: server.port }), 'connect');
}

describe('the TCP listener', () => {
  it('carries messages from socket to socket [FRAME-016, DELIVERY-054]', async () => {
    const { broker, server } = await listen();
    const [publisher, subscriber] = [await client(server), await client(server)];
    subscriber.wire.send({ command: 0, id: 'c' }, subscribe('q'));
    await receivedFrames(subscriber.wire, 2);
    const payload = JSON.stringify('x'.repeat(100_000));
    publisher.wire.send({ command: 0, id: 'c' }, publish('q', 'm1', { payload }), publish('q', 'm2'));
    expect((await receivedFrames(publisher.wire, 3)).map(({ id }) => id)).toEqual(['c', 'm1', 'm2']);
    const [first, second] = await receivedFrames(subscriber.wire, 2);
    expect([first?.id, payloadOf(first), second?.id]).toEqual(['m1', payload, 'm2']);
    subscriber.wire.send(ack('m1'), ack('m2'), ping());
    await receivedFrames(subscriber.wire, 1);
    expect(broker.stats()).toMatchObject({ acknowledgedCount: 2, inFlightCount: 0 });
  });

  it('tells the real port, and takes another free one each time', async () => {
    const [one, other] = [await listen(), await listen()];
    expect(one.server.port).toBeGreaterThan(0);
    expect(one.server.port).not.toBe(other.server.port);
    expect(one.server.host).toBe(host);
  });

  it('says with the system’s code why it cannot listen [CONFIG-010]', async () => {
    const { broker, server } = await listen();
    await expect(listenTcp(broker, { host, port: server.port })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
  });

  it('goes on when a connection cannot be accepted, and says so', async () => {
    const servers: Server[] = [];
    const listenReal = Server.prototype.listen;
    vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
      servers.push(this);
      return (listenReal as (...all: unknown[]) => Server).apply(this, args);
    });
    const faults: Error[] = [];
    const { server } = await listen({}, { onFault: (error) => void faults.push(error) });
    const fault = Object.assign(new Error('accept EMFILE'), { code: 'EMFILE' });
    servers[0]?.emit('error', fault);
    expect(faults).toEqual([fault]);
    const { wire } = await client(server);
    wire.send(ping());
    expect((await receivedFrames(wire, 1))[0]?.command).toBe(11);
    expect(servers.length).toBe(1);
  });

  it('answers a client that has closed its own side [CONN-041]', async () => {
    const { server } = await listen();
    const { wire, socket } = await client(server);
    wire.send({ command: 0, id: 'c' }, publish('q', 'm1'));
    socket.end();
    expect((await receivedFrames(wire, 2)).map(({ id }) => id)).toEqual(['c', 'm1']);
    await vi.waitFor(() => expect(wire.isOver).toBe(true), { timeout: 10_000 });
  });

  it('survives resets in the middle of everything', async () => {
    const { broker, server } = await listen();
    const bystander = await client(server);
    bystander.wire.send({ command: 0, id: 'c' });
    await receivedFrames(bystander.wire, 1);
    for (let round = 0; round < 20; round += 1) {
      const { wire, socket } = await client(server);
      wire.send(
        { command: 0, id: 'c' },
        subscribe('q'),
        ...Array.from({ length: 50 }, (_, n) => publish('q', `${round}-${n}`)),
      );
      if (round % 2 === 0) await receivedFrames(wire, 1);
      socket.resetAndDestroy();
    }
    await vi.waitFor(() => expect(broker.stats().activeConnectionCount).toBe(1), { timeout: 10_000 });
    bystander.wire.send(ping());
    expect((await receivedFrames(bystander.wire, 1))[0]?.command).toBe(11);
    expect(broker.stats().inFlightCount).toBe(0);
  });

  it('keeps what clients have sent in part apart from what others send meanwhile [FRAME-015]', async () => {
    const { server } = await listen();
    const [one, other] = [await client(server), await client(server)];
    const frames = [encodeFrame({ command: 0, id: 'c' }), encodeFrame({ command: 10, id: 'ping' })];
    for (const frame of frames) {
      for (const byte of frame) {
        one.socket.write(Buffer.of(byte));
        other.wire.send(ping());
        await receivedFrames(other.wire, 1);
      }
    }
    expect((await receivedFrames(one.wire, 2)).map(({ command, id }) => `${command} ${id}`)).toEqual([
      '1 c',
      '11 ping',
    ]);
  });

  it('is closed when the last connection has ended', async () => {
    const { server } = await listen();
    const { socket } = await client(server);
    const ended: string[] = [];
    void server.closed.then(() => ended.push('listener'));
    server.close();
    await vi.waitFor(() => expect(dialled(server)).rejects.toMatchObject({ code: 'ECONNREFUSED' }));
    expect(ended).toEqual([]);
    socket.end();
    await server.closed;
    expect(ended).toEqual(['listener']);
  });

  it('counts connections by their address [LIMIT-009, METRICS-019]', async () => {
    const rateLimit = {
      maxConnectionsPerIpPerWindow: 2,
      connectionWindowMs: 60_000,
      maxMessagesPerClientPerSecond: 10,
    };
    const { broker, server } = await listen({ rateLimit });
    const clients = [await client(server), await client(server), await client(server)];
    await vi.waitFor(() => expect(clients[2]?.wire.isOver).toBe(true), { timeout: 10_000 });
    expect(clients.slice(0, 2).map(({ wire }) => wire.isOver)).toEqual([false, false]);
    expect(broker.stats()).toMatchObject({ connectionsAcceptedCount: 2, connectionsRejectedCount: 1 });
  });

  it('makes nothing for a connection that the handler rejects [LIMIT-024]', async () => {
    const attach = vi.fn();
    const server = await listenTcp({ rejects: (address) => address === host, attach }, { host, port: 0 });
    undo.push(() => server.close());
    const { socket } = await client(server);
    await once(socket.resume(), 'close');
    expect(attach).not.toHaveBeenCalled();
  });

  it('closes all connections that the handler rejects, also when they are many [LIMIT-009, LIMIT-024]', async () => {
    const attach = vi.fn();
    const server = await listenTcp({ rejects: () => true, attach }, { host, port: 0 });
    undo.push(() => server.close());
    const sockets = Array.from({ length: 60 }, () => dial({ host, port: server.port }));
    await Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
    expect(attach).not.toHaveBeenCalled();
  });

  it('stops accepting when it is closed, while open connections go on [SHUTDOWN-001]', async () => {
    const { server } = await listen();
    const { wire } = await client(server);
    server.close();
    const late = dial({ host, port: server.port });
    await expect(once(late, 'connect')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    wire.send(ping());
    expect((await receivedFrames(wire, 1))[0]?.command).toBe(11);
  });

  it('stops reading from a subscriber that does not read, and bounds what it holds for it [LIMIT-015]', async () => {
    const { broker, server } = await listen({ maxOutboundBytes: 65_536 });
    const [slow, publisher] = [await client(server), await client(server)];
    slow.wire.send(
      { command: 0, id: 'c' },
      { command: 40, id: 'q', queue: 'q', payload: '{"mode":"FanOutWithoutAck"}' },
      subscribe('q'),
    );
    await receivedFrames(slow.wire, 3);
    slow.socket.pause();
    publisher.wire.send({ command: 0, id: 'c' });
    const payload = JSON.stringify('x'.repeat(60_000));
    for (let n = 0; n < 200; n += 1) {
      publisher.wire.send(publish('q', `m${n}`, { payload }));
      await receivedFrames(publisher.wire, 1);
    }
    const waiting = broker.queueInfo('q')?.messageCount ?? 0;
    expect(waiting).toBeGreaterThan(0);
    slow.socket.resume();
    const ids = (await receivedFrames(slow.wire, 200)).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 200 }, (_, n) => `m${n}`));
  });

  it('closes all sockets when the broker is drained [SHUTDOWN-004, SHUTDOWN-008]', async () => {
    const { broker, server } = await listen();
    const [connected, mute] = [await client(server), await client(server)];
    connected.wire.send({ command: 0, id: 'c' });
    await receivedFrames(connected.wire, 1);
    server.close();
    await broker.drain();
    await vi.waitFor(() => expect([connected.wire.isOver, mute.wire.isOver]).toEqual([true, true]), {
      timeout: 10_000,
    });
    expect(connected.wire.take().map(({ command }) => command)).toEqual([2]);
  });
});
