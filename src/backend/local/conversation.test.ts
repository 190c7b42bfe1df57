// One connection from its first byte to its end: what is sent together or in pieces, how it ends, and that nothing a stream does
// reaches anybody else.

import { describe, expect, it } from 'vitest';
import { ack, ping, publish, subscribe, TestedBroker } from '../../testing/tested-broker.ts';
import { bodyBytes, frameBytes } from '../../testing/wire-bytes.ts';
import { framesOf, headersOf } from '../../testing/wire-client.ts';

const connect = { command: 0, id: 'c' };
const disconnect = { command: 2, id: 'd' };
const conversation = [
  connect,
  ping('p1'),
  { command: 40, id: 'create', queue: 'q' },
  subscribe('q', 's'),
  publish('q', 'm1', { payload: '{"n":1}' }),
  ping('p2'),
  ack('m1'),
  { command: 24, id: 'u', queue: 'q' },
];
const answers = [
  'ConnectAck c',
  'Pong p1',
  'CreateQueue create q',
  'SubscribeAck s q',
  'PublishAck m1 q',
  'Deliver m1 q',
  'Pong p2',
  'UnsubscribeAck u q',
];

describe('a conversation', () => {
  it('can be sent in one piece, Connect included [FRAME-016, CONN-031, CONN-032, CONN-035, CONN-036, CONN-040]', async () => {
    const tested = new TestedBroker();
    const client = tested.attach();
    expect(await tested.exchange(client, ...conversation)).toEqual(answers);
    expect(tested.broker.stats()).toMatchObject({ acknowledgedCount: 1, inFlightCount: 0, queuedBytes: 0 });
  });

  it('can be sent byte by byte [FRAME-015]', async () => {
    const tested = new TestedBroker();
    const client = tested.attach({ cut: (chunk) => Array.from(chunk, (byte) => Buffer.from([byte])) });
    expect(await tested.exchange(client, ...conversation)).toEqual(answers);
  });

  it('names the queue in every PublishAck, in that of a repeat too [CONN-010, PUBLISH-005]', async () => {
    const tested = new TestedBroker();
    const client = tested.attach();
    const frames = [connect, publish('q', 'm1'), publish('q', 'm1')];
    expect(await tested.exchange(client, ...frames)).toEqual([
      'ConnectAck c',
      'PublishAck m1 q',
      'PublishAck m1 q',
    ]);
  });

  it('names the broker, the connection and what the broker can [CONN-037, CONN-039, NACK-002, DELIVERY-047]', async () => {
    const tested = new TestedBroker();
    const [first, second] = [tested.attach(), tested.attach()];
    first.send(connect);
    second.send(connect);
    await tested.settle();
    const [one, other] = [headersOf(first.take()[0]), headersOf(second.take()[0])];
    expect(one).toMatchObject({ serverVersion: 'test', capabilities: 'nack,maxInFlight' });
    expect(one['connectionId']).not.toBe(other['connectionId']);
  });

  it('carries out nothing before Connect and answers NOT_AUTHENTICATED [CONN-001, CONN-002, CONN-003]', async () => {
    const tested = new TestedBroker();
    const client = tested.attach();
    expect(await tested.exchange(client, publish('q', 'm1'), connect, publish('r', 'm2'))).toEqual([
      'Error m1 NOT_AUTHENTICATED',
      'ConnectAck c',
      'PublishAck m2 r',
    ]);
    expect(tested.broker.queueInfo('q')).toBeUndefined();
  });

  it('keeps its subscriptions through a second Connect [CONN-029, CONN-030]', async () => {
    const tested = new TestedBroker();
    const client = await tested.subscriber('q');
    expect(await tested.exchange(client, connect, publish('q', 'm1'))).toEqual([
      'Error c INVALID_MESSAGE',
      'PublishAck m1 q',
      'Deliver m1 q',
    ]);
  });
});

