// Checks of queues, their options, attempts, message ages and dead letters after a crash, or a stop, and a start of the broker; and of a
// store that cannot be used. Areas: DURABLE, DLQ, TTL.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { sizedPayload } from './shared/bodies.ts';
import { crashBroker, durableBroker, restartBroker, sorted, takeAll } from './shared/durable-broker.ts';
import { noteIfLate } from './shared/lateness.ts';
import { messageCountOf, newQueue, requireInfoShows } from './shared/queue-state.ts';
import { deliveredIds, newSubscriber } from './shared/queue-with-subscribers.ts';
import {
  expectEmpty,
  expectNotRedelivered,
  gapMs,
  type MessageName,
  nextAttempt,
  shortTimings,
  subscribeToDeadLetters,
  takeDeadLetter,
  waitUntil,
} from './shared/retry-attempts.ts';
import { expectOnlySentinel, idsOf, publishSeries, resetSubscriber } from './shared/subscribers.ts';

const waits = {
  ...durableBroker,
  prefers: { timing: { ...durableBroker.prefers.timing, ...shortTimings.timing } },
  waits: true,
} as const satisfies Partial<Check>;

/** An ack timeout in which the broker is killed also on a busy machine. */
const waitsLonger = { ...waits, prefers: { timing: { ...waits.prefers.timing, ackTimeoutMs: 1000 } } };

const queues: CheckModule = [
  // DURABLE-008 (MUST): A broker with a durable store keeps queues and their options over a restart.
  {
    id: 'DURABLE-008a',
    title: 'keeps queues with their options and creation times after a crash',
    clauses: ['DURABLE-008', 'DURABLE-009'],
    ...durableBroker,
    evidence: { frames: 14, assertions: 8 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const names = await queuesOfAllKinds(ctx, client);
      const before = await infosOf(client, names);
      await crashBroker(ctx);
      await expectSameQueues(ctx, before);
      requireInfoShows(ctx, before.get(ctx.queue('full')), { maxSize: 7, maxRetryAttempts: 5 });
    },
  },
  // DURABLE-023 (MUST): A broker with the in-memory store loses all state at a restart.
  {
    id: 'DURABLE-023a',
    title: 'contains no queues after a stop and a start when its storage is memory',
    clauses: ['DURABLE-023'],
    profile: 'limits',
    isolation: 'restart',
    requires: { configuration: { storage: 'memory' } },
    prefers: durableBroker.prefers,
    evidence: { frames: 5, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'forgotten');
      await publishSeries(ctx, client, queue, 1);
      if (!(await client.listQueues()).includes(queue))
        ctx.notShown('ListQueues does not list a queue that exists');
      await restartBroker(ctx, client);
      ctx.assert.deepEqual(await (await ctx.connect()).listQueues(), [], 'the names of the queues');
    },
  },
  // TTL-004 (SHOULD): The age of a message includes the time during which the broker was down.
  {
    id: 'TTL-004a',
    title: 'includes its downtime in the age of a message',
    clauses: ['TTL-004', 'TTL-001', 'DURABLE-003'],
    ...waits,
    evidence: { frames: 12, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const timed = await newQueue(ctx, client, 'timed', { messageTtl: '00:00:02' });
      const lasting = await newQueue(ctx, client, 'lasting', { messageTtl: '01:00:00' });
      const ids = await publishSeries(ctx, client, lasting, 1);
      await publishSeries(ctx, client, timed, 1);
      const expiredAt = ctx.now() + 2000;
      await ctx.broker.crash();
      // Almost the whole TTL passes while the broker is down. A broker that restarts the age at 0 still has the message after the start.
      await waitUntil(ctx, expiredAt - 100);
      await ctx.broker.start();
      await waitUntil(ctx, expiredAt + ctx.timing.lateMs);
      await expectEmpty(ctx, timed, { text: 'the expired message is not delivered' });
      ctx.assert.deepEqual(idsOf(await takeAll(ctx, lasting)), ids, 'the message that has not expired');
    },
  },
  // TTL-004 (SHOULD): The age of a message includes the time during which the broker was down.
  {
    id: 'TTL-004b',
    title: 'includes its downtime in the age of a dead letter',
    clauses: ['TTL-004', 'TTL-001', 'DURABLE-012'],
    ...waits,
    evidence: { frames: 14, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = await newQueue(ctx, client, 'timed-letters', { messageTtl: '00:00:02' });
      const { queue } = await withDeadLetter(ctx, client, { deadLetterQueueName: deadLetterQueue });
      const sinceMs = ctx.now();
      const letterCount = await messageCountOf(client, deadLetterQueue);
      noteIfLate(ctx, { sinceMs, maxMs: 1000, step: 'the QueueInfo of the dead letter queue' });
      ctx.assert.equal(letterCount, 1, 'number of dead letters before the crash', 'DLQ-001');
      await ctx.broker.crash();
      await waitUntil(ctx, sinceMs + 1900);
      await ctx.broker.start();
      await waitUntil(ctx, sinceMs + 2000 + ctx.timing.lateMs);
      await expectEmpty(ctx, deadLetterQueue, { text: 'the expired dead letter is not delivered' });
      ctx.assert.equal((await takeAll(ctx, queue)).length, 1, 'number of messages in the source queue');
    },
  },
] satisfies readonly Check[];

