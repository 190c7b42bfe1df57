// What is judged in every check: each rule is shown broken and kept, and nothing is concluded where a broker may have decided so.
import { describe, expect, it } from 'vitest';
import { Command } from '../wire/command.ts';
import type { FrameFields, ReceivedFrame } from '../wire/frame.ts';
import type { WatchSetting } from './check-watch.ts';
import { CheckWatch } from './check-watch.ts';

/** A watch, and what happens on its connections: A publishes, B and C subscribe. */
class Watched {
  nowMs = 0;
  readonly watch: CheckWatch;

  constructor(setting: Partial<WatchSetting> = {}) {
    const usual = { isWatched: () => true, ackTimeoutMs: 1000, defaultMode: 'RoundRobin' } as const;
    this.watch = new CheckWatch(() => this.nowMs, { ...usual, ...setting });
  }

  sends(connection: string, fields: FrameFields): this {
    this.watch.sent(connection, fields);
    return this;
  }

  gets(connection: string, frame: Partial<ReceivedFrame> & { readonly command: number }): this {
    const { headers = [], payload = Buffer.alloc(0) } = frame;
    const whole = {
      ...{
        id: '',
        queue: '',
        version: 1,
        flags: 0,
        trailingByteCount: 0,
        atMs: this.nowMs,
        errorCode: '',
        errorMessage: '',
        commandName: `${frame.command}`,
      },
      ...frame,
      headers,
      payload,
      header: (name: string) => headers.findLast(([key]) => key === name)?.[1],
      text: () => payload.toString(),
    };
    this.watch.received(connection, whole as unknown as ReceivedFrame);
    return this;
  }

  /** A queue with subscriptions of these connections. */
  withQueue(options: object, ...subscribers: readonly string[]): this {
    const create = { command: Command.CreateQueue, id: 'create', queue: 'q' };
    this.sends('A', { ...create, payload: JSON.stringify(options) }).gets('A', create);
    for (const subscriber of subscribers) {
      this.sends(subscriber, { command: Command.Subscribe, id: 'subscribe', queue: 'q' });
      this.gets(subscriber, { command: Command.SubscribeAck, id: 'subscribe', queue: 'q' });
    }
    return this;
  }

  publishes(id: string, more: Partial<FrameFields> = {}): this {
    const publish = { command: Command.Publish, id, queue: 'q', payload: '1', ...more };
    return this.sends('A', publish).gets('A', { command: Command.PublishAck, id, queue: 'q' });
  }

  delivers(connection: string, id: string, payload = '1', headers: ReceivedFrame['headers'] = []): this {
    const content = { payload: Buffer.from(payload), headers };
    return this.gets(connection, { command: Command.Deliver, id, queue: 'q', ...content });
  }

  /** The requirement that is broken. */
  async broken(delayMs = 0): Promise<string | undefined> {
    return (await this.watch.breach(delayMs))?.clause;
  }
}

const publish = { command: Command.Publish, id: 'm', queue: 'q', payload: '1' };
const publishAck = { command: Command.PublishAck, id: 'm', queue: 'q' };
const refusal = { command: Command.Error, id: 'm', errorCode: 'QUEUE_FULL' };

describe('answers', () => {
  it.each([
    ['one for each command', [publishAck], undefined],
    ['two', [publishAck, publishAck], 'CONN-040'],
    ['two Errors', [refusal, refusal], 'CONN-040'],
    ['a refusal and a confirmation', [refusal, publishAck], 'ERROR-001'],
    ['the id of no command', [{ ...publishAck, id: 'other' }], 'CONN-006'],
    ['a Pong with the id of no Ping', [{ command: Command.Pong, id: 'other' }], 'CONN-020'],
    ['an UnsubscribeAck of no command', [{ command: Command.UnsubscribeAck, id: 'other' }], undefined],
    ['an Error with the id of no command', [{ ...refusal, id: 'other' }], undefined],
    ['another queue', [{ ...publishAck, queue: 'r' }], 'CONN-010'],
  ])('%s', async (_, answers, clause) => {
    const watched = new Watched().sends('A', publish);
    for (const answer of answers) watched.gets('A', answer);
    expect(await watched.broken()).toBe(clause);
  });

  it('a command that is sent again is answered again', async () => {
    const watched = new Watched().publishes('m').publishes('m');
    expect(await watched.broken()).toBeUndefined();
    expect(await watched.gets('A', publishAck).broken()).toBe('CONN-040');
  });

  it('an Error may name an Ack, which has the id of its message', async () => {
    const watched = new Watched().withQueue({}, 'A').publishes('m').delivers('A', 'm');
    watched.sends('A', { command: Command.Ack, id: 'm', queue: 'q' }).gets('A', refusal);
    expect(await watched.broken()).toBeUndefined();
  });

  it('says what came', async () => {
    const watched = new Watched().sends('A', publish).gets('A', publishAck).gets('A', publishAck);
    expect(await watched.watch.breach(0)).toEqual({
      clause: 'CONN-040',
      what: 'a command is answered at most once',
      expected: 'one answer to Publish m',
      actual: '21 id=m queue=q',
      atMs: 0,
    });
  });
});

