// Which fault of a command is answered when it has several, over the whole way from bytes to the core.

import { describe, expect, it } from 'vitest';
import { testSettings } from '../../testing/broker-harness.ts';
import { publish, subscribe, TestedBroker } from '../../testing/tested-broker.ts';
import { type BodyParts, bodyBytes, frameBytes } from '../../testing/wire-bytes.ts';
import { payloadOf } from '../../testing/wire-client.ts';

const rateLimit = {
  maxConnectionsPerIpPerWindow: 20,
  connectionWindowMs: 60_000,
  maxMessagesPerClientPerSecond: 1,
};

/** The code that the one command is answered with, on a connection that has shaken hands. */
async function codeOf(parts: BodyParts, tested = new TestedBroker()): Promise<string | undefined> {
  const client = await tested.connect();
  client.send(parts);
  await tested.settle();
  const answers = client.take();
  expect(answers.length).toBe(1);
  return answers[0]?.errorCode;
}

describe('the first fault in the order of the text is answered', () => {
  it('a body that breaks off before a wrong version [ERROR-008]', async () => {
    const tested = new TestedBroker();
    const client = tested.attach();
    client.sendRaw(frameBytes(bodyBytes({ version: 9, command: 0, id: 'c' }).subarray(0, -1)));
    await tested.settle();
    expect(client.lines()).toEqual(['Error c INVALID_MESSAGE']);
  });

  it('an exceeded rate before a missing handshake, which comes before a field rule [ERROR-010, ERROR-011]', async () => {
    const tested = new TestedBroker({ rateLimit });
    const client = tested.attach();
    const wrong = (id: string) => publish('a b', id);
    expect(await tested.exchange(client, wrong('m1'), wrong('m2'))).toEqual([
      'Error m1 NOT_AUTHENTICATED',
      'Error m2 RATE_LIMITED',
    ]);
  });

  it('a field rule before a missing queue name [ERROR-012]', async () => {
    expect(await codeOf({ command: 22, id: '', queue: '' })).toBe('INVALID_MESSAGE');
  });

  it('a missing queue name before a faulty payload', async () => {
    expect(await codeOf(publish('', 'm1', { payload: '{' }))).toBe('INVALID_QUEUE');
  });

  it('a missing queue name before a missing right, and that before a missing queue and a faulty payload [ERROR-013, ERROR-014]', async () => {
    const tested = new TestedBroker(
      { broker: { ...testSettings, enableAutoCreate: false } },
      { credentials: { superuser: { username: 'root', password: 'pw' } } },
    );
    const as = (username: string) =>
      tested.connect({}, [
        ['authUsername', username],
        ['authPassword', 'pw'],
      ]);
    const root = await as('root');
    const payload = JSON.stringify({ username: 'alice', password: 'pw' });
    expect(await tested.exchange(root, { command: 50, id: 'c', payload })).toEqual(['AdminCreateUser c']);
    const alice = await as('alice');
    const faulty = publish('missing', 'm2', { payload: '{' });
    expect(
      await tested.exchange(alice, publish('', 'm1'), faulty, { command: 42, id: 'i', queue: '' }),
    ).toEqual(['Error m1 INVALID_QUEUE', 'Error m2 NOT_AUTHORIZED', 'Error i INVALID_QUEUE']);
  });

  it('a missing queue before a faulty payload, an existing one before faulty options [ERROR-015]', async () => {
    const noAutoCreate = new TestedBroker({ broker: { ...testSettings, enableAutoCreate: false } });
    expect(await codeOf(publish('q', 'm1', { payload: '{' }), noAutoCreate)).toBe('QUEUE_NOT_FOUND');
    const existing = new TestedBroker();
    await existing.subscriber('q');
    expect(await codeOf({ command: 40, id: 'c', queue: 'q', payload: '{"mode":9}' }, existing)).toBe(
      'QUEUE_EXISTS',
    );
  });

  it('a faulty payload before a repeat, a repeat before overflow [ERROR-016, ERROR-017, PUBLISH-009]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    const options = JSON.stringify({ maxQueueSize: 1, overflowStrategy: 'DropNewest' });
    expect(
      await tested.exchange(
        client,
        { command: 40, id: 'c', queue: 'q', payload: options },
        publish('q', 'm1'),
        publish('q', 'm1', { payload: '{' }),
        publish('q', 'm1'),
        publish('q', 'm2'),
      ),
    ).toEqual([
      'CreateQueue c q',
      'PublishAck m1 q',
      'Error m1 q INVALID_PAYLOAD',
      'PublishAck m1 q',
      'Error m2 q QUEUE_FULL',
    ]);
  });
});

