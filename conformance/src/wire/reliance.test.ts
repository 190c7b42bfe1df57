// By which requirement a delivery is due, from what the connections of a check have done.
import { beforeEach, expect, it } from 'vitest';
import { Command } from './command.ts';
import type { ReceivedFrame } from './frame.ts';
import { answerRule, Reliance } from './reliance.ts';

let reliance: Reliance;

beforeEach(() => {
  reliance = new Reliance();
});

const create = (options: object): void =>
  reliance.sent('A', { command: Command.CreateQueue, id: 'c', queue: 'q', payload: JSON.stringify(options) });
const publish = (id: string): void => reliance.sent('A', { command: Command.Publish, id, queue: 'q' });
const subscribe = (connection: string, queue = 'q'): void =>
  reliance.sent(connection, { command: Command.Subscribe, id: 's', queue });
const delivered = (id: string, connection: string): void =>
  reliance.received(connection, { command: Command.Deliver, id, queue: 'q' } as ReceivedFrame);

it('is that of waiting messages for what was published before the subscription', () => {
  publish('m');
  subscribe('B');
  expect(reliance.ofDelivery('B', { queue: 'q' })).toBe('DELIVERY-010');
  expect(reliance.ofDelivery('B', {})).toBe('DELIVERY-010');
  publish('n');
  expect(reliance.ofDelivery('B', { id: 'n' })).toBe('DELIVERY-011');
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
  expect(reliance.ofDelivery('B', { queue: 'q' })).toBe(rule);
});

it('is that of the copy of each subscriber of a fan-out', () => {
  create({ mode: 1 });
  subscribe('B');
  subscribe('C');
  publish('m');
  delivered('m', 'B');
  expect(reliance.ofDelivery('C', { queue: 'q' })).toBe('DELIVERY-014');
});

it('is that of giving back when a holder has left, and of retries when none has', () => {
  subscribe('B');
  publish('m');
  delivered('m', 'B');
  expect(reliance.ofDelivery('B', { queue: 'q' })).toBe('RETRY-001');
  subscribe('C');
  reliance.closed('B');
  expect(reliance.ofDelivery('C', { queue: 'q' })).toBe('DELIVERY-038');
});

it('is that of dead letters in a queue that was named for them, or goes by the usual name', () => {
  create({ enableDeadLetterQueue: true });
  subscribe('B', 'q.dlq');
  expect(reliance.ofDelivery('B', { queue: 'q.dlq' })).toBe('DLQ-001');
  create({ enableDeadLetterQueue: true, deadLetterQueueName: 'dead' });
  expect(reliance.ofDelivery('B', { queue: 'dead' })).toBe('DLQ-001');
});

it('is none where nothing is known to be due', () => {
  subscribe('B');
  expect(reliance.ofDelivery('B', { queue: 'q' })).toBeUndefined();
  expect(reliance.ofDelivery('C', {})).toBeUndefined();
});

it('is that of the answer for commands, and none for those that have no answer', () => {
  expect(answerRule(Command.Publish)).toBe('PUBLISH-001');
  expect(answerRule(Command.Ack)).toBeUndefined();
});
