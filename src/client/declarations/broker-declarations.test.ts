// Declarations through the client: against a broker in virtual time, and against the recorded answers of an existing broker, with the
// commands that the recorded client sent for the same declarations.

import { duplexPair } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { commandName } from '../../protocol/command.ts';
import { type ClientFrame, ScriptedBroker } from '../../testing/scripted-broker.ts';
import { TestedBroker } from '../../testing/tested-broker.ts';
import { type RecordedEntry, recordedConnections } from '../../testing/wire-fixtures.ts';
import { Client, type ConnectOptions, connect } from '../index.ts';
import type { ConflictStrategy, QueueDeclaration } from './queue-declaration.ts';

/** Lets the broker's virtual time pass until the promise is settled. */
async function settled<Value>(tested: TestedBroker, promise: Promise<Value>): Promise<Value> {
  let isSettled = false;
  const done = () => {
    isSettled = true;
  };
  promise.then(done, done);
  while (!isSettled) await tested.settle();
  return promise;
}

function connectTo(tested: TestedBroker, options: ConnectOptions = {}): Promise<Client> {
  const openStream = async () => {
    const [near, far] = duplexPair();
    tested.broker.attach(far, '192.0.2.1');
    return near;
  };
  return settled(tested, connect({ openStream, ...options }));
}

describe('declarations on a broker', () => {
  const everything: QueueDeclaration = {
    name: 'orders',
    mode: 'PriorityBased',
    maxQueueSize: 50,
    messageTtlMs: 1_500.5,
    enableDeadLetterQueue: true,
    deadLetterQueueName: 'failed',
    overflowStrategy: 'RedirectToDlq',
    maxRetryAttempts: 2,
  };

  /** Connects a client that declares the queue, and returns what the queue is then. */
  async function declare(
    tested: TestedBroker,
    declared: QueueDeclaration,
    conflictStrategy: ConflictStrategy,
  ) {
    const client = await connectTo(tested, { queues: [declared], conflictStrategy });
    const live = await settled(tested, client.queueInfo(declared.name));
    await settled(tested, client.close());
    return live;
  }

  it('create the queue that they describe, which then differs in nothing [CLIENT-015, CLIENT-016]', async () => {
    const tested = new TestedBroker();
    for (let connection = 1; connection <= 2; connection += 1) {
      expect(await declare(tested, everything, 'Fail')).toMatchObject({
        deliveryMode: 'PriorityBased',
        maxSize: 50,
        messageTtlMs: 1_500.5,
        deadLetterQueueName: 'failed',
        overflowStrategy: 'RedirectToDlq',
        maxRetryAttempts: 2,
      });
    }
  });

  it('leave, refuse or replace a queue that differs, and tell the differences [CLIENT-024, CLIENT-025, CLIENT-026]', async () => {
    const tested = new TestedBroker();
    const client = await connectTo(tested);
    await settled(tested, client.createQueue('orders'));
    await settled(tested, client.publish('orders', 1));
    expect(await declare(tested, everything, 'Ignore')).toMatchObject({
      deliveryMode: 'RoundRobin',
      messageCount: 1,
    });
    await expect(declare(tested, everything, 'Fail')).rejects.toMatchObject({ code: 'QUEUE_CONFLICT' });
    expect(await declare(tested, everything, 'Override')).toMatchObject({
      deliveryMode: 'PriorityBased',
      messageCount: 0,
    });
    const told: string[] = [];
    const telling = await connectTo(tested, {
      queues: [{ name: 'orders', maxRetryAttempts: 9 }],
      onQueueDifference: ({ option, severity }) => {
        told.push(`${option} ${severity}`);
        throw new Error('a failure of the callback ends nothing');
      },
    });
    expect(told).toEqual(['maxRetryAttempts Info']);
    await settled(tested, Promise.all([client.close(), telling.close()]));
  });

  it('by name alone create a queue with the defaults of the broker, and never differ', async () => {
    const tested = new TestedBroker();
    const client = await connectTo(tested);
    await settled(tested, client.createQueue('here', { mode: 'PriorityBased' }));
    const queues = ['here', 'new'];
    const declaring = await connectTo(tested, { queues, conflictStrategy: 'Fail' });
    expect(await settled(tested, client.listQueues())).toEqual(queues);
    await settled(tested, Promise.all([client.close(), declaring.close()]));
  });

  it('are refused before the client connects when no broker can carry them out [CLIENT-028]', async () => {
    const openStream = () => Promise.reject(new Error('the client has connected'));
    const queues = [{ name: 'q', overflowStrategy: 'RedirectToDlq' } as const];
    await expect(connect({ openStream, queues })).rejects.toMatchObject({ code: 'INVALID_DECLARATION' });
  });

  it('of several clients at the same time end with one queue and no error [CLIENT-015]', async () => {
    const tested = new TestedBroker();
    const options = { queues: [everything], conflictStrategy: 'Fail' } as const;
    const clients = await Promise.all([1, 2, 3].map(() => connectTo(tested, options)));
    expect(await settled(tested, clients[0]?.listQueues() ?? Promise.resolve([]))).toEqual([
      'orders',
      'failed',
    ]);
    await settled(tested, Promise.all(clients.map((client) => client.close())));
  });
});

