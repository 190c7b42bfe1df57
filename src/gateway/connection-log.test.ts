// The log lines of connections and queues, of a whole broker: what happened, to whom, and why; and nothing secret.

import { describe, expect, it } from 'vitest';
import { Command } from '../protocol/command.ts';
import { publish, subscribe, TestedBroker } from '../testing/tested-broker.ts';

const credentials = { superuser: { username: 'alice', password: 'secret-password' } };

/** The lines at this level, without those before `from`. */
function linesOf(tested: TestedBroker, level: 'info' | 'debug') {
  return tested.logLines
    .filter((line) => line.level === level)
    .map(({ sentence, fields }) => [
      sentence,
      Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    ]);
}

/** The fields of the line that tells of the end of the only connection. */
function endOf(tested: TestedBroker) {
  const ends = linesOf(tested, 'debug').filter(([sentence]) => sentence === 'connection closed');
  expect(ends).toHaveLength(1);
  return ends[0]?.[1];
}

const connectAs = (username: string, password: string) => ({
  command: Command.Connect,
  id: 'connect',
  headers: [
    ['authUsername', username],
    ['authPassword', password],
  ] as const,
});

describe('a connection', () => {
  it('is logged at level debug from its opening to its end, with its number', async () => {
    const tested = new TestedBroker();
    const client = await tested.connect({}, [['clientVersion', `program ${'x'.repeat(200)}`]]);
    client.send(subscribe('orders'), { command: Command.Unsubscribe, id: 'u', queue: 'orders' });
    await tested.advance(1500);
    client.send({ command: Command.Disconnect, id: 'd' });
    client.stream.end();
    await tested.settle();
    const connection = 1;
    const address = '192.0.2.1';
    expect(linesOf(tested, 'debug')).toEqual([
      ['connection opened', { connection, address }],
      ['client connected', { connection, program: `program ${'x'.repeat(92)}` }],
      ['queue created', { queue: 'orders', maxQueueSize: 10_000, connection }],
      ['subscribed', { connection, queue: 'orders' }],
      ['unsubscribed', { connection, queue: 'orders' }],
      [
        'connection closed',
        {
          connection,
          address,
          reason: 'the client disconnected',
          durationMs: 1500,
          receivedBytes: expect.any(Number),
          receivedFrames: 4,
          sentFrames: 3,
        },
      ],
    ]);
    expect(tested.logged).toEqual([]);
  });

  it('has the name of its user, and no line has a password, right or wrong [AUTH-054]', async () => {
    const tested = new TestedBroker({}, { credentials });
    await tested.exchange(tested.attach(), connectAs('alice', 'secret-password'));
    await tested.exchange(tested.attach(), connectAs('secret-name', 'secret-mistake'));
    expect(linesOf(tested, 'debug')).toContainEqual(['client connected', { connection: 1, user: 'alice' }]);
    expect(linesOf(tested, 'info')).toEqual([
      ['a connect was refused', { connection: 2, address: '192.0.2.1', code: 'AUTH_FAILED' }],
    ]);
    expect(JSON.stringify(tested.logLines)).not.toContain('secret');
  });

  it.each([
    ['the stream was lost', ({ server }: Attached) => server.breakLine()],
    ['the client did not connect in time', ({ tested }: Attached) => void tested.advance(60_000)],
    ['the broker shuts down', ({ tested }: Attached) => void tested.broker.drain()],
    ['the client closed the stream', ({ client }: Attached) => void client.stream.end()],
    ['the client violated the protocol', ({ client }: Attached) => client.sendRaw(Buffer.alloc(5, 255))],
  ])('ends with the reason that %s', async (reason, end) => {
    const tested = new TestedBroker();
    end({ tested, ...tested.attachWithServer() });
    await tested.advance(70_000);
    expect(endOf(tested)).toMatchObject({ connection: 1, reason });
  });

  it('is told at level info when its client violates the protocol, with the code of the Error', async () => {
    const tested = new TestedBroker();
    const { client } = tested.attachWithServer();
    client.sendRaw(Buffer.alloc(5, 255));
    await tested.advance(10_000);
    const [line] = linesOf(tested, 'info');
    expect(line?.[1]).toMatchObject({ connection: 1, address: '192.0.2.1', code: expect.any(String) });
    expect(endOf(tested)).toMatchObject({ code: line?.[1] && Object(line[1]).code });
  });

  it('cannot flood the log above level debug', async () => {
    const tested = new TestedBroker({}, { credentials });
    for (let count = 0; count < 30; count += 1)
      await tested.exchange(tested.attach(), connectAs('alice', 'wrong'));
    expect(tested.logged.filter((sentence) => sentence === 'a connect was refused')).toHaveLength(1);
  });
});

type Attached = ReturnType<TestedBroker['attachWithServer']> & { readonly tested: TestedBroker };

describe('a queue', () => {
  const queueLines = (tested: TestedBroker) =>
    linesOf(tested, 'debug').filter(([sentence]) => /^(queue|message) /.test(String(sentence)));

  it('is logged when it is created and deleted, with the connection that did it', async () => {
    const tested = new TestedBroker();
    const [one, other] = [await tested.connect(), await tested.connect()];
    await tested.exchange(one, publish('a', 'm1'), publish('a', 'm2'));
    await tested.exchange(one, { command: Command.CreateQueue, id: 'c', queue: 'b' });
    await tested.exchange(one, { command: Command.CreateQueue, id: 'again', queue: 'b' });
    await tested.exchange(other, { command: Command.DeleteQueue, id: 'd', queue: 'a' });
    await tested.exchange(other, { command: Command.DeleteQueue, id: 'none', queue: 'a' });
    expect(queueLines(tested)).toEqual([
      ['queue created', { queue: 'a', maxQueueSize: 10_000, connection: 1 }],
      ['queue created', { queue: 'b', maxQueueSize: 10_000, connection: 1 }],
      ['queue deleted', { queue: 'a', connection: 2 }],
    ]);
  });

  it('is logged with its operator', async () => {
    const tested = new TestedBroker();
    await tested.exchange(await tested.connect(), publish('a', 'm1'), publish('a', 'm2'));
    const { operator } = tested.broker;
    const done = [operator.removeMessage('a', 'm1'), operator.purgeQueue('a'), operator.deleteQueue('a')];
    await tested.settle();
    await Promise.all(done);
    expect(queueLines(tested).slice(1)).toEqual(
      expect.arrayContaining([
        ['queue deleted', { queue: 'a', by: 'operator' }],
        ['message removed', { queue: 'a', id: 'm1', by: 'operator' }],
        ['queue purged', { queue: 'a', by: 'operator' }],
      ]),
    );
  });
});