describe('the end of a connection', () => {
  it('comes with Disconnect, after the answers to what was sent before and without what follows [CONN-024, CONN-025, CONN-036]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    expect(await tested.exchange(client, publish('q', 'm1'), disconnect, publish('q', 'm2'), ping())).toEqual(
      ['PublishAck m1 q'],
    );
    expect(client.isOver).toBe(true);
    expect(tested.broker.queueInfo('q')?.messageCount).toBe(1);
    expect(tested.broker.stats().activeConnectionCount).toBe(0);
  });

  it('comes with Disconnect before Connect too [CONN-004]', async () => {
    const tested = new TestedBroker();
    const client = tested.attach();
    expect(await tested.exchange(client, disconnect)).toEqual([]);
    expect(client.isOver).toBe(true);
  });

  it('still answers a client that has closed its own side [CONN-041]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    client.send(publish('q', 'm1'), ping());
    client.stream.end();
    await tested.settle();
    expect(client.lines()).toEqual(['PublishAck m1 q', 'Pong ping']);
    expect(client.isOver).toBe(true);
  });

  it('carries out nothing of a frame that it cuts short [FRAME-028]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    client.sendRaw(framesOf(publish('q', 'm1'), publish('q', 'm2')).subarray(0, -1));
    client.stream.end();
    await tested.settle();
    expect(client.lines()).toEqual(['PublishAck m1 q']);
    expect(tested.broker.queueInfo('q')?.messageCount).toBe(1);
  });

  it('comes after the Error for a faulty frame, which comes after the answers before it [FRAME-012, FRAME-013, FRAME-014]', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    const faulty = frameBytes(bodyBytes(publish('q', 'm2')), 9);
    client.sendRaw(Buffer.concat([framesOf(publish('q', 'm1')), faulty, framesOf(publish('q', 'm3'))]));
    await tested.settle();
    expect(client.lines()).toEqual([
      'PublishAck m1 q',
      expect.stringMatching(/^Error fresh-\d+ INVALID_MESSAGE$/),
    ]);
    expect(client.isOver).toBe(true);
    expect(tested.broker.queueInfo('q')?.messageCount).toBe(1);
  });

  it('gives back what was in flight [DELIVERY-038]', async () => {
    const tested = new TestedBroker();
    const first = await tested.subscriber('q');
    expect(await tested.exchange(first, publish('q', 'm1'))).toEqual(['PublishAck m1 q', 'Deliver m1 q']);
    const second = await tested.subscriber('q');
    first.stream.destroy();
    await tested.settle();
    expect(second.lines()).toEqual(['Deliver m1 q']);
  });

  it('cuts a client that does not close its side, and leaves no timer behind', async () => {
    const tested = new TestedBroker();
    const { client, server } = tested.attachWithServer();
    await tested.exchange(client, connect, disconnect);
    expect(server.destroyed).toBe(false);
    await tested.advance(5_000);
    expect(server.destroyed).toBe(true);
    expect(tested.environment.timerCount).toBe(0);
  });

  it.each([
    ['has connected', [connect]],
    ['has not connected', []],
  ])(
    'cuts a client sooner that %s and does not close its side at a shutdown [SHUTDOWN-012]',
    async (_which, frames) => {
      const tested = new TestedBroker();
      const { client, server } = tested.attachWithServer();
      await tested.exchange(client, ...frames);
      const drained = tested.broker.drain();
      await tested.settle();
      await drained;
      await tested.advance(999);
      expect(server.destroyed).toBe(false);
      await tested.advance(1);
      expect(server.destroyed).toBe(true);
      expect(tested.environment.timerCount).toBe(0);
    },
  );

  it('leaves no timer behind when the client closes', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect();
    client.stream.end();
    await tested.settle();
    expect(client.stream.destroyed).toBe(true);
    expect(tested.environment.timerCount).toBe(0);
    expect(tested.broker.stats().activeConnectionCount).toBe(0);
  });
});

describe('a stream that breaks', () => {
  it.each([
    ['before it says anything', async () => undefined],
    [
      'in the middle of a frame',
      async (client: { sendRaw(bytes: Buffer): void }) => client.sendRaw(Buffer.alloc(3)),
    ],
    [
      'with answers under way',
      async (client: { sendRaw(bytes: Buffer): void }) => client.sendRaw(framesOf(connect, ping())),
    ],
  ])('%s disturbs nobody', async (_when, before) => {
    const tested = new TestedBroker();
    const bystander = await tested.connect();
    const { client, server } = tested.attachWithServer();
    await before(client);
    server.breakLine();
    await tested.settle();
    expect(await tested.exchange(bystander, ping())).toEqual(['Pong ping']);
    expect(tested.broker.stats().activeConnectionCount).toBe(1);
  });

  it('may say so any number of times', async () => {
    const tested = new TestedBroker();
    const { client, server } = tested.attachWithServer();
    client.send(connect);
    await tested.settle();
    server.emit('error', new Error('once'));
    server.emit('error', new Error('twice'));
    expect(await tested.exchange(client, ping())).toContain('Pong ping');
  });
});

describe('counts', () => {
  it('tell what is and what was [METRICS-013, METRICS-016, METRICS-017, METRICS-018]', async () => {
    const tested = new TestedBroker();
    const first = await tested.connect();
    const second = await tested.connect();
    await tested.exchange(first, publish('q', 'm1'), publish('', 'm2'), { command: 77, id: 'x' });
    await tested.exchange(second, disconnect);
    expect(tested.broker.stats()).toMatchObject({
      publishedCount: 1,
      errorsCount: 2,
      connectionsAcceptedCount: 2,
      connectionsRejectedCount: 0,
      activeConnectionCount: 1,
      queueCount: 1,
    });
  });
});
