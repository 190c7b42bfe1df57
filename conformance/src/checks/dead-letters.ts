// Checks of dead letter queues: their names and options, the content and headers of dead letters, and that a message is dead-lettered
// only once. Most of these checks use RedirectToDlq, which dead-letters a message without waiting. Areas: DLQ, DELIVERY, QUEUE, PUBLISH.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import type { Connection } from '../connection.ts';
import { timestamp } from '../record-forms.ts';
import { noteIfLate } from './shared/lateness.ts';
import { infoField, messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import {
  fanOutWithAck,
  newSubscriber,
  queueWithOneSubscriber,
  queueWithTwoSubscribers,
} from './shared/queue-with-subscribers.ts';
import {
  expectEmpty,
  expectNotRedelivered,
  nextAttempt,
  reasonOf,
  shortTimings,
  shouldHaveContent,
  subscribeToDeadLetters,
  takeDeadLetter,
  waitUntil,
} from './shared/retry-attempts.ts';
import { expectOnlySentinel, idsOf, publishSeries, takeAndAck } from './shared/subscribers.ts';

const redirecting = { overflowStrategy: 3, enableDeadLetterQueue: true, maxQueueSize: 1 } as const;
/** Tolerance for different clocks of broker and runner. */
const clockToleranceMs = 15 * 60_000;
const waits = { profile: 'retry-dlq', prefers: shortTimings, waits: true } as const;

const queues: CheckModule = [
  // DLQ-001 (MUST): Clients can subscribe to a dead letter queue by its name and receive the dead letters.
  {
    id: 'DLQ-001a',
    title: 'adds dead letters to the queue that deadLetterQueueName names',
    clauses: ['DLQ-001', 'DLQ-002'],
    profile: 'retry-dlq',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = ctx.queue('named');
      const { id } = await redirect(ctx, client, { deadLetterQueueName: deadLetterQueue });
      const names = await client.listQueues();
      ctx.assert.ok(names.includes(deadLetterQueue), 'there is a queue of that name', {
        actual: names,
        clause: 'DLQ-002',
      });
      await client.subscribe(deadLetterQueue);
      await client.ack(await takeDeadLetter(ctx, client, { queue: deadLetterQueue, id }));
      await expectOnlySentinel(ctx, client, deadLetterQueue, { text: 'there is no other dead letter' });
    },
  },
  // DLQ-003 (SHOULD): When the options of a queue omit deadLetterQueueName, the broker uses the name <queue>.dlq.
  {
    id: 'DLQ-003a',
    title: 'uses <queue>.dlq as dead letter queue when the options contain no name',
    clauses: ['DLQ-003', 'DLQ-001'],
    profile: 'retry-dlq',
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const { queue, id } = await redirect(ctx, client, {});
      const deadLetterQueue = `${queue}.dlq`;
      await client.subscribe(deadLetterQueue);
      ctx.assert.deepEqual(
        idsOf(await takeAndAck(client, deadLetterQueue, 1)),
        [id],
        'the delivered dead letters',
      );
      const names = await client.listQueues();
      ctx.assert.ok(names.includes(deadLetterQueue), 'the dead letter queue is listed', {
        expected: deadLetterQueue,
        actual: names,
        clause: 'QUEUE-028',
      });
    },
  },
  // DLQ-004 (SHOULD): The broker creates a dead letter queue together with its source queue, even if EnableAutoCreate
  // is false.
  {
    id: 'DLQ-004a',
    title: 'creates a dead letter queue together with its source queue, even if EnableAutoCreate is false',
    clauses: ['DLQ-004', 'DLQ-003'],
    profile: 'retry-dlq',
    requires: { configuration: { queueDefaults: { enableAutoCreate: false } } },
    evidence: { frames: 3, assertions: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      if ((await client.queueInfo(`${ctx.queue('source')}.dlq`)) !== undefined) {
        ctx.notShown('QueueInfo describes a queue that was not created');
      }
      const queue = await newQueue(ctx, client, 'source', { enableDeadLetterQueue: true });
      const name = await infoField(client, `${queue}.dlq`, 'name');
      ctx.assert.equal(name, `${queue}.dlq`, 'the name in QueueInfo of the dead letter queue');
    },
  },
  // DLQ-005 (SHOULD): When a dead letter queue was deleted, the broker creates it again for the next dead letter.
  {
    id: 'DLQ-005a',
    title: 'creates a deleted dead letter queue again for the next dead letter',
    clauses: ['DLQ-005', 'DLQ-006', 'OVERFLOW-022'],
    profile: 'retry-dlq',
    evidence: { frames: 8, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = ctx.queue('letters');
      const { queue } = await redirect(ctx, client, { deadLetterQueueName: deadLetterQueue });
      await client.deleteQueue(deadLetterQueue);
      const [id = ''] = await publishSeries(ctx, client, queue, 1);
      const maxSize = await infoField(client, queue, 'maxSize');
      const made = await infoField(client, deadLetterQueue, 'maxSize');
      if (made !== undefined)
        ctx.assert.equal(made, maxSize, 'maxSize of the new dead letter queue', 'DLQ-006');
      await client.subscribe(deadLetterQueue);
      const deadLetter = await takeDeadLetter(ctx, client, { queue: deadLetterQueue, id });
      ctx.assert.deepEqual(deadLetter.json(), 0, 'the value of the dead letter');
      await client.ack(deadLetter);
    },
  },
  // DLQ-006 (SHOULD): The broker creates a dead letter queue as RoundRobin, without messageTtl, without a dead letter
  // queue, with DropOldest, and with the maxQueueSize of its source queue.
  {
    id: 'DLQ-006a',
    title:
      'creates a dead letter queue as RoundRobin, DropOldest, with the size of its source queue and no other options',
    clauses: ['DLQ-006'],
    profile: 'retry-dlq',
    evidence: { frames: 3, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const options = { mode: 3, overflowStrategy: 3, maxQueueSize: 7, messageTtl: '01:00:00' };
      const queue = await newQueue(ctx, client, 'source', { ...options, enableDeadLetterQueue: true });
      const info = await client.queueInfo(`${queue}.dlq`);
      const { deliveryMode, overflowStrategy, maxSize, enableDeadLetterQueue } = info ?? {};
      ctx.assert.deepEqual(
        { deliveryMode, overflowStrategy, maxSize, enableDeadLetterQueue },
        { deliveryMode: 0, overflowStrategy: 0, maxSize: 7, enableDeadLetterQueue: false },
        'the options of the dead letter queue',
      );
      ctx.assert.equal(info?.['messageTtl'] ?? null, null, 'messageTtl of the dead letter queue');
    },
  },
  // DLQ-007 (SHOULD): When a queue with the name of the dead letter queue exists, the broker uses it unchanged.
  {
    id: 'DLQ-007a',
    title: 'uses an existing queue with the name of the dead letter queue unchanged',
    clauses: ['DLQ-007', 'QUEUE-009'],
    profile: 'retry-dlq',
    evidence: { frames: 7, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = await newQueue(ctx, client, 'own', {
        mode: 3,
        maxQueueSize: 9,
        messageTtl: '01:00:00',
      });
      const before = await client.queueInfo(deadLetterQueue);
      await redirect(ctx, client, { deadLetterQueueName: deadLetterQueue });
      const after = await client.queueInfo(deadLetterQueue);
      ctx.assert.deepEqual(
        { ...after, messageCount: 0 },
        before,
        'QueueInfo of the queue, except messageCount',
      );
      const count = after?.['messageCount'];
      ctx.assert.ok(count === 1, 'the dead letter is in it', {
        expected: 'messageCount 1',
        actual: count,
        possibleCauses: ['DLQ-001', 'OVERFLOW-022'],
      });
    },
  },
  // DLQ-008 (SHOULD): When a dead letter queue is full, the broker evicts its oldest waiting message for a new dead
  // letter that it cannot deliver immediately, whatever the overflow strategy.
  {
    id: 'DLQ-008a',
    title:
      'adds a dead letter to a full dead letter queue with any overflow strategy, and removes the oldest message there',
    clauses: ['DLQ-008', 'OVERFLOW-022'],
    profile: 'retry-dlq',
    evidence: { frames: 21, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const overflowStrategy of [1, 2]) {
        const deadLetterQueue = await newQueue(ctx, client, `full-${overflowStrategy}`, {
          overflowStrategy,
          maxQueueSize: 1,
        });
        const { queue } = await redirect(
          ctx,
          client,
          { deadLetterQueueName: deadLetterQueue },
          { name: `source-${overflowStrategy}` },
        );
        await publishSeries(ctx, client, queue, 1);
        await client.subscribe(deadLetterQueue);
        const [remaining] = await takeAndAck(client, deadLetterQueue, 1);
        ctx.assert.sameJson(remaining?.payload, '0', 'the payload of the remaining dead letter');
        await expectOnlySentinel(ctx, client, deadLetterQueue, { text: 'the older message is removed' });
      }
    },
  },
  // QUEUE-020 (SHOULD): The broker keeps the dead letter queue of a queue that it deletes.
  {
    id: 'QUEUE-020a',
    title: 'keeps a dead letter queue when its source queue is deleted',
    clauses: ['QUEUE-020'],
    profile: 'retry-dlq',
    evidence: { frames: 7, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = ctx.queue('letters');
      const { queue, id } = await redirect(ctx, client, { deadLetterQueueName: deadLetterQueue });
      await client.deleteQueue(queue);
      await client.subscribe(deadLetterQueue);
      const deadLetter = await takeDeadLetter(ctx, client, { queue: deadLetterQueue, id });
      ctx.assert.deepEqual(deadLetter.json(), { n: 15 }, 'the value of the dead letter');
      await client.ack(deadLetter);
    },
  },
  // QUEUE-020 (SHOULD): The broker keeps the dead letter queue of a queue that it deletes.
  {
    id: 'QUEUE-020b',
    title: 'keeps a dead letter queue without dead letters when its source queue is deleted',
    clauses: ['QUEUE-020', 'DLQ-003'],
    profile: 'retry-dlq',
    evidence: { frames: 4, assertions: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'empty', { enableDeadLetterQueue: true });
      const letters = `${queue}.dlq`;
      if ((await client.queueInfo(letters)) === undefined)
        ctx.notApplicable(`there is no queue ${letters} before the first dead letter`);
      await client.deleteQueue(queue);
      ctx.assert.equal(await client.queueInfo(queue), undefined, 'the deleted queue', 'QUEUE-014');
      const name = await infoField(client, letters, 'name');
      ctx.assert.equal(name, letters, 'the name of the dead letter queue afterwards');
    },
  },
] satisfies readonly Check[];