const deadLetterRecovery: CheckModule = [
  // DURABLE-011 (SHOULD): A broker with a durable store keeps the number of failed attempts of a message over a
  // restart, if it is at least 2.
  {
    id: 'DURABLE-011a',
    title: 'keeps the number of failed attempts of a message, if it is at least 2, after a crash',
    clauses: ['DURABLE-011', 'RETRY-007', 'DELIVERY-055'],
    ...waitsLonger,
    evidence: { frames: 12, messages: 4 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const deadLetterQueue = ctx.queue('letters');
      const withLetters = { enableDeadLetterQueue: true, deadLetterQueueName: deadLetterQueue };
      const queue = await newQueue(ctx, publisher, 'failing', { ...withLetters, maxRetryAttempts: 3 });
      const subscriber = await newSubscriber(ctx, queue);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      await crashInThirdAttempt(ctx, { publisher, subscriber }, { queue, id });
      const again = await newSubscriber(ctx, queue);
      const attempts = (await again.delivery({ queue })).header('deliveryAttempts');
      const known = 'deliveryAttempts after the crash counts the attempts that failed';
      ctx.should(Number(attempts) >= 2, 'DELIVERY-055', known, { expected: '2 or more', actual: attempts });
      const reader = await subscribeToDeadLetters(ctx, deadLetterQueue, ctx.target.ackTimeoutMs);
      ctx.assert.equal(deliveredIds(again, queue).length, 1, 'number of attempts after the crash');
      await reader.ack(await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id }));
    },
  },
  // DURABLE-011 (SHOULD): A broker with a durable store keeps the number of failed attempts of a message over a
  // restart, if it is at least 2.
  {
    id: 'DURABLE-011b',
    title: 'keeps the number of failed attempts of a dead letter, if it is at least 2, after a crash',
    clauses: ['DURABLE-011', 'RETRY-007', 'DLQ-010'],
    ...waitsLonger,
    evidence: { frames: 11, messages: 4 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      const letters = await newQueue(ctx, publisher, 'letters', { maxRetryAttempts: 3 });
      await withDeadLetter(ctx, publisher, { deadLetterQueueName: letters });
      const subscriber = await newSubscriber(ctx, letters);
      const { id } = await subscriber.delivery({ queue: letters });
      await crashInThirdAttempt(ctx, { publisher, subscriber }, { queue: letters, id });
      const again = await newSubscriber(ctx, letters);
      const last = await again.delivery({ queue: letters });
      await waitUntil(ctx, last.atMs + gapMs(ctx, 3) + ctx.timing.lateMs);
      await again.ping();
      ctx.assert.equal(deliveredIds(again, letters).length, 1, 'number of attempts after the crash');
    },
  },
  // DURABLE-012 (MUST): A broker with a durable store keeps dead letters over a restart.
  {
    id: 'DURABLE-012a',
    title: 'keeps a dead letter with its content and headers after a crash, once',
    clauses: ['DURABLE-012', 'DURABLE-013', 'DLQ-012'],
    ...durableBroker,
    evidence: { frames: 14, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = await newQueue(ctx, client, 'letters', {});
      const { queue, id } = await withDeadLetter(ctx, client, { deadLetterQueueName: deadLetterQueue });
      const holder = await newSubscriber(ctx, deadLetterQueue);
      const before = await holder.delivery({ queue: deadLetterQueue });
      await resetSubscriber(ctx, holder, { witness: client, queue: deadLetterQueue, remaining: 0 });
      await crashBroker(ctx);
      const recovered = await takeAll(ctx, deadLetterQueue);
      ctx.assert.equal(recovered.length, 1, 'number of dead letters');
      ctx.assert.sameJson(recovered[0]?.payload, before.payload, 'the payload of the dead letter');
      ctx.should(recovered[0]?.id === id, 'DLQ-012', 'a dead letter has the same id after a crash');
      expectSameHeaders(ctx, recovered[0], before);
      ctx.assert.equal((await takeAll(ctx, queue)).length, 1, 'number of messages in the source queue');
    },
  },
  // DURABLE-012 (MUST): A broker with a durable store keeps dead letters over a restart.
  {
    id: 'DURABLE-012b',
    title: 'keeps the headers of a dead letter whose attempts failed after a crash',
    clauses: ['DURABLE-012', 'DLQ-012', 'DLQ-015'],
    ...waitsLonger,
    evidence: { frames: 10, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = await newQueue(ctx, client, 'letters', {});
      const options = {
        maxRetryAttempts: 2,
        enableDeadLetterQueue: true,
        deadLetterQueueName: deadLetterQueue,
      };
      const queue = await newQueue(ctx, client, 'source', options);
      await newSubscriber(ctx, queue);
      const { id } = await client.publish(queue, '1', { headers: letterHeaders });
      const letter = { queue: deadLetterQueue, id };
      const withinMs = 2 * ctx.target.ackTimeoutMs + gapMs(ctx, 1);
      const holder = await newSubscriber(ctx, deadLetterQueue);
      const before = await takeDeadLetter(ctx, holder, letter, withinMs, 'DLQ-001');
      await crashBroker(ctx);
      const [recovered] = await takeAll(ctx, deadLetterQueue);
      const text = 'the dead letter is delivered after the crash';
      ctx.assert.ok(recovered !== undefined, text, { actual: 'no delivery' });
      expectSameHeaders(ctx, recovered, before);
      const attempts = recovered?.header('deadLetterAttempts');
      ctx.should(attempts === '2', 'DLQ-015', 'it says how many attempts failed', { actual: attempts });
    },
  },
  // DURABLE-013 (SHOULD): After a restart of a broker with a durable store, clients can subscribe to its dead letter
  // queues.
  {
    id: 'DURABLE-013a',
    title: 'delivers old and new dead letters of a generated dead letter queue after a stop and a start',
    clauses: ['DURABLE-013', 'DURABLE-012', 'DLQ-003'],
    ...durableBroker,
    evidence: { frames: 10, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const { queue, id } = await withDeadLetter(ctx, client, {});
      await restartBroker(ctx, client);
      const again = await ctx.connect();
      const subscriber = await newSubscriber(ctx, `${queue}.dlq`);
      const first = await subscriber.delivery({ queue: `${queue}.dlq` });
      await subscriber.ack(first);
      const [later] = await publishSeries(ctx, again, queue, 1);
      const second = await subscriber.delivery({ queue: `${queue}.dlq` });
      ctx.assert.deepEqual(idsOf([first, second]), [id, later], 'the dead letters');
      await subscriber.ack(second);
    },
  },
  // DURABLE-015 (MUST): After a crash of a broker with a durable store, a message that was being dead-lettered is in
  // exactly one of the two queues.
  {
    id: 'DURABLE-015a',
    title: 'keeps messages that are being dead-lettered when it is killed, each in one of the two queues',
    clauses: ['DURABLE-015', 'DURABLE-003', 'DLQ-019'],
    ...waitsLonger,
    accepts: [
      'the message is in the dead letter queue',
      'the message is in its source queue, if its last attempt had not failed',
    ],
    evidence: { frames: 30, messages: 9 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = await newQueue(ctx, client, 'letters', {});
      const { sources, ids } = await withFailingMessages(ctx, client, deadLetterQueue);
      const reader = await newSubscriber(ctx, deadLetterQueue);
      const withinMs = gapMs(ctx, 1) + ctx.timing.deliveryMs;
      await reader.delivery({ queue: deadLetterQueue }, { withinMs, what: 'the first dead letter' });
      await crashBroker(ctx);
      const recovered: string[] = [...idsOf(await takeAll(ctx, deadLetterQueue))];
      for (const source of sources) recovered.push(...idsOf(await takeAll(ctx, source)));
      ctx.assert.deepEqual(
        sorted(recovered),
        sorted(ids),
        'the messages in the source queues and the dead letter queue',
      );
    },
  },
  // DLQ-010 (SHOULD): When a message that was dead-lettered once fails or expires, the broker discards it.
  {
    id: 'DLQ-010b',
    title: 'discards a dead letter that fails again after a crash, even if its queue has a dead letter queue',
    clauses: ['DLQ-010', 'DLQ-011'],
    ...waits,
    evidence: { frames: 14, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const second = await newQueue(ctx, client, 'second');
      const options = { maxRetryAttempts: 1, enableDeadLetterQueue: true, deadLetterQueueName: second };
      const first = await newQueue(ctx, client, 'first', options);
      await withDeadLetter(ctx, client, { deadLetterQueueName: first });
      await crashBroker(ctx);
      const holder = await newSubscriber(ctx, first);
      const { atMs } = await holder.delivery({ queue: first });
      await waitUntil(ctx, atMs + ctx.target.ackTimeoutMs + ctx.timing.lateMs);
      await expectNotRedelivered(ctx, holder, first, { text: 'the dead letter is discarded' });
      await expectEmpty(ctx, second, { text: 'the dead letter is not dead-lettered again' });
    },
  },
] satisfies readonly Check[];

