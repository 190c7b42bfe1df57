// Connecting over real sockets: the errors that a user of the client gets for an unreachable broker.

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { ScriptedBroker } from '../testing/scripted-broker.ts';
import { connect } from './index.ts';

it('connects to host and port [CLIENT-001]', async () => {
  const server = createServer((socket) => void new ScriptedBroker(socket).welcome()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const client = await connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  await client.close();
  server.close();
  await expect(client.closed).resolves.toEqual({ error: undefined, reason: undefined });
});

it.each(['127.0.0.1', 'localhost'])('says where nobody listens, by %s', async (host) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  await expect(connect({ host, port })).rejects.toMatchObject({
    name: 'ConnectionError',
    code: 'ECONNREFUSED',
    message: expect.stringMatching(new RegExp(`^cannot connect to ${host}:${port}: .*ECONNREFUSED`)),
  });
});
