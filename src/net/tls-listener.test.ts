// The listener with TLS, over real sockets on loopback: which handshakes succeed, what happens to those that do not, and that everything
// behind the handshake is as over plain TCP.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect as dialTcp, type Socket } from 'node:net';
import { type ConnectionOptions, connect as dialTls, type SecureVersion, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ZlibCompressor } from '../compression/zlib-compressor.ts';
import type { Gateway } from '../gateway/gateway.ts';
import { systemEnvironment } from '../gateway/system-environment.ts';
import { openMemoryStore } from '../storage/memory/memory-store.ts';
import { type BrokerOptions, composeBroker } from '../testing/composed-broker.ts';
import { receivedFrames } from '../testing/received-frames.ts';
import { ping, publish, subscribe, testOptions } from '../testing/tested-broker.ts';
import { identityOf, tlsFixture } from '../testing/tls-fixture.ts';
import { payloadOf, WireClient } from '../testing/wire-client.ts';
import type { CertificateFiles } from './certificates.ts';
import { listenTcp, type TcpServer } from './tcp-listener.ts';

const silent = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
};
const host = '127.0.0.1';
const versions: readonly SecureVersion[] = ['TLSv1.2', 'TLSv1.3'];
const connectFrame = { command: 0, id: 'c' };
const undo: (() => unknown)[] = [];

/** The beginning of a ClientHello: a record of 512 bytes, of which most are missing. */
const halfClientHello = Buffer.from('16030102000100', 'hex');

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

type Listening = {
  readonly broker: Gateway;
  readonly server: TcpServer;
  readonly failures: string[];
  /** Of the clients of these failures. */
  readonly addresses: (string | undefined)[];
};

async function listen(
  options: Partial<BrokerOptions> = {},
  files: Partial<CertificateFiles> = {},
): Promise<Listening> {
  const parts = { environment: systemEnvironment, compressor: new ZlibCompressor(), logger: silent };
  const openStore = async () => openMemoryStore();
  const broker = composeBroker({ ...testOptions, ...options }, { ...parts, openStore });
  await broker.start();
  const [failures, addresses]: [string[], (string | undefined)[]] = [[], []];
  const onHandshakeFailure = (reason: string, address: string | undefined) => {
    failures.push(reason);
    addresses.push(address);
  };
  const identity = await identityOf('server', files);
  const server = await listenTcp(broker, { host, port: 0, identity, onHandshakeFailure });
  undo.push(() => server.close());
  return { broker, server, failures, addresses };
}

function secure({ port }: TcpServer, options: ConnectionOptions = {}): TLSSocket {
  const socket = dialTls({ host, port, rejectUnauthorized: false, ...options });
  socket.on('error', () => undefined);
  undo.push(() => socket.destroy());
  return socket;
}

async function client(server: TcpServer, options: ConnectionOptions = {}) {
  const socket = secure(server, options);
  const wire = new WireClient(socket);
  await once(socket, 'secureConnect');
  return { wire, socket };
}

async function plain({ port }: TcpServer): Promise<{ wire: WireClient; socket: Socket }> {
  const socket = dialTcp({ host, port });
  undo.push(() => socket.destroy());
  await once(socket, 'connect');
  return { wire: new WireClient(socket), socket };
}

async function isServed(wire: WireClient): Promise<void> {
  wire.send(ping());
  expect((await receivedFrames(wire, 1))[0]?.command).toBe(11);
}

const over = (wire: WireClient) =>
  vi.waitFor(() => expect(wire.isOver).toBe(true), { timeout: 10_000, interval: 1 });

const read = (name: string) => readFileSync(tlsFixture(name));

function fixtureClient(name: string): ConnectionOptions {
  return { cert: read(`${name}.crt`), key: read(`${name}.key`) };
}