const stores: CheckModule = [
  // DURABLE-016 (SHOULD): The broker refuses to start on a corrupt, locked or unreadable store, and reports the reason.
  {
    id: 'DURABLE-016a',
    title: 'refuses to start on a store whose files are damaged',
    clauses: ['DURABLE-016'],
    ...durableBroker,
    requires: { ...durableBroker.requires, capabilities: ['fileStore'] },
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      await publishSeries(ctx, client, await newQueue(ctx, client, 'damaged'), 1);
      await client.end();
      await ctx.broker.terminate();
      await ctx.broker.exited();
      await ctx.broker.damageStore();
      const refusal = await ctx.broker.startOrRefusal();
      ctx.assert.notEqual(refusal, undefined, 'the reason why the broker does not start');
    },
  },
  // DURABLE-021 (MUST): A failed commit loses no message whose PublishAck was sent before it, unless the message was
  // settled or dropped by DropNewest.
  {
    id: 'DURABLE-021a',
    title: 'delivers all confirmed messages after its files could not grow any more',
    clauses: ['DURABLE-021', 'DURABLE-003'],
    ...durableBroker,
    accepts: ['it ends when it cannot write', 'it continues', 'an unconfirmed message exists'],
    evidence: { frames: 10, messages: 2, assertions: 1 },
    run: async (ctx) => {
      await ctx.broker.crash();
      if (!(await ctx.broker.startWithFileLimit(maxFileBytes)))
        ctx.notApplicable('the runner cannot start this broker with a limit on the size of its files');
      const { queue, confirmed, hasFailed } = await publishUntilFull(ctx);
      if (!hasFailed)
        ctx.notApplicable('no commit fails, although its files cannot become larger than 4 MiB');
      await crashBroker(ctx);
      const recovered = new Set(idsOf(await takeAll(ctx, queue)));
      const missing = confirmed.filter((id) => !recovered.has(id));
      ctx.assert.deepEqual(missing, [], 'confirmed messages that are missing');
    },
  },
  // DURABLE-022 (SHOULD): While a broker uses a store, a second broker refuses to start on it.
  {
    id: 'DURABLE-022a',
    title: 'prevents a second broker from starting on its store, and continues to serve',
    clauses: ['DURABLE-022'],
    ...durableBroker,
    requires: { ...durableBroker.requires, capabilities: ['fileStore'] },
    evidence: { frames: 6, messages: 1, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'kept');
      await client.subscribe(queue);
      ctx.assert.notEqual(
        await ctx.broker.secondRefusal(),
        undefined,
        'the reason why the second broker does not start',
      );
      await expectOnlySentinel(ctx, client, queue, { text: 'the first broker still delivers messages' });
    },
  },
] satisfies readonly Check[];

