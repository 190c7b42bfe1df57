// What the client does with options and arguments that cannot be right: it says so at once, sends nothing, keeps nothing open, and never ends
// the process of its user.

import { type Duplex, duplexPair } from 'node:stream';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectPair, pingPong } from '../testing/connected-pair.ts';
import { ScriptedNetwork, useVirtualTime } from '../testing/scripted-network.ts';
import { ClientError, connect, MessageTooLargeError } from './index.ts';

const rejections: unknown[] = [];
const onRejection = (reason: unknown) => void rejections.push(reason);

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Options as a program without types gives them. */
async function refusal(options: object): Promise<Error> {
  const [near] = duplexPair();
  return connect({ stream: near, ...options }).then(
    () => new Error('it connected'),
    (error: Error) => error,
  );
}

describe('connect', () => {
  it.each([
    [
      'a clientVersion that fits into no header',
      { clientVersion: 'x'.repeat(70_000) },
      /^clientVersion: came 70000/,
    ],
    ['a token that fits into no header', { authToken: 'x'.repeat(70_000) }, /^authToken: came 70000 bytes/],
    [
      'a clientVersion that is no text',
      { clientVersion: 5 },
      /^clientVersion: came a number; allowed is a text/,
    ],
    [
      'a password that is no text',
      { password: Buffer.from('p') },
      /^password: came an object; allowed is a text/,
    ],
    ['an option that there is not', { keepAlive: 5 }, /: unknown option keepAlive; options are host, port,/],
    [
      'compressions that nobody has',
      { compressions: ['zstd'] },
      /^compressions: came "zstd"; allowed is "brotli" or/,
    ],
    [
      'compressions that are no list',
      { compressions: 'gzip' },
      /^compressions: came "gzip"; allowed is a list/,
    ],
    ['a text for a number', { commandTimeoutMs: '5000' }, /^commandTimeoutMs: came "5000"; allowed is 1 to/],
    ['a port that there is not', { port: 70_000 }, /^port: came 70000; allowed is 1 to 65535/],
    [
      'a window with an unknown option',
      { publishWindow: { count: 1 } },
      /^publishWindow: unknown option count/,
    ],
    ['a handler that is none', { onHandlerError: 5 }, /^onHandlerError: came 5; allowed is a function/],
    ['an authority without TLS', { tlsCa: 'ca.pem' }, /^tlsCa needs useTls: true; useTls: false says/],
    ['a server name without TLS', { tlsServerName: 'a.example' }, /^tlsServerName needs useTls: true/],
    [
      'a certificate without its key',
      { useTls: true, tlsCertificate: 'cert.pem' },
      /^tlsCertificate needs tlsKey/,
    ],
    [
      'queues that are no list',
      { queues: 'orders' },
      /^queues: came "orders"; allowed is a list of names and declarations/,
    ],
    ['reconnect that is no object', { reconnect: true }, /^reconnect: came true; allowed is an object/],
    ['a stream that is none', { stream: {} }, /no duplex stream/],
  ])('refuses %s', async (_what, options, message) => {
    expect((await refusal(options as object)).message).toMatch(message);
  });

  it.each([0, -5, 255, 1_000.5, Number.NaN, 2 ** 31, Number.POSITIVE_INFINITY])(
    'refuses a maxMessageSizeBytes of %d',
    async (maxMessageSizeBytes) => {
      const { message } = await refusal({ maxMessageSizeBytes });
      expect(message).toMatch(
        /^maxMessageSizeBytes: came \S+; allowed is (a whole number, )?256 to 2147483647$/,
      );
    },
  );

  it('refuses what are no options', async () => {
    await expect(connect(null as never)).rejects.toThrow(
      /^the options of connect: came null; allowed is an obj/,
    );
  });

  it('does not show a secret that it refuses', async () => {
    expect((await refusal({ authToken: `${'x'.repeat(70_000)}secret` })).message).not.toContain('x');
  });

  it('whose createId fails rejects with its error, closes the stream, and leaves no rejection behind', async () => {
    process.on('unhandledRejection', onRejection);
    const [near] = duplexPair();
    const createId = () => {
      throw new Error('no more ids');
    };
    await expect(connect({ stream: near, createId })).rejects.toThrow('no more ids');
    await new ScriptedNetwork().settle();
    process.off('unhandledRejection', onRejection);
    expect({ rejections, destroyed: near.destroyed }).toEqual({ rejections: [], destroyed: true });
  });

  it.each([
    ['', /^the id from createId: came an empty text/],
    ['\ud800', /has half of a surrogate pair/],
    ['x'.repeat(257), /came 257 bytes/],
    [5, /came 5; allowed is a text/],
  ])('refuses the id %j from createId', async (id, message) => {
    expect((await refusal({ createId: () => id })).message).toMatch(message);
  });
});

