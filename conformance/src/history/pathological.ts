// Histories that are wrong in one way each, and some that only look wrong, with what the accountant must find. They prove the
// accountant, in the tests and wherever the package is installed. Data only.
import type { Finding } from './account.ts';
import type { HistoryRules, Operation } from './operation.ts';

export type KnownHistory = {
  readonly title: string;
  readonly operations: readonly Operation[];
  readonly rules?: Partial<HistoryRules>;
  /** What must be found, and nothing else. */
  readonly finds: readonly (readonly [kind: Finding['kind'], clause: string])[];
  /** Sums that must come out. */
  readonly counts?: Readonly<Record<string, number>>;
};

type Step = Operation extends infer Each ? (Each extends Operation ? Omit<Each, 'atMs'> : never) : never;

/** Steps 1 ms apart. */
function history(...steps: readonly Step[]): readonly Operation[] {
  return steps.map((step, index) => ({ ...step, atMs: index }) as Operation);
}

const queue = 'orders';
const publish = (id: string, connection = 'P', content = id): Step => ({
  kind: 'publish',
  connection,
  queue,
  id,
  content,
});
const confirmed = (id: string, connection = 'P'): Step => ({ kind: 'published', connection, queue, id });
const refused = (id: string, code: string): Step => ({ kind: 'refused', connection: 'P', queue, id, code });
const subscribes = (connection: string, name = queue): readonly Step[] => [
  { kind: 'subscribe', connection, queue: name },
  { kind: 'subscribed', connection, queue: name },
];
const delivered = (id: string, connection = 'S', more: { queue?: string; content?: string } = {}): Step => ({
  kind: 'delivered',
  connection,
  queue,
  id,
  content: id,
  ...more,
});
const ack = (id: string, connection = 'S'): Step => ({ kind: 'ack', connection, id });
const refusal = (id: string, connection = 'S'): Step => ({ kind: 'ack', connection, id, negative: true });
const pong = (connection = 'S'): Step => ({ kind: 'synchronised', connection, upTo: 1000 });
const leaves = (connection: string, byRunner = true): Step => ({ kind: 'closed', connection, byRunner });
const crash: Step = { kind: 'crashed', connection: '-' };
const unsubscribes = (connection: string): readonly Step[] => [
  { kind: 'unsubscribe', connection, queue },
  { kind: 'unsubscribed', connection, queue },
];

const fanOut = { queues: { [queue]: { mode: 'FanOutWithAck' } } } as const;
const fanOutWithoutAck = { queues: { [queue]: { mode: 'FanOutWithoutAck' } } } as const;
const withDeadLetters = {
  queues: { [queue]: { deadLetterQueue: 'dead' } },
  drained: [queue, 'dead'],
} as const;
const durable = { durable: true } as const;