describe('deliveries', () => {
  it.each([
    ['the same value', '{"a":[1.0]}', '{ "a": [1] }', undefined],
    ['another value', '{"a":1}', '{"a":2}', 'DELIVERY-053'],
    ['no payload', '1', '', 'DELIVERY-053'],
    ['what is no JSON has no value', '{', '{}', undefined],
  ])('%s', async (_, published, delivered, clause) => {
    const watched = new Watched().withQueue({}, 'B').publishes('m', { payload: published });
    expect(await watched.delivers('B', 'm', delivered).broken()).toBe(clause);
  });

  it.each<[string, ReceivedFrame['headers'], ReceivedFrame['headers'], string | undefined]>([
    ['all headers', [['a', '1']], [['a', '1']], undefined],
    [
      'an additional header',
      [['a', '1']],
      [
        ['deliveryAttempts', '2'],
        ['a', '1'],
      ],
      undefined,
    ],
    ['a header less', [['a', '1']], [], 'DELIVERY-052'],
    ['a header with another value', [['a', '1']], [['a', '2']], 'DELIVERY-052'],
    ['a header in another case', [['a', '1']], [['A', '1']], 'DELIVERY-052'],
    ['a replaced header', [['deliveryAttempts', 'mine']], [['deliveryAttempts', '2']], undefined],
    ['an empty header less', [['a', '']], [], undefined],
    [
      'the last of two values',
      [
        ['a', '1'],
        ['a', '2'],
      ],
      [['a', '2']],
      undefined,
    ],
  ])('%s', async (_, headers, delivered, clause) => {
    const watched = new Watched().withQueue({}, 'B').publishes('m', { headers });
    expect(await watched.delivers('B', 'm', '1', delivered).broken()).toBe(clause);
  });

  it('a message may be any of those that were published with its id', async () => {
    const watched = new Watched().withQueue({}, 'B').publishes('m', { payload: '1' });
    watched.publishes('m', { payload: '2', headers: { a: '1' } });
    expect(await watched.delivers('B', 'm', '2', [['a', '1']]).broken()).toBeUndefined();
    // The payload of one with the headers of the other.
    expect(await watched.delivers('B', 'm', '2').broken()).toBe('DELIVERY-052');
  });

  it.each([
    ['QUEUE_FULL', 'PUBLISH-003'],
    ['STORAGE_ERROR', undefined],
    ['SERVER_ERROR', undefined],
  ])('of a message that was refused with %s', async (errorCode, clause) => {
    const watched = new Watched().withQueue({}, 'B').sends('A', publish).delivers('B', 'm');
    expect(await watched.broken()).toBeUndefined();
    expect(await watched.gets('A', { ...refusal, errorCode }).broken()).toBe(clause);
  });

  it('of a message that was refused once and accepted once', async () => {
    const watched = new Watched().withQueue({}, 'B').sends('A', publish).gets('A', refusal);
    expect(await watched.publishes('m').delivers('B', 'm').broken()).toBeUndefined();
  });

  it('on a connection that left the queue', async () => {
    const leave = { command: Command.Unsubscribe, id: 'leave', queue: 'q' };
    const watched = new Watched().withQueue({}, 'B').publishes('m').sends('B', leave).delivers('B', 'm');
    watched.gets('B', { ...leave, command: Command.UnsubscribeAck });
    expect(await watched.broken()).toBeUndefined();
    expect(await watched.publishes('n').delivers('B', 'n').broken()).toBe('DELIVERY-061');
  });

  it('on a connection that subscribed again before UnsubscribeAck', async () => {
    const leave = { command: Command.Unsubscribe, id: 'leave', queue: 'q' };
    const watched = new Watched().withQueue({}, 'B').publishes('m').sends('B', leave);
    watched.sends('B', { command: Command.Subscribe, id: 'again', queue: 'q' });
    watched.gets('B', { ...leave, command: Command.UnsubscribeAck });
    expect(await watched.delivers('B', 'm').broken()).toBeUndefined();
  });

  it('under the name of another queue', async () => {
    const other = { command: Command.Deliver, id: 'm', queue: 'r', payload: Buffer.from('1') };
    const named = new Watched().withQueue({}, 'B').publishes('m');
    expect(await named.gets('B', other).broken()).toBe('DELIVERY-051');
    const letters = { command: Command.Subscribe, id: 'letters', queue: 'r' };
    const dead = new Watched().withQueue({}, 'B').publishes('m').sends('B', letters);
    dead.gets('B', { command: Command.SubscribeAck, id: 'letters', queue: 'r' });
    expect(await dead.gets('B', other).broken()).toBeUndefined();
    // It is only recommended that a dead letter has the payload of its message.
    const changed = { ...other, payload: Buffer.from('{"of":1}') };
    expect(await dead.gets('B', changed).broken()).toBeUndefined();
  });
});

