// By which requirement a delivery is due, from what the connections of a check have done.
import { beforeEach, describe, expect, it } from 'vitest';
import { answerRule, CheckTraffic } from './check-traffic.ts';
import { Command } from './command.ts';
import { encodeBody, frameAround } from './encode.ts';
import type { ReceivedFrame } from './frame.ts';

let traffic: CheckTraffic;

beforeEach(() => {
  traffic = new CheckTraffic();
  traffic.sent('A', { command: Command.CreateQueue, id: 'made', queue: 'q' });
  traffic.sent('A', { command: Command.CreateQueue, id: 'made too', queue: 'r' });
});

/** All that would explain a failure now. */
function causes(): readonly string[] {
  const { seen, needed } = traffic.hints();
  return [...new Set([...seen, ...needed])];
}

/** What comes from the broker. */
function comes(connection: string, command: number, id: string, queue: string, payload = ''): void {
  const frame = { command, id, queue, flags: 0, headers: [], text: () => payload, header: () => undefined };
  traffic.received(connection, frame as unknown as ReceivedFrame);
}

const create = (options: object): void =>
  traffic.sent('A', { command: Command.CreateQueue, id: 'c', queue: 'q', payload: JSON.stringify(options) });
const publish = (id: string): void => traffic.sent('A', { command: Command.Publish, id, queue: 'q' });
const subscribe = (connection: string, queue = 'q'): void =>
  traffic.sent(connection, { command: Command.Subscribe, id: 's', queue });
const delivered = (id: string, connection: string): void => comes(connection, Command.Deliver, id, 'q');

it('is that of waiting messages for what was published before the subscription', () => {
  publish('m');
  subscribe('B');
  expect(traffic.ofDelivery('B', { queue: 'q' })).toBe('DELIVERY-010');
  expect(traffic.ofDelivery('B', {})).toBe('DELIVERY-010');
  publish('n');
  expect(traffic.ofDelivery('B', { id: 'n' })).toBe('DELIVERY-011');
});

it.each([
  [0, 'DELIVERY-011'],
  [1, 'DELIVERY-014'],
  [2, 'DELIVERY-024'],
  [3, 'DELIVERY-030'],
])('is that of delivery mode %i for what is published to a subscriber', (mode, rule) => {
  create({ mode });
  subscribe('B');
  publish('m');
  expect(traffic.ofDelivery('B', { queue: 'q' })).toBe(rule);
});

it('is that of the copy of each subscriber of a fan-out', () => {
  create({ mode: 1 });
  subscribe('B');
  subscribe('C');
  publish('m');
  delivered('m', 'B');
  expect(traffic.ofDelivery('C', { queue: 'q' })).toBe('DELIVERY-014');
});

it('is that of giving back when a holder has left, and of retries when none has', () => {
  subscribe('B');
  publish('m');
  delivered('m', 'B');
  expect(traffic.ofDelivery('B', { queue: 'q' })).toBe('RETRY-001');
  subscribe('C');
  traffic.closed('B', true);
  expect(traffic.ofDelivery('C', { queue: 'q' })).toBe('DELIVERY-038');
});

it('is that of dead letters in a queue that was named for them, or goes by the usual name', () => {
  create({ enableDeadLetterQueue: true });
  subscribe('B', 'q.dlq');
  expect(traffic.ofDelivery('B', { queue: 'q.dlq' })).toBe('DLQ-001');
  create({ enableDeadLetterQueue: true, deadLetterQueueName: 'dead' });
  expect(traffic.ofDelivery('B', { queue: 'dead' })).toBe('DLQ-001');
});

it('is none where nothing is known to be due', () => {
  subscribe('B');
  expect(traffic.ofDelivery('B', { queue: 'q' })).toBeUndefined();
  expect(traffic.ofDelivery('C', {})).toBeUndefined();
});

it('is that of the answer for commands, and none for those that have no answer', () => {
  expect(answerRule(Command.Publish)).toBe('PUBLISH-001');
  expect(answerRule(Command.Ack)).toBeUndefined();
});