export const knownHistories: readonly KnownHistory[] = [
  {
    title: 'nothing happens',
    operations: [],
    finds: [],
    counts: { attempted: 0 },
  },
  {
    title: 'a message is delivered and acknowledged',
    operations: history(...subscribes('S'), publish('m'), confirmed('m'), delivered('m'), ack('m'), pong()),
    finds: [],
    counts: { attempted: 1, confirmed: 1, ok: 1, redelivered: 0 },
  },
  {
    title: 'a message comes before its PublishAck',
    operations: history(...subscribes('S'), publish('m'), delivered('m'), confirmed('m'), ack('m')),
    finds: [],
    counts: { ok: 1, confirmed: 1 },
  },
  {
    title: 'a confirmed message never comes',
    operations: history(...subscribes('S'), publish('m'), confirmed('m')),
    finds: [['lost', 'PUBLISH-002']],
    counts: { lost: 1, ok: 0 },
  },
  {
    title: 'a confirmed message has not come yet, and the queue was not drained',
    operations: history(...subscribes('S'), publish('m'), confirmed('m')),
    rules: { drained: [] },
    finds: [],
    counts: { lost: 0, outstanding: 1 },
  },
  {
    title: 'a message comes that nobody published',
    operations: history(...subscribes('S'), delivered('ghost')),
    finds: [['unexpected', 'DELIVERY-050']],
    counts: { attempted: 0, unexpected: 1 },
  },
  {
    title: 'a message comes before it is published',
    operations: history(...subscribes('S'), delivered('m'), publish('m'), confirmed('m')),
    finds: [['unexpected', 'DELIVERY-050']],
  },
  {
    title: 'a message comes with other bytes',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m', 'S', { content: 'else' }),
      ack('m'),
    ),
    finds: [['unexpected', 'DELIVERY-053']],
  },
  {
    title: 'a message comes out of another queue',
    operations: history(
      ...subscribes('S', 'other'),
      publish('m'),
      confirmed('m'),
      delivered('m', 'S', { queue: 'other' }),
      ack('m'),
    ),
    rules: { drained: [] },
    finds: [['unexpected', 'DELIVERY-051']],
  },
  {
    title: 'a message comes after UnsubscribeAck',
    operations: history(
      ...subscribes('S'),
      ...unsubscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
    ),
    finds: [['unexpected', 'DELIVERY-061']],
  },
  {
    title: 'a refused message comes',
    operations: history(...subscribes('S'), publish('m'), refused('m', 'QUEUE_FULL'), delivered('m')),
    finds: [['unexpected', 'PUBLISH-003']],
    counts: { refused: 1 },
  },
  {
    title: 'a refused message had come before its Error',
    operations: history(...subscribes('S'), publish('m'), delivered('m'), refused('m', 'RATE_LIMITED')),
    finds: [['unexpected', 'PUBLISH-003']],
  },
  {
    title: 'a message comes twice after its ack was read',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      ack('m'),
      pong(),
      leaves('S'),
      ...subscribes('T'),
      delivered('m', 'T'),
    ),
    finds: [['duplicated', 'DELIVERY-011']],
    counts: { duplicated: 1, ok: 1 },
  },
  {
    title: 'a message comes twice while it is held',
    operations: history(
      ...subscribes('S'),
      ...subscribes('T'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      delivered('m', 'T'),
    ),
    finds: [['duplicated', 'DELIVERY-011']],
  },
  {
    title: 'a message comes again after the ack timeout',
    operations: history(
      ...subscribes('S'),
      ...subscribes('T'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      delivered('m', 'T'),
      ack('m', 'T'),
    ),
    rules: { ackTimeoutMs: 1 },
    finds: [],
    counts: { redelivered: 1 },
  },
  {
    title: 'a message comes again after a negative ack, and once only',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      refusal('m'),
      delivered('m'),
      ack('m'),
      pong(),
      delivered('m'),
    ),
    finds: [['duplicated', 'DELIVERY-011']],
    counts: { redelivered: 1 },
  },
  {
    title: 'a message is given back by a subscriber that leaves',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      leaves('S'),
      ...subscribes('T'),
      delivered('m', 'T'),
      ack('m', 'T'),
      pong('T'),
    ),
    finds: [],
    counts: { redelivered: 1, ok: 1, lost: 0 },
  },
  {
    title: 'a message that was given back never comes again',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      leaves('S'),
      ...subscribes('T'),
    ),
    finds: [['lost', 'DELIVERY-006']],
  },
  {
    title: 'an ack is under way when its connection ends: the message may come again, or not',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      publish('n'),
      confirmed('m'),
      confirmed('n'),
      delivered('m'),
      delivered('n'),
      ack('m'),
      ack('n'),
      leaves('S'),
      ...subscribes('T'),
      delivered('n', 'T'),
      ack('n', 'T'),
    ),
    finds: [],
    counts: { ok: 2, redelivered: 1 },
  },
  {
    title: 'the broker ends the connection of a holder, and the runner sees it later',
    operations: history(
      ...subscribes('S'),
      ...subscribes('T'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      delivered('m', 'T'),
      leaves('S', false),
      ack('m', 'T'),
    ),
    finds: [],
    counts: { redelivered: 1 },
  },
  {
    title: 'messages of unknown outcome: one got through, one did not',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      publish('n'),
      leaves('P'),
      delivered('m'),
      ack('m'),
      pong(),
    ),
    finds: [],
    counts: { unknown: 2, recovered: 1, lost: 0, ok: 1 },
  },
  {
    title: 'a message of unknown outcome comes twice',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      leaves('P'),
      delivered('m'),
      ack('m'),
      pong(),
      delivered('m'),
    ),
    finds: [['duplicated', 'DELIVERY-011']],
    counts: { recovered: 1 },
  },
  {
    title: 'STORAGE_ERROR leaves the outcome open',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      refused('m', 'STORAGE_ERROR'),
      delivered('m'),
      ack('m'),
    ),
    finds: [],
    counts: { unknown: 1, recovered: 1 },
  },
  {
    title: 'a publisher sends again what it got no answer for, and both come',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      leaves('P'),
      publish('m', 'Q'),
      confirmed('m', 'Q'),
      delivered('m'),
      ack('m'),
      pong(),
      delivered('m'),
      ack('m'),
    ),
    finds: [],
    counts: { attempted: 1, confirmed: 1, ok: 1 },
  },
  {
    title: 'two messages of one publisher come in the other order',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      publish('n'),
      confirmed('m'),
      confirmed('n'),
      delivered('n'),
      delivered('m'),
      ack('m'),
      ack('n'),
    ),
    finds: [['inverted', 'DELIVERY-035']],
  },
  {
    title: 'messages of two publishers, or of a PriorityBased queue, may come in another order',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      publish('n', 'Q'),
      confirmed('m'),
      confirmed('n', 'Q'),
      delivered('n'),
      delivered('m'),
      ack('m'),
      ack('n'),
    ),
    finds: [],
  },
  {
    title: 'a subscriber may have taken the first of two messages with it, unseen',
    operations: history(
      ...subscribes('S'),
      ...subscribes('T'),
      publish('m'),
      publish('n'),
      confirmed('m'),
      confirmed('n'),
      delivered('n', 'T'),
      leaves('S'),
      delivered('m', 'T'),
      ack('m', 'T'),
      ack('n', 'T'),
    ),
    finds: [],
  },
  {
    title: 'every FanOutWithAck subscriber gets its copy',
    operations: history(
      ...subscribes('S'),
      ...subscribes('T'),
      publish('m'),
      confirmed('m'),
      delivered('m', 'S'),
      delivered('m', 'T'),
      ack('m', 'S'),
      ack('m', 'T'),
    ),
    rules: fanOut,
    finds: [],
    counts: { ok: 1, duplicated: 0 },
  },
  {
    title: 'a FanOutWithAck subscriber misses its copy',
    operations: history(
      ...subscribes('S'),
      ...subscribes('T'),
      publish('m'),
      confirmed('m'),
      delivered('m', 'S'),
      ack('m', 'S'),
    ),
    rules: fanOut,
    finds: [['lost', 'DELIVERY-006']],
  },
  {
    title: 'a FanOutWithAck subscriber gets two copies',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      delivered('m'),
      ack('m'),
    ),
    rules: fanOut,
    finds: [['duplicated', 'DELIVERY-014']],
  },
  {
    title: 'a later subscriber gets a copy of what is in flight',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      ...subscribes('T'),
      delivered('m', 'T'),
      ack('m', 'S'),
      ack('m', 'T'),
    ),
    rules: fanOut,
    finds: [['duplicated', 'DELIVERY-015']],
  },
  {
    title: 'all copies are gone with their subscribers: the message waits again',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      leaves('S'),
      ...subscribes('T'),
      delivered('m', 'T'),
      ack('m', 'T'),
    ),
    rules: fanOut,
    finds: [],
  },
  {
    title: 'one copy is acknowledged and one is gone with its subscriber: the message may wait again',
    operations: history(
      ...subscribes('S'),
      ...subscribes('T'),
      publish('m'),
      confirmed('m'),
      delivered('m', 'S'),
      delivered('m', 'T'),
      ack('m', 'S'),
      leaves('T'),
      ...subscribes('U'),
      ...subscribes('V'),
      delivered('m', 'U'),
      delivered('m', 'V'),
      ack('m', 'U'),
      ack('m', 'V'),
    ),
    rules: fanOut,
    finds: [],
  },
  {
    title: 'one copy is acknowledged and one left unread with its subscriber: the message may wait again',
    operations: history(
      ...subscribes('S'),
      ...subscribes('T'),
      publish('m'),
      confirmed('m'),
      delivered('m', 'S'),
      ack('m', 'S'),
      leaves('T'),
      ...subscribes('U'),
      delivered('m', 'U'),
      ack('m', 'U'),
    ),
    rules: fanOut,
    finds: [],
  },
  {
    title: 'all copies are gone with their subscribers, and the message too',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      leaves('S'),
      ...subscribes('T'),
    ),
    rules: fanOut,
    finds: [['lost', 'DELIVERY-006']],
  },
  {
    title: 'a FanOutWithoutAck message is sent again without need',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      leaves('P'),
      delivered('m'),
    ),
    rules: fanOutWithoutAck,
    finds: [['duplicated', 'DELIVERY-025']],
  },
  {
    title: 'a FanOutWithoutAck message goes with the subscriber that had not read it',
    operations: history(...subscribes('S'), publish('m'), confirmed('m'), leaves('S'), ...subscribes('T')),
    rules: fanOutWithoutAck,
    finds: [],
  },
  {
    title: 'a dead letter comes out of its queue',
    operations: history(
      ...subscribes('S'),
      ...subscribes('D', 'dead'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      refusal('m'),
      delivered('m', 'D', { queue: 'dead' }),
      ack('m', 'D'),
      pong('D'),
    ),
    rules: withDeadLetters,
    finds: [],
  },
  {
    title: 'a message is dead-lettered twice',
    operations: history(
      ...subscribes('S'),
      ...subscribes('D', 'dead'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      refusal('m'),
      delivered('m', 'D', { queue: 'dead' }),
      ack('m', 'D'),
      pong('D'),
      delivered('m', 'D', { queue: 'dead' }),
    ),
    rules: withDeadLetters,
    finds: [['duplicated', 'DELIVERY-011']],
  },
  {
    title: 'messages of a full, deleted or expiring queue are not lost',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      { kind: 'emptied', connection: 'P', queue },
      pong(),
    ),
    finds: [],
  },
  {
    title: 'a confirmed message is gone after a crash of a durable broker',
    operations: history(publish('m'), confirmed('m'), crash, leaves('P', false), ...subscribes('S')),
    rules: durable,
    finds: [['lost', 'DURABLE-003']],
  },
  {
    title: 'a confirmed message is gone after a crash of a broker that keeps nothing',
    operations: history(publish('m'), confirmed('m'), crash, leaves('P', false), ...subscribes('S')),
    finds: [],
  },
  {
    title: 'a copy is given back at a crash, and acknowledged by who comes then, before another crash',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      crash,
      leaves('S', false),
      ...subscribes('T'),
      delivered('m', 'T'),
      ack('m', 'T'),
      crash,
      leaves('T', false),
      ...subscribes('U'),
    ),
    rules: { ...durable, queues: { [queue]: { mode: 'FanOutWithAck' } } },
    finds: [],
  },
  {
    title: 'a crash undoes an ack, and a publish of unknown outcome gets through',
    operations: history(
      ...subscribes('S'),
      publish('m'),
      confirmed('m'),
      delivered('m'),
      ack('m'),
      pong(),
      publish('n'),
      crash,
      leaves('S', false),
      leaves('P', false),
      ...subscribes('T'),
      delivered('m', 'T'),
      delivered('n', 'T'),
      ack('m', 'T'),
      ack('n', 'T'),
    ),
    rules: durable,
    finds: [],
    counts: { undone: 1, recovered: 1, ok: 2 },
  },
];
