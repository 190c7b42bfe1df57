// Connections that read into one buffer, over real sockets on loopback.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ReadBuffer } from './read-buffer.ts';
import { listenTcp } from './tcp-listener.ts';

const memory = Buffer.alloc(65_536);
const undo: (() => unknown)[] = [];

afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

type Pair = { readonly client: Socket; readonly served: Socket };

/** Makes connections to one listener. */
async function listener(connections = { count: 1 }, bytes = memory): Promise<() => Promise<Pair>> {
  const buffer = new ReadBuffer(connections, bytes);
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  undo.push(() => server.close());
  const { port } = server.address() as AddressInfo;
  return async () => {
    const client = connect({ host: '127.0.0.1', port, noDelay: true });
    const [accepted] = (await once(server, 'connection')) as [Socket];
    const served = buffer.socketFor(accepted, 65_536);
    undo.push(() => [client, served].map((socket) => socket.destroy()));
    return { client, served };
  };
}

/** The next chunk as text, and the memory that it is in. */
async function nextChunk(socket: Duplex): Promise<{ text: string; memory: ArrayBufferLike }> {
  return new Promise((resolve) => {
    socket.once('data', (chunk: Buffer) => resolve({ text: chunk.toString(), memory: chunk.buffer }));
  });
}

describe('a listener', () => {
  it('reads into the buffer of its handler', async () => {
    const attached: Duplex[] = [];
    const attach = (stream: Duplex) => void attached.push(stream);
    const handler = { readBuffer: memory, rejects: () => false, attach };
    const server = await listenTcp(handler, { host: '127.0.0.1', port: 0 });
    const client = connect({ host: '127.0.0.1', port: server.port });
    undo.push(() => [client, ...attached].map((stream) => stream.destroy()));
    undo.push(() => server.close());
    client.write('text');
    await vi.waitFor(() => expect(attached).toHaveLength(1));
    const [served] = attached as [Duplex];
    const chunk = await nextChunk(served);
    expect([chunk.text, chunk.memory === memory.buffer]).toEqual(['text', true]);
  });
});

describe('a listener with many connections', () => {
  it('reads less at a time of those that come then', async () => {
    const attached: Duplex[] = [];
    const attach = (stream: Duplex) => void attached.push(stream);
    const handler = { readBuffer: Buffer.alloc(16), rejects: () => false, attach };
    const server = await listenTcp(handler, { host: '127.0.0.1', port: 0 });
    undo.push(() => server.close());
    const connected = async (): Promise<{ client: Socket; served: Duplex }> => {
      const client = connect({ host: '127.0.0.1', port: server.port, noDelay: true });
      const before = attached.length;
      await vi.waitFor(() => expect(attached).toHaveLength(before + 1));
      const served = attached[before] as Duplex;
      undo.push(() => [client, served].map((stream) => stream.destroy()));
      return { client, served };
    };
    const few = await connected();
    for (let count = 2; count <= 33; count += 1) await connected();
    const many = await connected();
    for (const { client } of [few, many]) client.write('text');
    expect((await nextChunk(few.served)).text).toBe('text');
    expect((await nextChunk(many.served)).text).toBe('te');
  });
});

describe('sockets with one read buffer', () => {
  it('read what their clients send, all into the same memory', async () => {
    const connection = await listener();
    const pairs = [await connection(), await connection()];
    const memories = new Set<ArrayBufferLike>();
    for (const text of ['one', 'another']) {
      for (const [index, { client, served }] of pairs.entries()) {
        client.write(`${text} ${index}`);
        const chunk = await nextChunk(served);
        expect(chunk.text).toBe(`${text} ${index}`);
        memories.add(chunk.memory);
      }
    }
    expect([...memories]).toEqual([memory.buffer]);
  });

  it('know the address of the client, write to it, and end when it does', async () => {
    const { client, served } = await (await listener())();
    expect(served.remoteAddress).toBe('127.0.0.1');
    served.write('answer');
    expect((await nextChunk(client)).text).toBe('answer');
    served.resume();
    client.end('last words');
    expect((await nextChunk(served)).text).toBe('last words');
    await once(served, 'end');
    served.end();
    await once(served, 'close');
    expect(served.destroyed).toBe(true);
  });

  it('read nothing while they are paused', async () => {
    const { client, served } = await (await listener())();
    const chunks: string[] = [];
    served.on('data', (chunk: Buffer) => {
      chunks.push(chunk.toString());
      served.pause();
    });
    for (const text of ['first', 'second']) {
      const paused = once(served, 'pause');
      client.write(text);
      served.resume();
      await paused;
      client.write(' and more');
      await new Promise<void>((resolve) => void served.write('', () => resolve()));
    }
    expect(chunks.length).toBe(2);
    expect(chunks.join('')).toMatch(/^first and more/);
  });

  it('read as much at a time as fits, and an eighth of it while more than 32 are open', async () => {
    const connections = { count: 32 };
    const { client, served } = await (await listener(connections, Buffer.alloc(16)))();
    const chunks: string[] = [];
    served.on('data', (chunk: Buffer) => void chunks.push(chunk.toString()));
    const chunksOf = async (text: string): Promise<readonly string[]> => {
      client.write(text);
      await vi.waitFor(() => expect(chunks.join('')).toHaveLength(text.length));
      return chunks.splice(0);
    };
    expect(await chunksOf('few')).toEqual(['few']);
    connections.count = 33;
    // How much the next read takes was asked after the last one.
    expect(await chunksOf('last')).toEqual(['last']);
    expect(await chunksOf('many')).toEqual(['ma', 'ny']);
    connections.count = 32;
    expect(await chunksOf('next')).toEqual(['ne', 'xt']);
  });

  it('are not made for a connection that is closed already', () => {
    const closed = new Socket();
    expect(new ReadBuffer({ count: 0 }).socketFor(closed, 65_536)).toBe(closed);
  });
});
