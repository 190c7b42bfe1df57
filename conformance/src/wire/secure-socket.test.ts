// The TLS of the runner against servers in this process, with the test certificates.
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { createServer as createTlsServer } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { loadCertificates } from '../suite-data.ts';
import { testTrust } from '../target/test-certificates.ts';
import type { SecureOptions } from './secure-socket.ts';
import { secureSocket } from './secure-socket.ts';

const servers: Server[] = [];
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

function fileOf(wanted: string): Buffer {
  const file = loadCertificates().find(({ name }) => name === wanted);
  return Buffer.from(file?.base64 ?? '', 'base64');
}

async function socketTo(server: Server): Promise<Socket> {
  servers.push(server);
  server.on('connection', (socket: Socket) => sockets.push(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  sockets.push(socket);
  await once(socket, 'connect');
  return socket;
}

function tlsServer(options: TlsOptions = {}): Server {
  const certificate = { cert: fileOf('server.crt'), key: fileOf('server.key') };
  return createTlsServer({ ...certificate, ...options }, (socket) => socket.write('hello'));
}

async function secured(server: Server, options: Partial<SecureOptions> = {}) {
  const defaults = { trust: testTrust(), host: '127.0.0.1', withinMs: 5000 };
  return secureSocket(await socketTo(server), { ...defaults, ...options });
}

describe('secureSocket', () => {
  it('ends a handshake with a broker that has the test certificate, and reads what it sends', async () => {
    const socket = await secured(tlsServer());
    const [data] = (await once(socket, 'data')) as [Buffer];
    expect([data.toString(), socket.getProtocol()]).toEqual(['hello', 'TLSv1.3']);
  });

  it('offers one version only, if asked to', async () => {
    expect((await secured(tlsServer(), { version: 'TLSv1.2' })).getProtocol()).toBe('TLSv1.2');
    const refused = secured(tlsServer({ minVersion: 'TLSv1.3' }), { version: 'TLSv1.2' });
    await expect(refused).rejects.toThrow('the TLS handshake failed');
  });

  it('can offer TLS 1.1, so that a broker which accepts it is found', async () => {
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect((await secured(tlsServer(old), { version: 'TLSv1.1' })).getProtocol()).toBe('TLSv1.1');
  });

  it('refuses a certificate of another authority, unless told otherwise', async () => {
    await expect(secured(tlsServer(), { trust: {} })).rejects.toThrow('the TLS handshake failed');
    const socket = await secured(tlsServer(), { trust: { verify: false } });
    expect(socket.authorized).toBe(false);
  });

  it('refuses a certificate for another host, unless told otherwise', async () => {
    const trust = { ...testTrust(), anyName: false };
    await expect(secured(tlsServer(), { trust, host: 'broker.example' })).rejects.toThrow('broker.example');
    expect((await secured(tlsServer(), { trust, host: '127.0.0.1' })).authorized).toBe(true);
    expect((await secured(tlsServer(), { host: 'broker.example' })).authorized).toBe(true);
  });

  it('says that the broker closed the connection, or did not answer in time', async () => {
    const closing = createServer((socket) => void socket.once('data', () => socket.destroy()));
    await expect(secured(closing)).rejects.toThrow('the TLS handshake failed: ');
    const silent = createServer(() => {});
    await expect(secured(silent, { withinMs: 30 })).rejects.toThrow('it did not end within 30 ms');
  });
});
