// Arguments of the client's operations that cannot be right, as programs without types give them: each is refused by what came and what is allowed,
// and nothing is sent.

import { describe, expect, it } from 'vitest';
import { connectPair, connectSubscribed, pingPong } from '../testing/connected-pair.ts';
import { type Client, connect, parseConnectionString } from './index.ts';

const ALLOWED_SIGNAL = 'allowed is an AbortSignal';

/** Every operation with the same last argument. */
const operations: readonly (readonly [string, (client: Client, call: never) => unknown])[] = [
  ['publish', (client, call) => client.publish('orders', 1, call)],
  ['publishAll', (client, call) => client.publishAll('orders', [], call)],
  ['roomToPublish', (client, call) => client.roomToPublish(call)],
  ['subscribe', (client, call) => client.subscribe('orders', () => undefined, call)],
  ['messages', async (client, call) => client.messages('orders', call)],
  ['unsubscribe', (client, call) => client.unsubscribe('orders', call)],
  ['createQueue', (client, call) => client.createQueue('orders', {}, call)],
  ['queueInfo', (client, call) => client.queueInfo('orders', call)],
  ['createUser', (client, call) => client.createUser('ann', 'a password', call)],
  ['listUsers', (client, call) => client.listUsers(call)],
  ['ping', (client, call) => client.ping(call)],
];

/** Every operation with the same queue. */
const ofQueue: readonly (readonly [string, (client: Client, queue: never) => unknown])[] = [
  ['publish', (client, queue) => client.publish(queue, 1)],
  ['publishAll', (client, queue) => client.publishAll(queue, [])],
  ['subscribe', (client, queue) => client.subscribe(queue, () => undefined)],
  ['messages', async (client, queue) => client.messages(queue)],
  ['unsubscribe', (client, queue) => client.unsubscribe(queue)],
  ['createQueue', (client, queue) => client.createQueue(queue)],
  ['deleteQueue', (client, queue) => client.deleteQueue(queue)],
  ['queueInfo', (client, queue) => client.queueInfo(queue)],
];

/** What an operation rejects with; the client has sent nothing. */
async function refusal(operate: (client: Client) => unknown): Promise<Error> {
  const { client, broker } = await connectPair();
  const error = await Promise.resolve(operate(client)).then(
    () => new Error('it was not refused'),
    (reason: Error) => reason,
  );
  await pingPong({ client, broker });
  expect(broker.untaken).toEqual([]);
  return error;
}

describe.each(operations)('%s', (_name, operate) => {
  it.each([
    [{ signal: {} }, `signal: came an object; ${ALLOWED_SIGNAL}`],
    [{ signal: null }, `signal: came null; ${ALLOWED_SIGNAL}`],
    [null, 'came null; allowed is an object of options'],
    [5, 'came 5; allowed is an object of options'],
    [['orders'], 'came a list; allowed is an object of options'],
    [{ sginal: 5 }, 'unknown option sginal; options are '],
  ])('refuses the options %j', async (call, message) => {
    const error = await refusal((client) => operate(client, call as never));
    expect(error).toBeInstanceOf(TypeError);
    expect(error.message).toContain(message);
  });
});

describe.each(ofQueue)('%s', (_name, operate) => {
  it.each([
    [undefined, 'queue: came undefined; allowed is a string'],
    [null, 'queue: came null; allowed is a string'],
    [5, 'queue: came 5; allowed is a string'],
  ])('refuses the queue %j', async (queue, message) => {
    const error = await refusal((client) => operate(client, queue as never));
    expect(error).toEqual(new TypeError(message));
  });
});