describe('deliveries and subscriptions', () => {
  const subscribe = { command: Command.Subscribe, id: 's', queue: 'q' };
  const subscribeAck = { command: Command.SubscribeAck, id: 's', queue: 'q' };
  const unsubscribe = { command: Command.Unsubscribe, id: 'u', queue: 'q' };
  const unsubscribeAck = { command: Command.UnsubscribeAck, id: 'u', queue: 'q' };

  it('come after SubscribeAck', async () => {
    const asked = (): Watched => new Watched().withQueue({}).publishes('m').sends('B', subscribe);
    expect(await asked().delivers('B', 'm').broken()).toBe('CONN-033');
    expect(await asked().gets('B', subscribeAck).delivers('B', 'm').broken()).toBeUndefined();
  });

  it('come after SubscribeAck also when the client subscribes again', async () => {
    const left = (): Watched =>
      new Watched().withQueue({}, 'B').sends('B', unsubscribe).gets('B', unsubscribeAck).publishes('m');
    expect(await left().sends('B', subscribe).delivers('B', 'm').broken()).toBe('CONN-033');
    const leaving = new Watched().withQueue({}, 'B').publishes('m').sends('B', unsubscribe);
    expect(await leaving.sends('B', subscribe).delivers('B', 'm').broken()).toBeUndefined();
    const twice = new Watched().withQueue({}, 'B').publishes('m').sends('B', subscribe);
    expect(await twice.delivers('B', 'm').broken()).toBeUndefined();
  });

  it('go to subscribers', async () => {
    const watched = new Watched().withQueue({}, 'B').publishes('m');
    expect(await watched.delivers('C', 'm').broken()).toBe('DELIVERY-069');
    const other = { command: Command.Subscribe, id: 'other', queue: 'r' };
    const elsewhere = new Watched().withQueue({}, 'B').publishes('m').sends('C', other);
    expect(await elsewhere.delivers('C', 'm').broken()).toBe('DELIVERY-051');
    const unknown = { command: Command.Deliver, id: 'm', queue: 'of-another-check' };
    expect(await new Watched().withQueue({}, 'B').gets('C', unknown).broken()).toBeUndefined();
  });
});

describe('the form of a frame', () => {
  const error = { command: Command.Error, id: 'm', errorCode: 'QUEUE_FULL' };

  it.each<[string, Partial<ReceivedFrame> & { readonly command: number }, string | undefined]>([
    ['another version', { command: Command.Pong, version: 2 }, 'BODY-013'],
    ['an Error without a code', { ...error, errorCode: '' }, 'ERROR-002'],
    ['an Error with more bytes', { ...error, trailingByteCount: 1 }, 'BODY-001'],
    ['more bytes', { command: Command.PublishAck, trailingByteCount: 4 }, 'BODY-001'],
    ['a delivery with more bytes', { command: Command.Deliver, trailingByteCount: 1 }, 'BODY-001'],
    ['an Error', error, undefined],
  ])('%s', async (_, frame, clause) => {
    expect(await new Watched().gets('A', frame).broken()).toBe(clause);
  });

  it('is judged where a check wrote bytes of its own, which a broker may forward', async () => {
    const raw = (): Watched => {
      const watched = new Watched();
      watched.watch.sentBytes('A');
      return watched;
    };
    expect(await raw().gets('A', { command: Command.Pong, version: 2 }).broken()).toBe('BODY-013');
    const forwarded = { command: Command.Deliver, trailingByteCount: 3 };
    expect(await raw().gets('B', forwarded).broken()).toBeUndefined();
  });
});

