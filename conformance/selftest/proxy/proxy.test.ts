// Tests the proxy between two sockets: what it passes on unchanged, and what a fault can do.
import type { AddressInfo, Server, Socket } from 'node:net';
import { connect, createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { Command } from '../../src/wire/command.ts';
import { encodeFrame } from '../../src/wire/encode.ts';
import { makeFault } from './faults.ts';
import type { ProxyFault } from './passage.ts';
import { startProxy } from './proxy.ts';

const host = '127.0.0.1';
const servers: Server[] = [];
const sockets: Socket[] = [];

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  for (const server of servers.splice(0)) server.close();
});

/** A broker that answers bytes with `answer`, behind a proxy. */
async function proxied(answer: (bytes: Buffer) => Buffer, fault?: ProxyFault): Promise<Socket> {
  const broker = createServer((socket) => {
    sockets.push(socket);
    socket.on('data', (bytes: Buffer) => socket.write(answer(bytes)));
  });
  await new Promise<void>((resolve) => broker.listen(0, host, resolve));
  const at = { host, port: (broker.address() as AddressInfo).port };
  const proxy = await startProxy({ host, port: 0 }, at, fault);
  servers.push(broker, proxy);
  const client = connect((proxy.address() as AddressInfo).port, host);
  sockets.push(client);
  return client;
}

/** Writes the bytes and returns the next bytes that arrive. */
function exchange(client: Socket, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve) => {
    client.once('data', resolve);
    client.write(bytes);
  });
}

describe('startProxy', () => {
  it.each([
    ['a whole frame', encodeFrame({ command: Command.Ping, id: 'p' })],
    ['half a frame', encodeFrame({ command: Command.Ping, id: 'p' }).subarray(0, 7)],
    ['an invalid head', Buffer.from('GET / HTTP/1.1')],
    ['bytes with the flag compressed that are not compressed', Buffer.from([0, 0, 0, 2, 1, 9, 9])],
  ])('passes on %s unchanged', async (_title, bytes) => {
    const client = await proxied((came) => came, makeFault({ name: 'ignore-acks', at: 5, seed: 0 }));
    expect(await exchange(client, bytes)).toEqual(bytes);
  });

  it('answers instead of the broker, which gets a Ping', async () => {
    const pong = (ping: Buffer): Buffer => {
      const answer = Buffer.from(ping);
      answer[6] = Command.Pong;
      return answer;
    };
    const client = await proxied(pong, makeFault({ name: 'drop-publishes', at: 1, seed: 0 }));
    const publish = encodeFrame({ command: Command.Publish, id: 'm', queue: 'q', payload: '1' });
    const confirmation = encodeFrame({ command: Command.PublishAck, id: 'm', queue: 'q' });
    expect(await exchange(client, publish)).toEqual(confirmation);
  });

  it('ends the other side when one side ends', async () => {
    const client = await proxied((came) => came);
    await exchange(client, encodeFrame({ command: Command.Ping, id: 'p' }));
    const [served] = sockets.filter((socket) => socket !== client);
    const ended = new Promise((resolve) => served?.once('end', () => resolve('ended')));
    client.end();
    expect(await ended).toBe('ended');
  });
});