describe('openStream', () => {
  it('has commandTimeoutMs to give a stream; one that comes later is destroyed', async () => {
    useVirtualTime();
    let give: (stream: Duplex) => void = () => undefined;
    const openStream = () =>
      new Promise<Duplex>((resolve) => {
        give = resolve;
      });
    const failed = expect(connect({ openStream, commandTimeoutMs: 500 })).rejects.toMatchObject({
      name: 'ConnectionError',
      code: 'ETIMEDOUT',
      message: 'openStream gave no stream within 500 ms (commandTimeoutMs)',
    });
    await vi.advanceTimersByTimeAsync(500);
    await failed;
    const [late] = duplexPair();
    give(late);
    await new ScriptedNetwork().settle();
    expect(late.destroyed).toBe(true);
  });

  it('that ignores its signal does not keep connect from ending by it', async () => {
    const controller = new AbortController();
    const openStream = () => new Promise<Duplex>(() => undefined);
    const failed = expect(connect({ openStream, signal: controller.signal })).rejects.toThrow('enough');
    controller.abort(new Error('enough'));
    await failed;
  });
});

describe('close', () => {
  it('ends, with a warning, when no Disconnect can be made', async () => {
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
    let isBroken = false;
    const createId = () => {
      if (isBroken) throw new Error('no more ids');
      return 'an id';
    };
    const { client, broker } = await connectPair({ createId });
    isBroken = true;
    await client.close();
    expect(broker.untaken).toEqual([]);
    expect(warned).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/without a Disconnect.*no more ids/),
    );
  });
});

describe('a createId that repeats itself', () => {
  it('fails the second of two publishes under way: one answer would confirm both', async () => {
    const { client, broker } = await connectPair({ createId: () => 'same' });
    const published = client.publish('orders', 1);
    await expect(client.publish('orders', 2)).rejects.toThrow(
      /^a command with the id "same" is under way; .* createId/,
    );
    await expect(client.ping()).rejects.toThrow(RangeError);
    expect(await broker.take()).toMatchObject({ command: 20, id: 'same' });
    broker.send({ command: 21, id: 'same' });
    await expect(published).resolves.toBe('same');
    expect(broker.untaken).toEqual([]);
    await client.close();
  });

  it('fails no publish that is sent again after a lost connection', async () => {
    useVirtualTime();
    const network = new ScriptedNetwork();
    const ownIds = ['connect', 'm1', 'm2', 'connect again', 'disconnect'];
    const { client, broker } = await network.connect({ createId: () => ownIds.shift() ?? '' });
    const published = [client.publish('orders', 1), client.publish('orders', 2)];
    const ids = await broker.takeIds(2);
    broker.destroy();
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    expect(await next.takeIds(2)).toEqual(ids);
    next.confirm(...ids);
    expect(await Promise.all(published)).toEqual(ids);
    await client.close();
  });

  it('is a warning for a Ping, which leaves the connection alone', async () => {
    vi.useFakeTimers();
    const warned = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
    const { client, broker } = await connectPair({ createId: () => 'same', commandTimeoutMs: 60_000 });
    const published = client.publish('orders', 1);
    await vi.advanceTimersByTimeAsync(30_000);
    expect(warned).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^a Ping, .* "same" is under way/));
    vi.useRealTimers();
    await broker.take();
    broker.send({ command: 21, id: 'same' });
    await published;
    await client.close();
  });
});

it('a Ping for which createId makes no id is a warning, and ends nothing', async () => {
  vi.useFakeTimers();
  const warned = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
  let isBroken = false;
  const createId = () => (isBroken ? '' : 'an id');
  const { client } = await connectPair({ createId });
  isBroken = true;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(warned).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(/^a Ping, .* empty text/));
  isBroken = false;
  vi.useRealTimers();
  await client.close();
});