const content: CheckModule = [
  // DLQ-012 (SHOULD): A dead letter has the id and the payload of the message that was dead-lettered, and its headers
  // except those that dead-lettering replaces.
  {
    id: 'DLQ-012a',
    title: 'keeps the id, the payload and the headers of a message that it dead-letters',
    clauses: ['DLQ-012'],
    profile: 'retry-dlq',
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const headers = { correlationId: 'c 1', 'x-own': ' v ', priority: 'High' };
      const deadLetterQueue = ctx.queue('letters');
      const { id, payload } = await redirect(
        ctx,
        client,
        { deadLetterQueueName: deadLetterQueue },
        { headers },
      );
      await client.subscribe(deadLetterQueue);
      const deadLetter = await client.delivery({ queue: deadLetterQueue });
      ctx.assert.equal(deadLetter.id, id, 'the id');
      ctx.assert.sameJson(deadLetter.payload, payload, 'the payload');
      const delivered = Object.fromEntries(
        Object.keys(headers).map((name) => [name, deadLetter.header(name)]),
      );
      ctx.assert.deepEqual(delivered, headers, 'the headers');
      await client.ack(deadLetter);
    },
  },
  // DLQ-013 (SHOULD): A dead letter has header deadLetterReason with the name of the reason.
  {
    id: 'DLQ-013a',
    title: 'adds headers for the reason, the source queue, the failed attempts and the time to a dead letter',
    clauses: ['DLQ-013', 'DLQ-014', 'DLQ-015', 'DLQ-016', 'OVERFLOW-024'],
    profile: 'retry-dlq',
    evidence: { frames: 6, messages: 1 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = ctx.queue('letters');
      const { queue } = await redirect(ctx, client, { deadLetterQueueName: deadLetterQueue });
      await client.subscribe(deadLetterQueue);
      const deadLetter = await client.delivery({ queue: deadLetterQueue });
      ctx.assert.equal(reasonOf(ctx, deadLetter), 'QueueOverflow', 'header deadLetterReason', 'OVERFLOW-024');
      ctx.assert.equal(deadLetter.header('deadLetterSource'), queue, 'header deadLetterSource', 'DLQ-014');
      ctx.assert.equal(deadLetter.header('deadLetterAttempts'), '0', 'header deadLetterAttempts', 'DLQ-015');
      const deadLetteredAt = deadLetter.header('deadLetteredAt');
      ctx.assert.matches(deadLetteredAt, /./, 'header deadLetteredAt', 'DLQ-016');
      ctx.assert.matches(deadLetteredAt, timestamp, 'header deadLetteredAt', 'BODY-041');
      const offMs = Math.abs(Date.now() - Date.parse(deadLetteredAt ?? ''));
      const text = "the time between deadLetteredAt and the runner's clock";
      ctx.assert.betweenMs(offMs, 0, clockToleranceMs, text, 'DLQ-016');
      await client.ack(deadLetter);
    },
  },
  // DLQ-018 (SHOULD): The broker dead-letters a message with reason MaxRetriesExceeded, when its last allowed attempt
  // failed.
  {
    id: 'DLQ-018a',
    title: 'dead-letters a message after its last attempt with MaxRetriesExceeded and the number of attempts',
    clauses: ['DLQ-018', 'DLQ-015', 'RETRY-008'],
    ...waits,
    evidence: { frames: 8, messages: 3 },
    run: async (ctx) => {
      const deadLetterQueue = ctx.queue('letters');
      const deadLetterOptions = { enableDeadLetterQueue: true, deadLetterQueueName: deadLetterQueue };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, {
        maxRetryAttempts: 2,
        ...deadLetterOptions,
      });
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      await nextAttempt(ctx, subscriber, { queue, id });
      const reader = await subscribeToDeadLetters(ctx, deadLetterQueue, ctx.target.ackTimeoutMs);
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id }, 0, 'RETRY-008');
      shouldHaveContent(ctx, deadLetter, id);
      ctx.assert.equal(reasonOf(ctx, deadLetter), 'MaxRetriesExceeded', 'header deadLetterReason');
      ctx.assert.equal(deadLetter.header('deadLetterAttempts'), '2', 'header deadLetterAttempts', 'DLQ-015');
      await reader.ack(deadLetter);
    },
  },
] satisfies readonly Check[];