describe('the history', () => {
  const mode = { robin: 0, fanOut: 1, fanOutWithoutAck: 2, priority: 3 };

  it.each([
    ['RoundRobin', { mode: mode.robin }, 'DELIVERY-011'],
    ['no mode', {}, 'DELIVERY-011'],
    ['PriorityBased', { mode: mode.priority }, 'DELIVERY-030'],
    ['a mode as text', { mode: 'RoundRobin' }, undefined],
    ['FanOutWithAck', { mode: mode.fanOut }, undefined],
  ])('a message that two subscribers hold, %s', async (_, options, clause) => {
    const watched = new Watched().withQueue(options, 'B', 'C').publishes('m').delivers('B', 'm');
    watched.nowMs = 400;
    expect(await watched.delivers('C', 'm').broken()).toBe(clause);
  });

  const twice = (setting: Partial<WatchSetting> = {}): Watched =>
    new Watched(setting).withQueue({}, 'B', 'C').publishes('m').delivers('B', 'm');

  it('may be sent again after the ack timeout, a negative ack, or the end of the connection', async () => {
    const late = twice();
    late.nowMs = 600;
    expect(await late.delivers('C', 'm').broken()).toBeUndefined();
    const refused = twice().sends('B', {
      ...{ command: Command.Ack, id: 'm', queue: 'q' },
      headers: { failureReason: 'HandlerException' },
    });
    expect(await refused.delivers('C', 'm').broken()).toBeUndefined();
    const ended = twice();
    ended.watch.closed('B', true);
    expect(await ended.delivers('C', 'm').broken()).toBeUndefined();
    const crashed = twice();
    crashed.watch.note('crashed');
    expect(await crashed.delivers('C', 'm').broken()).toBeUndefined();
  });

  it('proves nothing if the runner read late, or not all', async () => {
    expect(await twice().delivers('C', 'm').broken(250)).toBe('DELIVERY-011');
    expect(await twice().delivers('C', 'm').broken(251)).toBeUndefined();
    const paused = twice().delivers('C', 'm');
    paused.watch.stoppedReading();
    expect(await paused.broken()).toBeUndefined();
  });

  it('proves nothing where a user may have lost a right', async () => {
    const revoked = twice().sends('A', { command: Command.AdminRevokePermission, id: 'r', payload: '{}' });
    expect(await revoked.delivers('C', 'm').broken()).toBeUndefined();
  });

  it('proves nothing of a queue whose mode is not certain', async () => {
    expect(await twice({ defaultMode: undefined }).delivers('C', 'm').broken()).toBeUndefined();
    const deleted = twice().sends('A', { command: Command.DeleteQueue, id: 'd', queue: 'q' });
    expect(await deleted.delivers('C', 'm').broken()).toBeUndefined();
    expect(await twice().withQueue({ mode: 3 }).delivers('C', 'm').broken()).toBeUndefined();
    expect(await twice().withQueue({}).delivers('C', 'm').broken()).toBe('DELIVERY-011');
  });

  it('proves nothing of a queue that was used before it was created: its mode may be another one', async () => {
    const subscribe = { command: Command.Subscribe, id: 'first', queue: 'q' };
    for (const use of [publish, subscribe]) {
      const watched = new Watched().sends('A', use).withQueue({}, 'B', 'C').publishes('n');
      expect(await watched.delivers('B', 'n').delivers('C', 'n').broken()).toBeUndefined();
    }
    const create = { command: Command.CreateQueue, id: 'create', queue: 'q' };
    const together = new Watched().sends('A', create).sends('A', publish).gets('A', create);
    together.withQueue({}, 'B', 'C').publishes('n').delivers('B', 'n');
    expect(await together.delivers('C', 'n').broken()).toBe('DELIVERY-011');
    const refused = new Watched().sends('A', create).gets('A', { ...refusal, id: 'create' });
    refused.publishes('m').withQueue({}, 'B', 'C').publishes('n').delivers('B', 'n');
    expect(await refused.delivers('C', 'n').broken()).toBeUndefined();
  });

  it('is judged also where the answer to CreateQueue does not name its queue', async () => {
    const create = { command: Command.CreateQueue, id: 'unnamed', queue: 'q' };
    const watched = new Watched().sends('A', create).gets('A', { ...create, queue: '' });
    for (const subscriber of ['B', 'C']) {
      watched.sends(subscriber, { command: Command.Subscribe, id: 's', queue: 'q' });
      watched.gets(subscriber, { command: Command.SubscribeAck, id: 's', queue: 'q' });
    }
    watched.publishes('m').delivers('B', 'm');
    expect(await watched.delivers('C', 'm').broken()).toBe('DELIVERY-011');
  });

  it('proves nothing of an id that was published to two queues: one may be a dead letter', async () => {
    const other = { command: Command.Publish, id: 'm', queue: 'other', payload: '1' };
    expect(await twice().sends('A', other).delivers('C', 'm').broken()).toBeUndefined();
    const another = { ...other, id: 'n' };
    expect(await twice().sends('A', another).delivers('C', 'm').broken()).toBe('DELIVERY-011');
  });

  it('first deliveries in the wrong order', async () => {
    const watched = new Watched().withQueue({}, 'B').publishes('m').publishes('n').delivers('B', 'n');
    expect(await watched.delivers('B', 'm').broken()).toBe('DELIVERY-035');
  });

  it('a copy that is sent twice without acks', async () => {
    const watched = new Watched().withQueue({ mode: mode.fanOutWithoutAck }, 'B').publishes('m');
    expect(await watched.delivers('B', 'm').broken()).toBeUndefined();
    expect(await watched.delivers('B', 'm').broken()).toBe('DELIVERY-025');
  });
});