export const durableQueueChecks: CheckModule = [...queues, ...deadLetterRecovery, ...stores];

const maxFileBytes = 4 * 1024 * 1024;
const largeMessageBytes = 100_000;

/** Publishes messages one after another, at most four times as many bytes as one file can have, until one is not confirmed. */
async function publishUntilFull(ctx: CheckContext) {
  const client = await ctx.connect();
  const queue = await newQueue(ctx, client, 'full');
  const confirmed: string[] = [];
  while (confirmed.length * largeMessageBytes < 4 * maxFileBytes) {
    const id = ctx.id('m');
    const payload = sizedPayload({ id, queue, totalBytes: largeMessageBytes });
    await client.send({ command: Command.Publish, id, queue, payload });
    const what = `the answer to Publish ${id}, when the broker cannot write`;
    const answer = await client.expectOrClosed(() => true, { what, clause: 'DURABLE-017' });
    if (typeof answer === 'string' || answer.command !== Command.PublishAck)
      return { queue, confirmed, hasFailed: true };
    confirmed.push(id);
  }
  return { queue, confirmed, hasFailed: false };
}

/** Creates queues with every option, with other values, with the server's defaults, and on demand by a Publish. Returns their names. */
async function queuesOfAllKinds(ctx: CheckContext, client: Connection): Promise<readonly string[]> {
  const deadLetterOptions = { enableDeadLetterQueue: true, deadLetterQueueName: ctx.queue('letters') };
  const other = { mode: 1, maxQueueSize: 6 };
  const full = { mode: 3, maxQueueSize: 7, messageTtl: '1.02:03:04', maxRetryAttempts: 5 };
  const names = [
    await newQueue(ctx, client, 'full', { ...full, ...deadLetterOptions, overflowStrategy: 3 }),
    await newQueue(ctx, client, 'other', { ...other, overflowStrategy: 2, enableDeadLetterQueue: true }),
    await newQueue(ctx, client, 'fraction', { messageTtl: '01:00:00.0005' }),
    await newQueue(ctx, client, 'default'),
    await newQueue(ctx, client, 'unused', { ...deadLetterOptions, enableDeadLetterQueue: false }),
    ctx.queue('on-demand'),
  ];
  await publishSeries(ctx, client, ctx.queue('on-demand'), 1);
  // The dead letter queue that has been created with its source, if it has.
  const generated = `${ctx.queue('other')}.dlq`;
  return (await client.queueInfo(generated)) === undefined ? names : [...names, generated];
}

