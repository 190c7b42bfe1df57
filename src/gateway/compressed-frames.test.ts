// Compression on a whole connection: the agreed algorithm is used in both directions, frames keep their order while one of them is in the
// thread pool, and a body is compressed once however many subscribers receive it.

import { brotliCompressSync, brotliDecompressSync, constants, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { ZlibCompressor } from '../compression/zlib-compressor.ts';
import type { Algorithm, Compressor } from '../protocol/compression.ts';
import { ack, ping, publish, subscribe, TestedBroker } from '../testing/tested-broker.ts';
import { type BodyParts, bodyBytes, frameBytes } from '../testing/wire-bytes.ts';
import { framesOf, headersOf, type Inflate, payloadOf, type WireClient } from '../testing/wire-client.ts';

const algorithms = [
  { algorithm: 'gzip', flags: 1, compress: gzipSync },
  { algorithm: 'brotli', flags: 2, compress: quickBrotli },
] as const;
const inflate: Inflate = (flags, body) =>
  [() => body, () => gunzipSync(body), () => brotliDecompressSync(body)][flags]?.() ?? body;

const text = (length: number): string => JSON.stringify('the quick brown fox '.repeat(length / 20));
const supporting = (names: string): NonNullable<BodyParts['headers']> => [['supported-compression', names]];

/** Lets the thread pool finish: virtual time stands still meanwhile. */
async function settled(tested: TestedBroker, isDone: () => boolean): Promise<void> {
  await vi.waitFor(
    async () => {
      await tested.settle();
      expect(isDone()).toBe(true);
    },
    { timeout: 10_000, interval: 1 },
  );
}

/** Collects lines until there are so many. */
async function linesOf(tested: TestedBroker, client: WireClient, count: number): Promise<readonly string[]> {
  const lines: string[] = [];
  await settled(tested, () => lines.push(...client.lines()) >= count);
  return lines;
}

describe.each(algorithms)('a connection that agreed on $algorithm', ({ algorithm, flags, compress }) => {
  async function connected() {
    const tested = new TestedBroker({}, { compressor: new ZlibCompressor() });
    const client = await tested.connect({ inflate }, supporting(algorithm));
    await tested.exchange(client, subscribe('q'));
    return { tested, client };
  }

  it('learns it from ConnectAck [COMPRESS-009]', async () => {
    const tested = new TestedBroker({}, { compressor: new ZlibCompressor() });
    const client = tested.attach({ inflate });
    client.send({ command: 0, id: 'c', headers: supporting(`zip, ${algorithm.toUpperCase()},gzip,brotli`) });
    await tested.settle();
    expect(headersOf(client.take()[0])['negotiated-compression']).toBe(algorithm);
  });

  it('publishes and is delivered to in compressed frames [COMPRESS-006, COMPRESS-007, COMPRESS-016]', async () => {
    const { tested, client } = await connected();
    const payload = text(2000);
    client.sendRaw(frameBytes(compress(bodyBytes(publish('q', 'm1', { payload }))), flags));
    await tested.settle();
    const [acknowledgement, delivery] = client.take();
    expect(acknowledgement).toMatchObject({ command: 21, flags: 0 });
    expect(delivery).toMatchObject({ command: 26, flags });
    expect(payloadOf(delivery)).toBe(payload);
  });

  it('gets bodies below the threshold uncompressed [COMPRESS-005]', async () => {
    const { tested, client } = await connected();
    const bodyLength = (payload: string) =>
      bodyBytes({ ...publish('q', 'm1', { payload }), command: 26 }).length;
    const longest = text(2000)
      .slice(0, 1023 - bodyLength('""') + 1)
      .concat('"');
    expect(bodyLength(longest)).toBe(1023);
    client.send(publish('q', 'm1', { payload: longest }), publish('q', 'm2', { payload: `${longest} ` }));
    await tested.settle();
    expect(client.take().map((frame) => frame.flags)).toEqual([0, 0, 0, flags]);
  });

  it('gets a body uncompressed that compressing would make longer [COMPRESS-001]', async () => {
    const grow = (_algorithm: Algorithm, body: Buffer): Buffer => Buffer.concat([body, body]);
    const tested = new TestedBroker({}, { compressor: { ...spied().compressor, compress: grow } });
    const client = await tested.connect({ inflate }, supporting(algorithm));
    await tested.exchange(client, subscribe('q'));
    const payload = text(2000);
    client.send(publish('q', 'm1', { payload }));
    await tested.settle();
    const delivery = client.take()[1];
    expect(delivery).toMatchObject({ command: 26, flags: 0 });
    expect(payloadOf(delivery)).toBe(payload);
  });

  it('keeps its order around a body that is inflated in the thread pool [CONN-031, CONN-035]', async () => {
    const { tested, client } = await connected();
    const large = JSON.stringify(noiseOf(300_000));
    const compressed = frameBytes(compress(bodyBytes(publish('r', 'large', { payload: large }))), flags);
    expect(compressed.length).toBeGreaterThan(70_000);
    client.sendRaw(
      Buffer.concat([framesOf(ping('p1')), compressed, framesOf(ping('p2'), publish('r', 'small'))]),
    );
    expect(await linesOf(tested, client, 4)).toEqual([
      'Pong p1',
      'PublishAck large r',
      'Pong p2',
      'PublishAck small r',
    ]);
    expect(await tested.exchange(client, subscribe('r'))).toContain('SubscribeAck subscribe-r r');
  });

  it('keeps its order around bodies that are compressed in the thread pool [CONN-035, DELIVERY-035]', async () => {
    const { tested, client } = await connected();
    const payload = text(100_000);
    client.send(
      publish('q', 'large1', { payload }),
      ping('p1'),
      publish('q', 'small', { payload: text(2000) }),
      publish('q', 'large2', { payload }),
      ping('p2'),
    );
    expect(await linesOf(tested, client, 8)).toEqual([
      'PublishAck large1 q',
      'Deliver large1 q',
      'Pong p1',
      'PublishAck small q',
      'Deliver small q',
      'PublishAck large2 q',
      'Deliver large2 q',
      'Pong p2',
    ]);
  });

  it('is answered to its end though the last body is inflated elsewhere when it closes its side [CONN-041]', async () => {
    const { tested, client } = await connected();
    const large = JSON.stringify(noiseOf(300_000));
    client.sendRaw(frameBytes(compress(bodyBytes(publish('r', 'large', { payload: large }))), flags));
    client.send(ping());
    client.stream.end();
    expect(await linesOf(tested, client, 2)).toEqual(['PublishAck large r', 'Pong ping']);
    await settled(tested, () => client.isOver);
    expect(tested.broker.queueInfo('r')?.messageCount).toBe(1);
  });

  it('is sent what was compressed for it before it is closed [CONN-025]', async () => {
    const { tested, client } = await connected();
    client.send(publish('q', 'large', { payload: text(100_000) }), { command: 2, id: 'd' });
    expect(await linesOf(tested, client, 2)).toEqual(['PublishAck large q', 'Deliver large q']);
    await settled(tested, () => client.isOver);
  });
});

describe('a connection that agreed on nothing', () => {
  it('gets no header and nothing compressed, and may send compressed frames nevertheless [COMPRESS-010, COMPRESS-014, COMPRESS-017]', async () => {
    const tested = new TestedBroker({}, { compressor: new ZlibCompressor() });
    const client = tested.attach({ inflate });
    client.send({ command: 0, id: 'c' }, subscribe('q'));
    const published = publish('q', 'm1', { payload: text(4000) });
    client.sendRaw(frameBytes(gzipSync(bodyBytes(published)), 1));
    await tested.settle();
    const frames = client.take();
    expect(frames.map(({ command, flags }) => [command, flags])).toEqual([
      [1, 0],
      [23, 0],
      [21, 0],
      [26, 0],
    ]);
    expect(headersOf(frames[0])).not.toHaveProperty('negotiated-compression');
    expect(payloadOf(frames[3])).toBe(published.payload);
  });
});

describe.each(algorithms)('a body compressed with $algorithm that holds too much', ({ flags, compress }) => {
  it.each([
    ['a little', 1_048_577],
    ['over 64 MiB', 68_000_000],
  ])(
    '%s ends its connection with MESSAGE_TOO_LARGE, is not stored, and disturbs nobody [FRAME-008, FRAME-011, FRAME-019, FRAME-020, FRAME-027]',
    async (_much, length) => {
      const tested = new TestedBroker({}, { compressor: new ZlibCompressor() });
      const [bystander, client] = [
        await tested.connect(),
        await tested.connect({ inflate }, supporting('gzip')),
      ];
      const body = bodyBytes(publish('q', 'm1'));
      const bomb = compress(Buffer.concat([body, Buffer.alloc(length - body.length)]));
      client.sendRaw(Buffer.concat([frameBytes(bomb, flags), framesOf(publish('q', 'm2'))]));
      await settled(tested, () => client.isOver);
      expect(client.lines()).toEqual([expect.stringMatching(/^Error fresh-\d+ MESSAGE_TOO_LARGE$/)]);
      expect(await tested.exchange(bystander, ping())).toEqual(['Pong ping']);
      expect(tested.broker.queueInfo('q')).toBeUndefined();
    },
  );
});

describe('fan-out', () => {
  it.each([
    ['in place', 2000],
    ['in the thread pool', 100_000],
  ])('compresses each body once per algorithm, %s', async (_where, length) => {
    const { compressor, calls } = spied();
    const tested = new TestedBroker({}, { compressor });
    const publisher = await tested.connect();
    await tested.exchange(publisher, {
      command: 40,
      id: 'c',
      queue: 'q',
      payload: '{"mode":"FanOutWithAck"}',
    });
    const clients = [];
    for (let index = 0; index < 10; index += 1) {
      const client = await tested.connect({ inflate }, supporting(index % 2 === 0 ? 'brotli' : 'gzip'));
      await tested.exchange(client, subscribe('q'));
      clients.push(client);
    }
    publisher.send(
      publish('q', 'm1', { payload: text(length) }),
      publish('q', 'm2', { payload: text(length) }),
    );
    for (const client of clients) {
      expect(await linesOf(tested, client, 2)).toEqual(['Deliver m1 q', 'Deliver m2 q']);
      client.send(ack('m1'), ack('m2'));
    }
    expect(calls.sort()).toEqual(['brotli', 'brotli', 'gzip', 'gzip']);
    await tested.settle();
    expect(tested.broker.stats()).toMatchObject({ acknowledgedCount: 20, inFlightCount: 0 });
  });
});

describe('what was compressed', () => {
  it('is kept no longer than the batch: a copy that is sent later is compressed for itself', async () => {
    const { compressor, calls } = spied();
    const tested = new TestedBroker({}, { compressor });
    const clients = [];
    const headers = [['maxInFlight', '1']] as const;
    for (const index of [1, 2]) {
      const client = await tested.connect({ inflate }, supporting('gzip'));
      await tested.exchange(client, {
        command: 40,
        id: 'c',
        queue: 'q',
        payload: '{"mode":"FanOutWithAck"}',
      });
      await tested.exchange(client, { command: 22, id: `s${index}`, queue: 'q', headers });
      clients.push(client);
    }
    const publisher = await tested.connect();
    await tested.exchange(publisher, ...['m1', 'm2'].map((id) => publish('q', id, { payload: text(2000) })));
    expect(calls.length).toBe(1);
    for (const client of clients) expect(await tested.exchange(client, ack('m1'))).toContain('Deliver m2 q');
    expect(calls.length).toBe(3);
  });
});

describe('a compressor that fails', () => {
  it.each([
    [
      'at once',
      (): Buffer => {
        throw new Error('out of memory');
      },
    ],
    ['later', (): Promise<Buffer> => Promise.reject(new Error('out of memory'))],
  ])('%s ends the connection that it was needed for, and no other', async (_when, compress) => {
    const tested = new TestedBroker({}, { compressor: { ...spied().compressor, compress } });
    const plain = await tested.subscriber('q');
    const compressing = await tested.connect({ inflate }, supporting('gzip'));
    await tested.exchange(compressing, { command: 22, id: 's', queue: 'q' });
    const lines = await tested.exchange(
      plain,
      publish('q', 'm1', { payload: text(2000) }),
      publish('q', 'm2', { payload: text(2000) }),
      publish('q', 'm3', { payload: text(2000) }),
    );
    expect(compressing.isOver).toBe(true);
    expect(lines).toEqual(expect.arrayContaining(['PublishAck m1 q', 'PublishAck m2 q', 'PublishAck m3 q']));
    await tested.settle();
    expect([...lines, ...plain.lines()].filter((line) => line.startsWith('Deliver')).length).toBe(3);
    expect(tested.logged).toContain('connection abandoned');
  });
});

/** At its default quality brotli takes seconds for what these tests compress. */
function quickBrotli(body: Buffer): Buffer {
  return brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
}

function spied(): { readonly compressor: Compressor; readonly calls: Algorithm[] } {
  const real = new ZlibCompressor();
  const calls: Algorithm[] = [];
  return {
    calls,
    compressor: {
      compress: (algorithm, body) => {
        calls.push(algorithm);
        return real.compress(algorithm, body);
      },
      decompress: (algorithm, body, limitBytes) => real.decompress(algorithm, body, limitBytes),
    },
  };
}

/** Printable text that hardly compresses, the same every time. */
function noiseOf(length: number): string {
  let state = 1;
  const letter = (): string => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(35 + (state % 56));
  };
  return Array.from({ length }, letter).join('');
}