describe('an acknowledged message that comes again', () => {
  const ack = { command: Command.Ack, id: 'm', queue: 'q' };
  const ping = { command: Command.Ping, id: 'p' };

  function afterAck(
    fields: Partial<FrameFields>,
    { mode: queueMode = 0, ackedAtMs = 0, isRead = true } = {},
  ) {
    const watched = new Watched().withQueue({ mode: queueMode }, 'B').publishes('m').delivers('B', 'm');
    watched.nowMs = ackedAtMs;
    watched.sends('B', { ...ack, ...fields });
    if (isRead) watched.sends('B', ping).gets('B', { command: Command.Pong, id: 'p' });
    watched.watch.closed('B', true);
    watched.withQueue({ mode: queueMode }, 'C');
    return watched;
  }

  it.each<[string, Partial<FrameFields>, Parameters<typeof afterAck>[1], string | undefined]>([
    ['RoundRobin', {}, {}, 'DELIVERY-001'],
    ['PriorityBased', {}, { mode: 3 }, 'DELIVERY-001'],
    ['just in time', {}, { ackedAtMs: 249 }, 'DELIVERY-001'],
    ['an ack near the timeout', {}, { ackedAtMs: 250 }, undefined],
    ['an ack that the broker may not have read', {}, { isRead: false }, undefined],
    ['an ack without a queue', { queue: '' }, {}, undefined],
    ['an ack by header messageId', { id: 'x', headers: { messageId: 'm' } }, {}, undefined],
    ['a negative ack', { headers: { failureReason: 'HandlerException' } }, {}, undefined],
    ['FanOutWithAck', {}, { mode: 1 }, undefined],
  ])('%s', async (_, fields, more, clause) => {
    expect(await afterAck(fields, more).delivers('C', 'm').broken()).toBe(clause);
  });

  it('may come again when it was published again, or the broker started again', async () => {
    expect(await afterAck({}).publishes('m').delivers('C', 'm').broken()).toBeUndefined();
    const restarted = afterAck({});
    restarted.watch.note('restarted');
    expect(await restarted.delivers('C', 'm').broken()).toBeUndefined();
  });
});