const deadLetteredOnce: CheckModule = [
  // DLQ-010 (SHOULD): When a message that was dead-lettered once fails or expires, the broker discards it.
  {
    id: 'DLQ-010a',
    title: 'discards a dead letter that fails again, even if the dead letter queue has a dead letter queue',
    clauses: ['DLQ-010'],
    ...waits,
    evidence: { frames: 13, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const second = await newQueue(ctx, client, 'second');
      const first = await newQueue(ctx, client, 'first', {
        maxRetryAttempts: 1,
        enableDeadLetterQueue: true,
        deadLetterQueueName: second,
      });
      await redirect(ctx, client, { deadLetterQueueName: first });
      const holder = await newSubscriber(ctx, first);
      const { atMs } = await holder.delivery({ queue: first });
      await waitUntil(ctx, atMs + ctx.target.ackTimeoutMs + ctx.timing.lateMs);
      await expectNotRedelivered(ctx, holder, first, { text: 'the dead letter is discarded' });
      await expectEmpty(ctx, second, { text: 'the dead letter is not dead-lettered again' });
    },
  },
  // DLQ-011 (SHOULD): The broker remembers itself whether a message was dead-lettered, and does not read this from the
  // headers of the message.
  {
    id: 'DLQ-011a',
    title: 'dead-letters a message that was published with dead letter headers, and replaces these headers',
    clauses: ['DLQ-011', 'DLQ-013', 'DLQ-014'],
    ...waits,
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const deadLetterQueue = ctx.queue('letters');
      const deadLetterOptions = { enableDeadLetterQueue: true, deadLetterQueueName: deadLetterQueue };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, {
        maxRetryAttempts: 1,
        ...deadLetterOptions,
      });
      const replaced = 'MessageExpired';
      const headers = { deadLetterReason: replaced, deadLetterSource: 'elsewhere' };
      const id = ctx.id('m');
      await publisher.publish(queue, '1', { id, headers });
      await subscriber.delivery({ queue });
      const reader = await subscribeToDeadLetters(ctx, deadLetterQueue, ctx.target.ackTimeoutMs);
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id });
      ctx.assert.notEqual(reasonOf(ctx, deadLetter), replaced, 'header deadLetterReason', 'DLQ-013');
      ctx.assert.equal(deadLetter.header('deadLetterSource'), queue, 'header deadLetterSource', 'DLQ-014');
      await reader.ack(deadLetter);
    },
  },
  // DLQ-017 (MUST): The broker dead-letters a message at most once, however many subscribers failed it.
  {
    id: 'DLQ-017a',
    title: 'dead-letters a FanOutWithAck message once when both subscribers do not acknowledge it',
    clauses: ['DLQ-017', 'DELIVERY-020'],
    ...waits,
    evidence: { frames: 12, messages: 4 },
    run: async (ctx) => {
      const { queue, id, first, second, deadLetterQueue } = await withFailingMembers(ctx);
      await Promise.all([first, second].map((member) => member.delivery({ queue, id })));
      const reader = await subscribeToDeadLetters(ctx, deadLetterQueue, ctx.target.ackTimeoutMs);
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id });
      await reader.ack(deadLetter);
      await reader.ping();
      const maxMs = ctx.target.ackTimeoutMs / 2;
      noteIfLate(ctx, { sinceMs: deadLetter.atMs, maxMs, step: 'the ack of the dead letter' });
      // Both copies fail at the same time, apart from the lateness that a broker is allowed.
      await waitUntil(ctx, deadLetter.atMs + ctx.timing.silenceMs);
      await expectOnlySentinel(ctx, reader, deadLetterQueue, { text: 'there is no second dead letter' });
    },
  },
  // DELIVERY-020 (SHOULD): When all copies of a FanOutWithAck message have ended and at least one failed, the broker
  // dead-letters the message once, with the reason of the first failure, or discards it if the queue has no dead letter
  // queue.
  {
    id: 'DELIVERY-020a',
    title: 'dead-letters a FanOutWithAck message that one subscriber acknowledged and the other did not',
    clauses: ['DELIVERY-020'],
    ...waits,
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const { queue, id, first, second, deadLetterQueue } = await withFailingMembers(ctx);
      await first.ack(await first.delivery({ queue, id }));
      await second.delivery({ queue, id });
      const reader = await subscribeToDeadLetters(ctx, deadLetterQueue, ctx.target.ackTimeoutMs);
      const deadLetter = await takeDeadLetter(ctx, reader, { queue: deadLetterQueue, id });
      ctx.assert.equal(reasonOf(ctx, deadLetter), 'MaxRetriesExceeded', 'header deadLetterReason');
      await reader.ack(deadLetter);
    },
  },
  // DLQ-019 (MUST): The broker removes a message from its source queue when it moves it to the dead letter queue.
  {
    id: 'DLQ-019a',
    title: 'removes a dead letter from its source queue',
    clauses: ['DLQ-019', 'RETRY-008'],
    ...waits,
    evidence: { frames: 12, messages: 3 },
    run: async (ctx) => {
      const options = {
        maxRetryAttempts: 1,
        enableDeadLetterQueue: true,
        deadLetterQueueName: ctx.queue('dead'),
      };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, options);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      const name = { queue: ctx.queue('dead'), id };
      const reader = await subscribeToDeadLetters(ctx, name.queue, ctx.target.ackTimeoutMs);
      await reader.ack(await takeDeadLetter(ctx, reader, name, 0, 'RETRY-008'));
      const waiting = await messageCountOf(publisher, queue);
      ctx.assert.equal(waiting, 0, 'number of waiting messages in the source queue');
      await expectNotRedelivered(ctx, subscriber, queue, {
        text: 'the source queue does not deliver the message again',
      });
    },
  },
  // PUBLISH-012 (SHOULD): The broker adds a new message for a Publish with the id of a dead letter, to the queue that
  // it comes from and to the dead letter queue.
  {
    id: 'PUBLISH-012a',
    title: 'adds a new message for a Publish with the id of a dead letter',
    clauses: ['PUBLISH-012', 'PUBLISH-010'],
    profile: 'retry-dlq',
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const deadLetterQueue = ctx.queue('letters');
      const { queue, id } = await redirect(ctx, client, { deadLetterQueueName: deadLetterQueue });
      await client.subscribe(queue);
      await takeAndAck(client, queue, 1);
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 0 });
      await client.publish(queue, '1', { id });
      ctx.assert.deepEqual(
        idsOf(await takeAndAck(client, queue, 1)),
        [id],
        'the message delivered from the source queue',
      );
      await client.subscribe(deadLetterQueue);
      await client.ack(await takeDeadLetter(ctx, client, { queue: deadLetterQueue, id }));
    },
  },
] satisfies readonly Check[];