type Infos = ReadonlyMap<string, Readonly<Record<string, unknown>>>;

async function infosOf(client: Connection, names: readonly string[]): Promise<Infos> {
  const infos = new Map<string, Readonly<Record<string, unknown>>>();
  for (const name of names) infos.set(name, (await client.queueInfo(name)) ?? {});
  return infos;
}

async function expectSameQueues(ctx: CheckContext, before: Infos): Promise<void> {
  const after = await infosOf(await ctx.connect(), [...before.keys()]);
  for (const [name, info] of before) {
    const { createdAt, ...options } = after.get(name) ?? {};
    const { createdAt: madeAt, ...wanted } = info;
    ctx.assert.deepEqual(options, wanted, `QueueInfo of ${name} after the crash`);
    ctx.should(
      createdAt === madeAt,
      'DURABLE-009',
      'the creation time of a queue is the same after a crash',
      {
        expected: madeAt,
        actual: createdAt,
      },
    );
  }
}

const letterHeaders = { correlationId: 'c 1', priority: 'High' };

/** A RedirectToDlq queue that contains one message. A second message was dead-lettered. */
async function withDeadLetter(
  ctx: CheckContext,
  client: Connection,
  options: Readonly<Record<string, unknown>>,
): Promise<{ readonly queue: string; readonly id: string }> {
  const redirecting = { overflowStrategy: 3, enableDeadLetterQueue: true, maxQueueSize: 1 };
  const queue = await newQueue(ctx, client, 'source', { ...redirecting, ...options });
  await publishSeries(ctx, client, queue, 1);
  const { id } = await client.publish(queue, ' { "n" : 1.50e1 }', { headers: letterHeaders });
  return { queue, id };
}