describe('the answers about queues', () => {
  const info = {
    ...{ name: 'q', messageCount: 0, subscriberCount: 1, deliveryMode: 3, maxSize: 10, overflowStrategy: 0 },
    ...{ createdAt: '2026-11-29T12:00:00.1234567Z', enableDeadLetterQueue: false, maxRetryAttempts: 3 },
  };
  const answerOf = (command: number, payload: string): Promise<string | undefined> =>
    new Watched()
      .sends('A', { command, id: 'i', queue: 'q' })
      .gets('A', { command, id: 'i', queue: 'q', payload: Buffer.from(payload) })
      .broken();

  it.each<[string, object, string | undefined]>([
    ['all fields', {}, undefined],
    ['more fields', { more: [], messageTtl: '1.00:00:00', deadLetterQueueName: 'r' }, undefined],
    ['options that are null', { messageTtl: null, deadLetterQueueName: null }, undefined],
    ['another name', { name: 'r' }, 'QUEUE-021'],
    ['no count', { messageCount: undefined }, 'QUEUE-021'],
    ['a count below 0', { messageCount: -1 }, 'QUEUE-021'],
    ['a count as text', { subscriberCount: '1' }, 'QUEUE-021'],
    ['a mode as text', { deliveryMode: 'RoundRobin' }, 'BODY-036'],
    ['a strategy as text', { overflowStrategy: '0' }, 'BODY-036'],
    ['an option that a broker should refuse', { maxSize: -1, deliveryMode: 7 }, undefined],
    ['a time without a zone', { createdAt: '2026-11-29T12:00:00' }, 'BODY-041'],
    ['a time span in seconds', { messageTtl: 60 }, 'BODY-040'],
    ['a number as a name', { deadLetterQueueName: 7 }, 'QUEUE-023'],
  ])('QueueInfo with %s', async (_, changes, clause) => {
    expect(await answerOf(Command.QueueInfo, JSON.stringify({ ...info, ...changes }))).toBe(clause);
  });

  it.each([
    [Command.QueueInfo, '', undefined],
    [Command.QueueInfo, 'null', undefined],
    [Command.QueueInfo, '{', undefined],
    [Command.ListQueues, '["a","b"]', undefined],
    [Command.ListQueues, '["a","b","a"]', 'QUEUE-028'],
    [Command.ListQueues, '[1]', 'QUEUE-028'],
    [Command.ListQueues, '{}', 'QUEUE-028'],
    [Command.ListQueues, '', 'QUEUE-028'],
    [Command.CreateQueue, '', undefined],
    [Command.AdminListUsers, '[{"username":"u","isSuperuser":false,"createdAt":1}]', undefined],
    [Command.AdminListUsers, '[{"username":"u","isSuperuser":0,"createdAt":1}]', 'AUTH-041'],
    [Command.AdminListUsers, '[{"username":"u","isSuperuser":false}]', 'AUTH-041'],
    [Command.AdminListUsers, '', undefined],
    [Command.AdminListUsers, '{}', 'AUTH-041'],
    [Command.AdminGetUserPermissions, '[]', undefined],
    [Command.AdminGetUserPermissions, '[{"queuePattern":"*","operations":["Publish"]}]', undefined],
    [Command.AdminGetUserPermissions, '[{"queuePattern":"*","operations":["publish"]}]', 'AUTH-034'],
    [Command.AdminGetUserPermissions, '[{"operations":[]}]', 'AUTH-042'],
  ])('command %i with the payload %j', async (command, payload, clause) => {
    expect(await answerOf(command, payload)).toBe(clause);
  });
});

describe('what is not judged', () => {
  it('anything on a connection on which a check wrote bytes of its own', async () => {
    const watched = new Watched().sends('A', publish);
    watched.watch.sentBytes('A');
    expect(await watched.gets('A', publishAck).gets('A', publishAck).broken()).toBeUndefined();
  });

  it('a requirement by which the broker is not to be judged', async () => {
    const watched = new Watched({ isWatched: (clause) => clause !== 'CONN-040' }).sends('A', publish);
    expect(await watched.gets('A', publishAck).gets('A', publishAck).broken()).toBeUndefined();
    expect(await watched.gets('A', { ...publishAck, id: 'other' }).broken()).toBe('CONN-006');
  });
});

it('bytes that are no frame', async () => {
  const watched = new Watched();
  watched.watch.undecodable('FRAME-018', 'body length 4097');
  expect(await watched.watch.breach(0)).toMatchObject({ clause: 'FRAME-018', actual: 'body length 4097' });
});