export const deadLetterChecks: CheckModule = [...queues, ...content, ...deadLetteredOnce];

/** A RedirectToDlq queue that contains one message. A second message was dead-lettered. */
async function redirect(
  ctx: CheckContext,
  client: Connection,
  options: Readonly<Record<string, unknown>>,
  more: { readonly name?: string; readonly headers?: Readonly<Record<string, string>> } = {},
): Promise<{ readonly queue: string; readonly id: string; readonly payload: string }> {
  const { name = 'source', headers = {} } = more;
  const queue = await newQueue(ctx, client, name, { ...redirecting, ...options });
  await publishSeries(ctx, client, queue, 1);
  const id = ctx.id('letter');
  const payload = ' { "n" : 1.50e1 }';
  await client.publish(queue, payload, { id, headers });
  return { queue, id, payload };
}

/** A FanOutWithAck queue with one message, two subscribers, a dead letter queue and maxRetryAttempts 1. */
async function withFailingMembers(ctx: CheckContext) {
  const deadLetterQueue = ctx.queue('letters');
  const options = { ...fanOutWithAck, maxRetryAttempts: 1, enableDeadLetterQueue: true };
  const { publisher, queue, first, second } = await queueWithTwoSubscribers(ctx, {
    ...options,
    deadLetterQueueName: deadLetterQueue,
  });
  const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
  return { queue, id, first, second, deadLetterQueue };
}