describe('publish', () => {
  it.each([
    ['an empty id', { id: '' }, /^id: came an empty text; allowed are 1 to 256 bytes/],
    ['an id that is too long', { id: 'ä'.repeat(129) }, /^id: came 258 bytes/],
    [
      'an id with half of a surrogate pair',
      { id: 'a\udc00b' },
      /^id: "a\\udc00b" has half of a surrogate pair/,
    ],
    ['an id that is no text', { id: 5 }, /^id: came 5; allowed is a text/],
    [
      'a priority that there is not',
      { priority: 'high' },
      /^priority: came "high"; allowed is "Low" or "Normal"/,
    ],
    [
      'a Map as headers',
      { headers: new Map([['a', 'b']]) },
      /^headers: came an object; allowed is a plain object of texts/,
    ],
    ['a header that is no text', { headers: { a: 5 } }, /^headers\.a: came a number; allowed is a text/],
    [
      'a header without a value',
      { headers: { a: undefined } },
      /^headers\.a: came undefined; allowed is a text/,
    ],
    ['a header that is too long', { headers: { a: 'x'.repeat(65_536) } }, /^headers\.a: came 65536 bytes/],
    [
      'a header with half of a surrogate pair',
      { headers: { a: 'x\ud800' } },
      /^headers\.a: has half of a surrogate pair, which UTF-8 cannot carry$/,
    ],
    ['a name of a header with one', { headers: { '\udc00': 'x' } }, /^a name in headers: has half of a/],
    [
      'a name of a header that is too long',
      { headers: { ['x'.repeat(65_536)]: 'x' } },
      /^a name in headers: came 65536 bytes/,
    ],
    ['an unknown option', { ttl: 5 }, /^the options of publish: unknown option ttl; options are headers, /],
    ['options that are null', null, /^the options of publish: came null; allowed is an object/],
    ['options that are none', 'High', /^the options of publish: came "High"; allowed is an object/],
  ])('refuses %s at once', async (_what, options, message) => {
    const { client, broker } = await connectPair();
    await expect(client.publish('orders', 1, options as object)).rejects.toThrow(message);
    await pingPong({ client, broker });
    expect(broker.untaken).toEqual([]);
  });

  it('refuses a queue that is no text also while there is no connection, and takes others then', async () => {
    useVirtualTime();
    const network = new ScriptedNetwork();
    const { client, broker } = await network.connect();
    broker.destroy();
    await network.settle();
    await expect(client.publish(5 as never, 1)).rejects.toThrow(/^queue: came 5; allowed is a string/);
    const published = client.publish('orders', 1, { id: 'm1' });
    await vi.advanceTimersByTimeAsync(1_000);
    const next = await network.take();
    await next.welcome();
    next.send({ command: 21, id: (await next.take()).id });
    await expect(published).resolves.toBe('m1');
    await client.close();
  });

  it('takes ids of every character, and of 256 bytes', async () => {
    const { client, broker } = await connectPair();
    const ids = ['\u{1f600}', 'ä'.repeat(128)];
    const published = Promise.all(ids.map((id) => client.publish('orders', 1, { id })));
    for (const id of ids) broker.send({ command: 21, id });
    expect(await published).toEqual(ids);
  });

  it('refuses what is too large with a ClientError that says what to raise', async () => {
    const { client } = await connectPair({ maxMessageSizeBytes: 1_000 });
    const error: unknown = await client.publish('orders', 'x'.repeat(1_000), { id: 'm' }).catch((e) => e);
    expect(error).toBeInstanceOf(ClientError);
    expect(error).toBeInstanceOf(MessageTooLargeError);
    expect(error).toMatchObject({
      name: 'MessageTooLargeError',
      code: 'MESSAGE_TOO_LARGE',
      sizeBytes: 1_021,
      limitBytes: 1_000,
      message:
        'a Publish for queue "orders" of 1021 bytes was not sent: this client sends at most 1000; ' +
        'make it smaller, or raise maxMessageSizeBytes if the broker takes it',
    });
  });
});

describe('a subscription', () => {
  it.each([
    [{ ack: 'Auto' }, /^ack: came "Auto"; allowed is "auto" or "manual"/],
    [{ maxInFlight: 0 }, /^maxInFlight: came 0; allowed is 1 to/],
    [{ maxInflight: 5 }, /: unknown option maxInflight; options are maxInFlight, ack, signal/],
  ])('refuses %j', async (options, message) => {
    const { client, broker } = await connectPair();
    await expect(client.subscribe('orders', () => undefined, options as object)).rejects.toThrow(message);
    expect(() => client.messages('orders', options as object)).toThrow(message);
    expect(broker.untaken).toEqual([]);
  });

  it('needs a handler', async () => {
    const { client } = await connectPair();
    await expect(client.subscribe('orders', undefined as never)).rejects.toThrow(
      /^handler: came undefined; allowed is a function/,
    );
  });
});

describe('createQueue', () => {
  it.each([
    [{ maxSize: 5 }, /^createQueue: unknown option maxSize; options are mode, maxQueueSize,/],
    [{ messageTtlMs: Number.NaN }, /^createQueue: messageTtlMs must be a finite number/],
    [{ maxQueueSize: '5' }, /^createQueue: maxQueueSize must be a number/],
    [{ mode: 'priority' }, /^createQueue: mode must be one of RoundRobin, /],
  ])('refuses %j', async (options, message) => {
    const { client, broker } = await connectPair();
    await expect(client.createQueue('orders', options as object)).rejects.toThrow(message);
    await pingPong({ client, broker });
    expect(broker.untaken).toEqual([]);
  });
});

it('an option that is undefined leaves the one of the connection string', async () => {
  const nobody = connect('vibemq://127.0.0.1:1', {
    host: undefined,
    port: undefined,
    signal: undefined,
  } as object);
  await expect(nobody).rejects.toThrow(/^cannot connect to 127\.0\.0\.1:1: /);
});