type Frame = Extract<RecordedEntry, { readonly hex: string }>;

/** Plays the recorded broker: answers each command with the recorded frame of the same position, with the command's id. */
async function replay(
  recorded: readonly RecordedEntry[],
  strategy: ConflictStrategy,
  declared: QueueDeclaration,
) {
  const frames = recorded.filter((entry): entry is Frame => 'hex' in entry);
  const answers = frames.filter(({ from }) => from === 'broker').slice(1);
  const [near, far] = duplexPair();
  const broker = new ScriptedBroker(far);
  const connecting = connect({ stream: near, queues: [declared], conflictStrategy: strategy });
  const connected = connecting.catch(({ code }: { code: string }) => code);
  const sent: ClientFrame[] = [await broker.welcome([['negotiated-compression', 'brotli']])];
  for (const { command, queue, payload } of answers) {
    const frame = await broker.take();
    sent.push(frame);
    expect(commandName(frame.command)).toBe(command);
    broker.send({ command: frame.command, id: frame.id, queue, payload: Buffer.from(payload) });
  }
  const outcome = await connected;
  if (typeof outcome === 'string') sent.push(await broker.take());
  else {
    await outcome.close();
    sent.push(...broker.untaken);
  }
  const expected = frames.filter(({ from }) => from === 'client');
  return { outcome, sent: sent.map(lineOf), expected: expected.map(recordedLine) };
}

function lineOf({ command, queue, payload, headers }: ClientFrame): string {
  return [commandName(command), queue, Buffer.from(payload).toString(), JSON.stringify(headers)].join(' ');
}

function recordedLine({ command, queue, payload, headers }: Frame): string {
  return [command, queue, payload, JSON.stringify(headers)].join(' ');
}

describe('the recorded declarations of an existing client', () => {
  const [creating = [], failing = [], overriding = []] = recordedConnections('queue-declarations');
  // That client sends every option that has a value.
  const declared = {
    name: 'declared',
    mode: 'RoundRobin',
    overflowStrategy: 'DropOldest',
    maxRetryAttempts: 3,
  } as const;
  const first = { ...declared, maxQueueSize: 77, enableDeadLetterQueue: true };
  const other = {
    ...declared,
    mode: 'FanOutWithAck',
    maxQueueSize: 10_000,
    enableDeadLetterQueue: false,
  } as const;

  it('that create a queue are sent in the same frames, ids aside [CLIENT-015]', async () => {
    const { outcome, sent, expected } = await replay(creating, 'Ignore', first);
    expect(outcome).toBeInstanceOf(Client);
    expect(sent).toEqual(expected);
  });

  it('that fail are sent in the same frames; then the client sends Disconnect, which the recorded one does not [CLIENT-025, CLIENT-041]', async () => {
    const { outcome, sent, expected } = await replay(failing, 'Fail', other);
    expect(outcome).toBe('QUEUE_CONFLICT');
    expect(sent).toEqual([...expected, 'Disconnect   []']);
  });

  it('that override a queue are sent in the same frames, ids aside [CLIENT-026]', async () => {
    const { outcome, sent, expected } = await replay(overriding, 'Override', other);
    expect(outcome).toBeInstanceOf(Client);
    expect(sent).toEqual(expected);
  });
});