it.each<[string, (client: Client) => unknown, string]>([
  ['a function', (client) => client.publish('q', () => 1), 'value: came a function, which has no JSON form'],
  [
    'an object without a JSON form',
    (client) => client.publish('q', { toJSON: () => undefined }),
    'value: came an object, which has no JSON form',
  ],
  [
    'a promise',
    (client) => client.publish('q', Promise.resolve(1)),
    'value: came a Promise, which has no JSON form; allowed is ',
  ],
  [
    'bytes without a view',
    (client) => client.publish('q', new ArrayBuffer(8)),
    'value: came an ArrayBuffer, ',
  ],
  [
    'another view of bytes',
    (client) => client.publish('q', new Float64Array(2)),
    'value: came a Float64Array, which has no JSON form; allowed is a value of JSON, a Buffer or another Uint8Array, ',
  ],
  [
    'what has no values',
    (client) => client.publishAll('q', 5 as never),
    'values: came 5; allowed is an iterable or an async iterable of values',
  ],
  [
    'a header that is null',
    (client) => client.publish('q', 1, { headers: { a: null as never } }),
    'headers.a: came null; allowed is a text',
  ],
  [
    'headers that are null',
    (client) => client.publish('q', 1, { headers: null as never }),
    'headers: came null; allowed is a plain object of texts',
  ],
  [
    'options of a queue that are null',
    (client) => client.createQueue('q', null as never),
    'createQueue: came null; allowed is an object of options',
  ],
  [
    'a type of an option of a queue',
    (client) => client.createQueue('q', { maxQueueSize: 5n as never }),
    'createQueue: maxQueueSize must be a number; it is 5n',
  ],
  [
    'a name without a text',
    (client) => client.deleteUser(undefined as never),
    'username: came undefined; allowed is a text',
  ],
  [
    'a password, which is not shown',
    (client) => client.createUser('ann', 12345 as never),
    'password: came a number; allowed is a text',
  ],
  [
    'operations that are no list',
    (client) => client.grant('ann', '*', 'Publish' as never),
    'operations: came "Publish"; allowed is a list of ',
  ],
  [
    'an operation that there is not',
    (client) => client.grant('ann', '*', ['publish' as never]),
    'operations: came "publish"; allowed is "',
  ],
])('%s is refused', async (_what, operate, message) => {
  expect((await refusal(operate)).message).toContain(message);
});

describe.each(['on', 'off'] as const)('%s', (method) => {
  const allowed = 'disconnected, reconnecting, reconnected, subscriptionLost, closed';

  it.each<[unknown, unknown, string]>([
    ['reconected', () => undefined, `event: came "reconected"; allowed is ${allowed}`],
    ['toString', () => undefined, `event: came "toString"; allowed is ${allowed}`],
    [undefined, () => undefined, `event: came undefined; allowed is ${allowed}`],
    ['closed', undefined, 'listener: came undefined; allowed is a function'],
    ['closed', {}, 'listener: came an object; allowed is a function'],
  ])('refuses the event %j with the listener %j', async (name, listener, message) => {
    const { client } = await connectPair();
    expect(() => client[method](name as never, listener as never)).toThrow(new TypeError(message));
  });
});

it('a refusal with a reason that there is not is no refusal', async () => {
  const reasons: unknown[] = [];
  const pair = await connectSubscribed((message) => {
    expect(() => message.nack('TooBusy' as never)).toThrow(
      /^reason: came "TooBusy"; allowed is "HandlerException" or "DeserializationError"$/,
    );
    reasons.push(message.isSettled);
  });
  pair.broker.send({ command: 26, id: 'm1', queue: 'orders', payload: '1' });
  expect(await pair.broker.take()).toMatchObject({ command: 30, id: 'm1', headers: [] });
  expect(reasons).toEqual([false]);
});

it.each<[string, () => Promise<unknown>, string]>([
  [
    'options beside a connection string',
    () => connect('vibemq://127.0.0.1:1', 5 as never),
    'the options of connect: came 5; allowed is an object of options',
  ],
  [
    'options twice',
    () => connect({ port: 1 } as never, { host: '127.0.0.1' }),
    'connect: two arguments came; allowed is a connection string and options, or options alone',
  ],
  [
    'no host, which would be this machine',
    () => connect({ port: 1, host: '' }),
    'host: came an empty text; allowed is a host name or an IP address',
  ],
  ['no signal', () => connect({ port: 1, signal: {} as never }), `signal: came an object; ${ALLOWED_SIGNAL}`],
  [
    'no connection string',
    async () => parseConnectionString(5 as never),
    'the connection string: came 5; allowed is a string',
  ],
  [
    'no declaration',
    () => connect({ port: 1, queues: [null as never] }),
    'declared queue: came null; allowed is a name, or an object with a name',
  ],
  [
    'no list of queues',
    () => connect({ port: 1, queues: 'orders' as never }),
    'queues: came "orders"; allowed is a list of names and declarations',
  ],
  [
    'no strategy',
    () => connect({ port: 1, conflictStrategy: 'fail' as never }),
    'the conflict strategy must be one of Ignore, Fail, Override; it is "fail"',
  ],
])('connect refuses %s', async (_what, connecting, message) => {
  await expect(connecting()).rejects.toThrow(message);
});
