// A connection of the load over TLS and with credentials, against the skeleton in this process; and what it says when it is not let in.
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:tls';
import { createServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Relay } from '../../../bench/skeleton/relay.ts';
import { testTrust } from '../../target/test-certificates.ts';
import { LoadLink } from './load-link.ts';
import { makeLoadUser } from './load-user.ts';
import { makeQueue, queueLength } from './queue-commands.ts';

const certificate = (name: string): Buffer =>
  readFileSync(new URL(`../../../../fixtures/tls/${name}`, import.meta.url));

describe('a connection of the load', () => {
  let server: Server;
  const received: string[] = [];
  const links: LoadLink[] = [];
  beforeEach(async () => {
    const relay = new Relay();
    const files = { cert: certificate('server.crt'), key: certificate('server.key') };
    server = createServer(files, (socket) => {
      socket.on('data', (chunk: Buffer) => received.push(chunk.toString('latin1')));
      relay.attach(socket);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterEach(() => {
    for (const link of links.splice(0)) link.close();
    received.length = 0;
    server.close();
  });

  const address = () => ({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  const opened = async (more: object): Promise<LoadLink> => {
    const link = await LoadLink.open({ ...address(), ...more });
    links.push(link);
    return link;
  };

  it('works over TLS', async () => {
    const link = await opened({ tls: testTrust() });
    await makeQueue(link, 'q');
    expect(await queueLength(link, 'q')).toBe(0);
  });

  it('is refused with the reason when it does not trust the certificate', async () => {
    await expect(opened({ tls: {} })).rejects.toMatchObject({
      name: 'LoadFault',
      message: expect.stringContaining('cannot be reached: the TLS handshake failed'),
    });
  });

  it('carries its credentials in Connect', async () => {
    await opened({ tls: testTrust(), credentials: { authToken: 'secret of the load' } });
    expect(received.join('')).toContain('secret of the load');
  });

  it('gets a user with an access list from the superuser', async () => {
    const superuser = { username: 'root', password: 'of root' };
    const credentials = await makeLoadUser({ ...address(), tls: testTrust() }, superuser);
    expect(credentials).toEqual({ authUsername: 'load', authPassword: expect.any(String) });
    expect(received.join('')).toContain('of root');
    expect(received.join('').match(/queuePattern/g)).toHaveLength(3);
  });
});