describe('a client with TLS', () => {
  it.each(versions)('is served over %s [TLS-001, TLS-002]', async (version) => {
    const { broker, server } = await listen();
    expect(server.tls).toBe(true);
    const { wire, socket } = await client(server, { minVersion: version, maxVersion: version });
    expect(socket.getProtocol()).toBe(version);
    wire.send(connectFrame, subscribe('q'));
    await receivedFrames(wire, 2);
    const payload = JSON.stringify('x'.repeat(400_000));
    wire.send(publish('q', 'm1', { payload }), publish('q', 'm2'));
    const received = await receivedFrames(wire, 4);
    expect(received.map(({ id }) => id).toSorted()).toEqual(['m1', 'm1', 'm2', 'm2']);
    expect(payloadOf(received.find(({ id, command }) => id === 'm1' && command === 26)).length).toBe(
      payload.length,
    );
    expect(broker.stats().activeConnectionCount).toBe(1);
  });

  it.each(versions)(
    'gets the last answers after it has closed its own side, over %s [CONN-041]',
    async (version) => {
      const { server } = await listen();
      const { wire, socket } = await client(server, { minVersion: version, maxVersion: version });
      wire.send(connectFrame, publish('q', 'm1', { payload: JSON.stringify('x'.repeat(200_000)) }));
      socket.end();
      expect((await receivedFrames(wire, 2)).map(({ id }) => id)).toEqual(['c', 'm1']);
      await over(wire);
    },
  );

  it('gets the certificate, which its authority has signed for the host [TLS-009]', async () => {
    const { server } = await listen();
    const { socket } = await client(server, { ca: read('ca.crt'), rejectUnauthorized: true });
    expect(socket.authorized).toBe(true);
  });

  it('gets the certificates behind that of the broker', async () => {
    const files = { certificatePath: tlsFixture('chained.crt'), keyPath: tlsFixture('chained.key') };
    const { server } = await listen({}, files);
    const { socket } = await client(server, { ca: read('ca.crt'), rejectUnauthorized: true });
    expect(socket.authorized).toBe(true);
  });

  it('may not negotiate again', async () => {
    const { server } = await listen();
    const { wire, socket } = await client(server, { maxVersion: 'TLSv1.2' });
    wire.send(connectFrame);
    await receivedFrames(wire, 1);
    const failed = once(socket, 'error');
    socket.renegotiate({}, () => undefined);
    expect(String(await failed)).toMatch(/no.renegotiation/);
  });

  it('is not sent more than it reads [LIMIT-015]', async () => {
    const { broker, server } = await listen({ maxOutboundBytes: 65_536 });
    const [slow, publisher] = [await client(server), await client(server)];
    const mode = '{"mode":"FanOutWithoutAck"}';
    slow.wire.send(connectFrame, { command: 40, id: 'q', queue: 'q', payload: mode }, subscribe('q'));
    await receivedFrames(slow.wire, 3);
    slow.socket.pause();
    publisher.wire.send(connectFrame);
    const payload = JSON.stringify('x'.repeat(60_000));
    for (let n = 0; n < 200; n += 1) {
      publisher.wire.send(publish('q', `m${n}`, { payload }));
      await receivedFrames(publisher.wire, 1);
    }
    expect(broker.queueInfo('q')?.messageCount).toBeGreaterThan(0);
    slow.socket.resume();
    const ids = (await receivedFrames(slow.wire, 200)).map(({ id }) => id);
    expect(ids).toEqual(Array.from({ length: 200 }, (_, n) => `m${n}`));
  });

  it('may vanish at any moment', async () => {
    const { broker, server } = await listen();
    for (let round = 0; round < 10; round += 1) {
      const { wire, socket } = await client(server);
      wire.send(connectFrame, subscribe('q'), publish('q', `${round}`));
      if (round % 2 === 0) await receivedFrames(wire, 1);
      socket.destroy();
      const { socket: raw } = await plain(server);
      raw.write(halfClientHello);
      raw.resetAndDestroy();
    }
    await vi.waitFor(() => expect(broker.stats().activeConnectionCount).toBe(0), { timeout: 10_000 });
    const { wire } = await client(server);
    await isServed(wire);
  });
});