describe('possible causes', () => {
  const accepted = (id: string): void => {
    publish(id);
    comes('A', Command.PublishAck, id, 'q');
  };
  const ack = (id: string, connection: string): void =>
    traffic.sent(connection, { command: Command.Ack, id });

  it('are none where everything was delivered and answered', () => {
    subscribe('B');
    accepted('m');
    delivered('m', 'B');
    ack('m', 'B');
    traffic.closed('B', true);
    expect(causes()).toEqual([]);
  });

  it('name what a subscriber without messages in flight is owed', () => {
    accepted('m');
    subscribe('B');
    expect(causes()).toEqual(['DELIVERY-010']);
    delivered('m', 'B');
    accepted('n');
    expect(causes()).toEqual([]);
    ack('m', 'B');
    expect(causes()).toEqual(['DELIVERY-011', 'DELIVERY-065']);
  });

  it('name what was given back and went to nobody, to a later subscriber as what waits', () => {
    subscribe('B');
    accepted('m');
    delivered('m', 'B');
    traffic.closed('B', true);
    expect(causes()).toEqual([]);
    subscribe('C');
    expect(causes()).toEqual(['DELIVERY-038', 'DELIVERY-010']);
    delivered('m', 'C');
    expect(causes()).toEqual([]);
  });

  it('name how a dead letter may have been missed', () => {
    create({ enableDeadLetterQueue: true, messageTtl: '00:00:01' });
    subscribe('B', 'q.dlq');
    expect(causes()).toEqual(['DLQ-001', 'DELIVERY-010', 'TTL-007', 'TTL-005']);
  });

  it('name a delivery in the wrong order, after its ack, over the window, and under other names', () => {
    traffic.sent('B', { command: Command.Subscribe, id: 's', queue: 'q', headers: { maxInFlight: '1' } });
    accepted('m');
    accepted('n');
    delivered('n', 'B');
    delivered('m', 'B');
    expect(causes()).toEqual(['DELIVERY-035', 'DELIVERY-046']);
    ack('m', 'B');
    delivered('m', 'B');
    expect(causes()).toContain('DELIVERY-065');
    comes('B', Command.Deliver, 'm', '');
    expect(causes()).toContain('DELIVERY-051');
    delivered('other', 'B');
    expect(causes()).toContain('DELIVERY-050');
  });

  it('name acks that may have counted for others', () => {
    create({ mode: 1 });
    subscribe('B');
    subscribe('C');
    accepted('m');
    delivered('m', 'B');
    delivered('m', 'C');
    ack('m', 'B');
    expect(causes()).toEqual(['DELIVERY-016']);
  });

  it('name an ack of somebody who does not hold the message', () => {
    subscribe('B');
    subscribe('C');
    accepted('m');
    delivered('m', 'B');
    ack('m', 'C');
    expect(causes()).toEqual(['DELIVERY-057']);
  });

  it('name a delivery after the end of the subscription, and a dead letter queue that was there before', () => {
    subscribe('B');
    traffic.sent('B', { command: Command.Unsubscribe, id: 'u', queue: 'q' });
    accepted('m');
    delivered('m', 'B');
    expect(causes()).toEqual([]);
    comes('B', Command.UnsubscribeAck, 'u', 'q');
    accepted('n');
    delivered('n', 'B');
    expect(causes()).toEqual(['DELIVERY-061']);
    create({ enableDeadLetterQueue: true, deadLetterQueueName: 'dead' });
    create({ enableDeadLetterQueue: true, deadLetterQueueName: 'dead' });
    expect(causes()).toEqual(['DELIVERY-061', 'DLQ-002', 'DLQ-007', 'DLQ-001']);
  });

  it('name how a refused message should come back', () => {
    const refuse = (id: string, failureReason: string): void =>
      traffic.sent('B', { command: Command.Ack, id, headers: { failureReason } });
    subscribe('B');
    accepted('m');
    delivered('m', 'B');
    refuse('m', 'HandlerException');
    expect(causes()).toEqual(['NACK-001']);
    delivered('m', 'B');
    expect(causes()).toEqual([]);
    refuse('m', 'DeserializationError');
    expect(causes()).toEqual(['NACK-001', 'NACK-005']);
  });

  it('take an ack without a queue for the oldest delivery of its id', () => {
    subscribe('B');
    subscribe('B', 'r');
    accepted('m');
    traffic.sent('A', { command: Command.Publish, id: 'm', queue: 'r' });
    delivered('m', 'B');
    comes('B', Command.Deliver, 'm', 'r');
    ack('m', 'B');
    traffic.closed('B', true);
    subscribe('C', 'r');
    expect(traffic.ofDelivery('C', { queue: 'r' })).toBe('DELIVERY-038');
  });

  it('name what a queue was made with, and what a name was written with', () => {
    create({ mode: 'RoundRobin', maxQueueSize: 2, messageTtl: '00:00:01', overflowStrategy: 2 });
    expect(causes()).toEqual(['BODY-037', 'TTL-005', 'QUEUE-029']);
    publish('m');
    expect(causes()).toContain('OVERFLOW-013');
    subscribe('B', 'schön');
    expect(causes()).toEqual(expect.arrayContaining(['BODY-022', 'QUEUE-047']));
    traffic.sentFrame(70_000);
    traffic.receivedUndecodable();
    traffic.sentTogether();
    expect(causes()).toEqual(expect.arrayContaining(['FRAME-003', 'FRAME-016', 'BODY-003']));
  });

  it('name a compressed frame on a connection that offered no algorithm', () => {
    const pong = { command: Command.Pong, id: 'p', queue: '', flags: 1 } as ReceivedFrame;
    const headers = { 'supported-compression': 'gzip' };
    traffic.sent('B', { command: Command.Connect, id: 'c', headers });
    traffic.sent('B', { command: Command.Ping, id: 'p' });
    traffic.received('B', pong);
    expect(causes()).toEqual(['COMPRESS-019']);
    traffic.sent('A', { command: Command.Ping, id: 'p' });
    traffic.received('A', pong);
    expect(causes()).toEqual(['COMPRESS-004', 'COMPRESS-019']);
  });

  it('name another content than the published one', () => {
    subscribe('B');
    const headers = { Kind: 'x' };
    traffic.sent('A', { command: Command.Publish, id: 'm', queue: 'q', payload: '1', headers });
    comes('B', Command.Deliver, 'm', 'q', '2');
    expect(causes()).toEqual(['DELIVERY-053', 'DELIVERY-054', 'DELIVERY-052']);
  });

  it('name a full queue that takes more, and a count below what was accepted', () => {
    create({ maxQueueSize: 1, overflowStrategy: 2 });
    accepted('m');
    expect(causes()).toEqual(['QUEUE-029']);
    accepted('n');
    expect(causes()).toEqual(['OVERFLOW-010', 'QUEUE-029']);
    comes('A', Command.QueueInfo, 'made', 'q', '{"messageCount":0}');
    expect(causes()).toEqual(expect.arrayContaining(['DELIVERY-034', 'PUBLISH-002']));
  });

  it('name a Publish to a full queue that is not answered', () => {
    create({ maxQueueSize: 1 });
    accepted('m');
    publish('n');
    expect(causes()).toContain('OVERFLOW-004');
    comes('A', Command.PublishAck, 'n', 'q');
    expect(causes()).not.toContain('OVERFLOW-004');
  });

  it('name a blocked Publish that is not answered', () => {
    create({ maxQueueSize: 1, overflowStrategy: 2 });
    accepted('m');
    publish('n');
    expect(causes()).toContain('OVERFLOW-011');
  });

  it('do not count a message as waiting whose Deliver arrives before its PublishAck', () => {
    create({ maxQueueSize: 1 });
    subscribe('B');
    for (const id of ['m', 'n']) {
      publish(id);
      delivered(id, 'B');
      comes('A', Command.PublishAck, id, 'q');
    }
    expect(causes()).toEqual(['QUEUE-029']);
    ack('m', 'B');
    accepted('m');
    accepted('o');
    expect(causes()).toContain('OVERFLOW-002');
  });

  it('know a Publish that was written as raw bytes', () => {
    const body = encodeBody({ command: Command.Publish, id: 'raw', queue: 'q' });
    subscribe('B');
    traffic.sentBytes('A', frameAround(body));
    expect(traffic.ofDelivery('B', { id: 'raw' })).toBe('DELIVERY-011');
    traffic.sentBytes('A', Buffer.from([0, 0, 0, 1, 0, 9]));
    expect(causes()).toEqual(['FRAME-015', 'BODY-033']);
  });

  it('name the encoding of long texts and of several headers', () => {
    publish('x'.repeat(128));
    expect(causes()).toEqual(['BODY-002']);
    traffic.sent('A', {
      command: Command.Publish,
      id: 'm',
      queue: 'q',
      headers: { k: 'x'.repeat(256), l: 'y' },
    });
    expect(causes()).toEqual(['BODY-002', 'BODY-004', 'BODY-008']);
  });

  it('name bytes after the last field, unknown commands, names in place of numbers, and headers in another case', () => {
    traffic.sent('A', { command: Command.Ping, id: 'p' });
    const answer = { command: 12, id: 'p', queue: '', flags: 0, trailingByteCount: 1 } as ReceivedFrame;
    traffic.received('A', answer);
    expect(causes()).toEqual(['BODY-001', 'BODY-014', 'BODY-043']);
    traffic.sent('A', { command: Command.QueueInfo, id: 'i', queue: 'q' });
    comes('A', Command.QueueInfo, 'i', 'q', '{"deliveryMode":"RoundRobin"}');
    expect(causes()).toContain('BODY-036');
    traffic.sent('A', { command: Command.Publish, id: 'm', queue: 'q', headers: { Kind: 'x' } });
    const headers = [['kind', 'x']] as const;
    const delivery = { command: Command.Deliver, id: 'm', queue: 'q', flags: 0, headers, text: () => '' };
    traffic.received('B', { ...delivery, header: () => undefined } as unknown as ReceivedFrame);
    expect(causes()).toContain('BODY-019');
  });

  it('name two answers, answers to nothing, and a connection that the broker closed', () => {
    accepted('m');
    comes('A', Command.Error, 'm', '');
    expect(causes()).toEqual(['CONN-040', 'ERROR-001']);
    comes('A', Command.PublishAck, 'x', 'q');
    expect(causes()).toEqual(['CONN-040', 'ERROR-001', 'CONN-006']);
    traffic.closed('A', false);
    expect(causes()).toContain('BODY-032');
  });
});