describe('a refused command', () => {
  it.each([
    ['an empty id', 'BODY-005, BODY-032', publish('q', '')],
    ['an id of 257 bytes', 'BODY-016, BODY-032', publish('q', 'i'.repeat(257))],
    ['a queue name that breaks the rule', 'BODY-024, BODY-032', publish('a b', 'm')],
    ['invalid UTF-8 in its id', 'BODY-020', publish('q', 'm', { id: Buffer.from([0xff]) })],
    ['invalid UTF-8 in its queue', 'BODY-020', publish('q', 'm', { queue: Buffer.from([0xc3, 0x28]) })],
    [
      'invalid UTF-8 in a header name',
      'BODY-020',
      publish('q', 'm', { headers: [[Buffer.from([0xff]), 'v']] }),
    ],
    [
      'invalid UTF-8 in a header value',
      'BODY-021',
      publish('q', 'm', { headers: [['k', Buffer.from([0xff])]] }),
    ],
    ['51 headers', 'BODY-026, BODY-032', publish('q', 'm', { headers: manyHeaders(51) })],
    [
      'a header value of 4097 characters',
      'BODY-028, BODY-032',
      publish('q', 'm', { headers: [['k', 'v'.repeat(4097)]] }),
    ],
    ['a payload that is no JSON', 'PUBLISH-014, PUBLISH-019', publish('q', 'm', { payload: 'no' })],
  ])(
    'with %s gets one Error, makes nothing, and leaves the connection usable [ERROR-001, ERROR-006, %s]',
    async (fault, _requirements, command) => {
      const code = fault.includes('JSON') ? 'INVALID_PAYLOAD' : 'INVALID_MESSAGE';
      const tested = new TestedBroker();
      const subscriber = await tested.subscriber('q');
      const client = await tested.connect();
      client.send(command, { command: 10, id: 'ping' });
      await tested.settle();
      expect(client.take().map((frame) => frame.errorCode)).toEqual([code, '']);
      expect(subscriber.take()).toEqual([]);
      expect(tested.broker.stats()).toMatchObject({ publishedCount: 0, errorsCount: 1, queueCount: 1 });
    },
  );

  it('is one that has just too much: what just keeps the rules is taken [BODY-015, BODY-025, BODY-027]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    const id = 'é'.repeat(128);
    client.send(publish('订单-٣_.', id, { headers: [...manyHeaders(49), ['long', '€'.repeat(4096)]] }));
    await tested.settle();
    expect(client.take()).toMatchObject([{ command: 21, id, queue: '订单-٣_.' }]);
  });
});

describe('names', () => {
  it('are compared byte by byte [BODY-017, BODY-018]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    // The last two look the same: a letter with a ring, and the sign of the unit of length, which Unicode normalizes to it.
    const names = ['queue', 'Queue', 'QUEUE', 'cafe', 'caf\u00e9', '\u00c5', '\u212b'];
    await tested.exchange(client, ...names.map((queue) => publish(queue, 'm')));
    await tested.exchange(client, publish('queue', 'M'), publish('queue', 'm'));
    client.send({ command: 43, id: 'l' });
    await tested.settle();
    expect(JSON.parse(payloadOf(client.take()[0]))).toEqual(names);
    expect(tested.broker.queueInfo('queue')?.messageCount).toBe(2);
  });
});

describe('a subscription', () => {
  it('begins with SubscribeAck and ends with UnsubscribeAck, Delivers in between [CONN-033, CONN-034]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    expect(
      await tested.exchange(
        client,
        publish('q', 'm1'),
        subscribe('q', 's'),
        publish('q', 'm2'),
        { command: 24, id: 'u', queue: 'q' },
        publish('q', 'm3'),
      ),
    ).toEqual([
      'PublishAck m1 q',
      'SubscribeAck s q',
      'Deliver m1 q',
      'PublishAck m2 q',
      'Deliver m2 q',
      'UnsubscribeAck u q',
      'PublishAck m3 q',
    ]);
  });
});

function manyHeaders(count: number): (readonly [string, string])[] {
  return Array.from({ length: count }, (_, index) => [`h${index}`, 'v'] as const);
}