describe('a client is not served', () => {
  it.each<SecureVersion>(['TLSv1', 'TLSv1.1'])('over %s [TLS-003]', async (maxVersion) => {
    const { server, failures } = await listen();
    // Without this, the client itself would refuse to offer the version.
    const socket = secure(server, { minVersion: 'TLSv1', maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' });
    const [error] = await once(socket, 'error');
    expect(String(error)).toMatch(/alert protocol version/);
    expect(failures).toEqual(['unsupported protocol']);
  });

  it('over plain TCP [TLS-004, TLS-011]', async () => {
    const { broker, server, failures } = await listen();
    const { wire } = await plain(server);
    wire.send(connectFrame, publish('q', 'm1'));
    await over(wire);
    expect(wire.take()).toEqual([]);
    expect(broker.queueInfo('q')).toBeUndefined();
    expect(failures).toHaveLength(1);
  });

  it.each(versions)(
    'without a certificate of the right authority, if there is one, over %s',
    async (version) => {
      const { server, failures } = await listen({}, { clientCaPath: tlsFixture('client-ca.crt') });
      const options = { minVersion: version, maxVersion: version };
      for (const own of [{}, fixtureClient('stranger')]) {
        const socket = secure(server, { ...options, ...own });
        const wire = new WireClient(socket);
        wire.send(connectFrame);
        await over(wire);
        expect(wire.take()).toEqual([]);
      }
      expect(failures).toHaveLength(2);
      const { wire } = await client(server, { ...options, ...fixtureClient('client') });
      await isServed(wire);
    },
  );
});

describe('a handshake', () => {
  it('that is slow ends its own connection at handshakeTimeout, and no other [TLS-011]', async () => {
    const timeouts = { ...testOptions.timeouts, handshakeTimeoutMs: 300 };
    const { broker, server } = await listen({ timeouts });
    const bystander = await client(server);
    bystander.wire.send(connectFrame);
    await receivedFrames(bystander.wire, 1);
    const [slow, mute] = [await plain(server), await plain(server)];
    slow.socket.write(halfClientHello);
    await isServed(bystander.wire);
    await over(slow.wire);
    await over(mute.wire);
    await vi.waitFor(() => expect(broker.stats().activeConnectionCount).toBe(1), { timeout: 10_000 });
    await isServed(bystander.wire);
  });

  it('counts in the time for the Connect', async () => {
    const timeouts = { ...testOptions.timeouts, handshakeTimeoutMs: 300 };
    const { server } = await listen({ timeouts });
    const { wire } = await client(server);
    await over(wire);
  });

  it('that fails is told with the reason and the address', async () => {
    const { server, failures, addresses } = await listen({}, { clientCaPath: tlsFixture('client-ca.crt') });
    const { wire, socket } = await plain(server);
    socket.write('GET / HTTP/1.1\r\n\r\n');
    await over(wire);
    const hasGone = await plain(server);
    hasGone.socket.end(halfClientHello);
    await over(hasGone.wire);
    await over(new WireClient(secure(server, fixtureClient('stranger'))));
    expect(failures).toEqual([
      'http request',
      'socket hang up',
      expect.stringMatching(/^the client's certificate is not accepted: /),
    ]);
    expect(addresses).toEqual([host, host, host]);
  });

  it('comes after the limit of connections of one address [LIMIT-009]', async () => {
    const rateLimit = {
      maxConnectionsPerIpPerWindow: 2,
      connectionWindowMs: 60_000,
      maxMessagesPerClientPerSecond: 10,
    };
    const { broker, server } = await listen({ rateLimit });
    const clients = [await plain(server), await plain(server), await plain(server)];
    await over(clients[2]?.wire as WireClient);
    expect(clients.slice(0, 2).map(({ wire }) => wire.isOver)).toEqual([false, false]);
    expect(broker.stats()).toMatchObject({ connectionsAcceptedCount: 2, connectionsRejectedCount: 1 });
  });

  it('takes one of maxConnections; one more client is told so over TLS [LIMIT-012]', async () => {
    const { broker, server } = await listen({ maxConnections: 1 });
    await plain(server);
    await vi.waitFor(() => expect(broker.stats().activeConnectionCount).toBe(1), { timeout: 10_000 });
    const { wire } = await client(server);
    expect((await receivedFrames(wire, 1))[0]).toMatchObject({ command: 99, errorCode: 'CONNECTION_LIMIT' });
    await over(wire);
  });

  it('ends when the broker is drained [SHUTDOWN-004]', async () => {
    const { broker, server } = await listen();
    const [connected, shaking] = [await client(server), await plain(server)];
    connected.wire.send(connectFrame);
    await receivedFrames(connected.wire, 1);
    shaking.socket.write(halfClientHello);
    await vi.waitFor(() => expect(broker.stats().activeConnectionCount).toBe(2), { timeout: 10_000 });
    server.close();
    await broker.drain();
    await over(connected.wire);
    await over(shaking.wire);
    expect(connected.wire.take().map(({ command }) => command)).toEqual([2]);
  });
});

describe('new certificates', () => {
  it('are for new connections; open ones continue [TLS-008]', async () => {
    const { server } = await listen();
    const before = await client(server);
    before.wire.send(connectFrame);
    await receivedFrames(before.wire, 1);
    const renewed = await identityOf('renewed');
    server.renewIdentity(renewed);
    const after = await client(server);
    const serial = (socket: TLSSocket) => socket.getPeerX509Certificate()?.serialNumber;
    expect(serial(after.socket)).toBe(renewed.certificate.serialNumber);
    expect(serial(before.socket)).not.toBe(renewed.certificate.serialNumber);
    await isServed(before.wire);
  });

  it('keep asking clients for theirs', async () => {
    const clientCaPath = tlsFixture('client-ca.crt');
    const { server } = await listen({}, { clientCaPath });
    server.renewIdentity(await identityOf('renewed', { clientCaPath }));
    const refused = new WireClient(secure(server));
    await over(refused);
    const { wire } = await client(server, fixtureClient('client'));
    await isServed(wire);
  });
});