/** Those of the message, and those of dead-lettering. A broker may add others. */
const deadLetterHeaders: readonly string[] = [
  ...Object.keys(letterHeaders),
  'deadLetterReason',
  'deadLetterSource',
  'deadLetterAttempts',
  'deadLetteredAt',
];

/** The headers of a dead letter are only recommended, so a difference is a warning. */
function expectSameHeaders(ctx: CheckContext, after: ReceivedFrame | undefined, before: ReceivedFrame): void {
  const headersOf = (deadLetter: ReceivedFrame | undefined): Readonly<Record<string, string>> => {
    const named = deadLetterHeaders.map((name) => [name, deadLetter?.header(name)] as const);
    return Object.fromEntries(named.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
  };
  const [expected, actual] = [headersOf(before), headersOf(after)];
  const same = Object.keys(expected).every((name) => actual[name] === expected[name]);
  ctx.should(same, 'DLQ-012', 'a dead letter has the same headers after a crash', { expected, actual });
}

/** Four messages in four queues, unacknowledged, whose only attempts fail at about the same time. */
async function withFailingMessages(ctx: CheckContext, client: Connection, deadLetterQueue: string) {
  const holder = await ctx.connect();
  const sources: string[] = [];
  const ids: string[] = [];
  for (const name of ['one', 'two', 'three', 'four']) {
    const options = {
      maxRetryAttempts: 1,
      enableDeadLetterQueue: true,
      deadLetterQueueName: deadLetterQueue,
    };
    const source = await newQueue(ctx, client, name, options);
    sources.push(source);
    await holder.subscribe(source);
  }
  for (const source of sources) ids.push(...(await publishSeries(ctx, client, source, 1)));
  for (const source of sources) await holder.delivery({ queue: source });
  return { sources, ids };
}

/** Waits for the third attempt, which shows that the second one has failed, and ends the broker before that one fails too. */
async function crashInThirdAttempt(
  ctx: CheckContext,
  { publisher, subscriber }: { readonly publisher: Connection; readonly subscriber: Connection },
  message: MessageName,
): Promise<void> {
  await nextAttempt(ctx, subscriber, message);
  const { atMs: sinceMs } = await nextAttempt(ctx, subscriber, message, 2);
  // What is confirmed later is stored later.
  await publishSeries(ctx, publisher, await newQueue(ctx, publisher, 'later'), 1);
  await ctx.broker.crash();
  const step = 'all between the third attempt and the end of the broker';
  noteIfLate(ctx, { sinceMs, maxMs: ctx.target.ackTimeoutMs / 2, step });
  await ctx.broker.start();
}
