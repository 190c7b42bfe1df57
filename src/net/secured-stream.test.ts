// The stream of a connection before, during and after its handshake, over streams that the test holds.

import { once } from 'node:events';
import { type Duplex, duplexPair } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { SecuredStream } from './secured-stream.ts';

/** A secured stream, the connection below it, and both ends of what its handshake leads to. */
function create() {
  const [connection] = duplexPair();
  const [secured, client] = duplexPair();
  let beginCount = 0;
  const begin = () => {
    beginCount += 1;
  };
  const stream = new SecuredStream({ connection, begin, highWaterMarkBytes: 1_000 });
  return { stream, connection, secured, client, beginCount: () => beginCount };
}

async function read(stream: Duplex, length: number): Promise<string> {
  let text = '';
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (text.length >= length) return text;
  }
  return text;
}

describe('a secured stream', () => {
  it('begins its handshake when it is used, and once', () => {
    const { stream, beginCount } = create();
    expect(beginCount()).toBe(0);
    stream.on('data', () => undefined).resume();
    stream.write('a');
    stream.read();
    expect(beginCount()).toBe(1);
  });

  it('begins none when it is destroyed unused, and destroys its connection', async () => {
    const { stream, connection, beginCount } = create();
    stream.destroy();
    await once(connection, 'close');
    expect(beginCount()).toBe(0);
  });

  it('keeps what is written before the end of the handshake, in its order', async () => {
    const { stream, secured, client } = create();
    for (const text of ['one ', 'two ', 'three ']) stream.write(text);
    expect(stream.writableLength).toBe(14);
    stream.open(secured);
    const written = new Promise((resolve) => stream.write('four', resolve));
    expect(await read(client, 18)).toBe('one two three four');
    await written;
    expect(stream.writableLength).toBe(0);
  });

  it('carries bytes in both directions, each side to its own end', async () => {
    const { stream, secured, client } = create();
    stream.open(secured);
    const closed = once(stream, 'close');
    client.end('question');
    expect(await read(stream, 100)).toBe('question');
    stream.end('answer');
    expect(await read(client, 100)).toBe('answer');
    await closed;
  });

  it('does not take more than it can hold from a client whose bytes nobody reads', async () => {
    const { stream, secured, client } = create();
    stream.open(secured);
    let sentCount = 0;
    while (sentCount < 100 && client.write(Buffer.alloc(16_384))) {
      sentCount += 1;
      await new Promise(setImmediate);
    }
    expect(sentCount).toBeLessThan(20);
    stream.resume();
    await once(client, 'drain');
  });

  it('that is ended before the end of the handshake is destroyed with its connection', async () => {
    const { stream, connection } = create();
    stream.resume().end();
    await once(connection, 'close');
    expect(stream.destroyed).toBe(true);
  });

  it.each(['connection', 'secured'] as const)('ends with its %s', async (which) => {
    const parts = create();
    parts.stream.open(parts.secured);
    parts.stream.on('error', () => undefined);
    parts[which].destroy(which === 'secured' ? new Error('a broken record') : undefined);
    await once(parts.stream, 'close');
    expect(parts.connection.destroyed).toBe(true);
  });
});
