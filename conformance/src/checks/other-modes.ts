// Checks of rules that hold in every delivery mode, in the modes that the checks of these rules do not use: how messages wait, leave, come back,
// fail and expire in PriorityBased and fan-out queues. Areas: DELIVERY, RETRY, NACK, OVERFLOW, TTL, QUEUE.
import type { Check, CheckContext, CheckModule } from '../check.ts';
import { Command } from '../wire/command.ts';
import type { ReceivedFrame } from '../wire/frame.ts';
import { publishBlocked } from './blocking.ts';
import { noteIfLate } from './shared/lateness.ts';
import { messageCountOf, newQueue, waitForInfo } from './shared/queue-state.ts';
import {
  deliveredIds,
  expectOldPlaces,
  fanOutWithAck,
  fanOutWithoutAck,
  newSubscriber,
  otherModes,
  otherModesWithAck,
  priorityBased,
  queueWithOneSubscriber,
} from './shared/queue-with-subscribers.ts';
import {
  expectNotRedelivered,
  gapMs,
  nextAttempt,
  shortTimings,
  subscribeToDeadLetters,
  takeDeadLetter,
  waitUntil,
} from './shared/retry-attempts.ts';
import {
  expectOnlySentinel,
  idsOf,
  publishSeries,
  resetSubscriber,
  takeAndAck,
} from './shared/subscribers.ts';

const dropOldest = { overflowStrategy: 0 } as const;
const dropNewest = { overflowStrategy: 1 } as const;
const blockPublisher = { overflowStrategy: 2 } as const;
const redirectToDlq = { overflowStrategy: 3 } as const;

const ttlMs = 300;
const messageTtlText = `00:00:00.${ttlMs}`;
/** More than the resolution of any clock, and the second within which a message may expire. */
const afterTtlMs = ttlMs + 1000;

const waits = { profile: 'retry-dlq', prefers: shortTimings, waits: true } as const;

export const otherModeChecks: CheckModule = [
  // DELIVERY-061 (MUST): After UnsubscribeAck the broker sends no message of that queue on the connection, until the
  // client subscribes to the queue again.
  {
    id: 'DELIVERY-061b',
    title: 'sends no message of a fan-out or PriorityBased queue after UnsubscribeAck',
    clauses: ['DELIVERY-061'],
    profile: 'delivery',
    evidence: { frames: 24, messages: 3 },
    run: async (ctx) => {
      const publisher = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModes)) {
        const queue = await newQueue(ctx, publisher, `left-${name}`, mode);
        const leaving = await newSubscriber(ctx, queue);
        await publishSeries(ctx, publisher, queue, 1);
        await leaving.ack(await leaving.delivery({ queue }));
        await leaving.unsubscribe(queue);
        await publishSeries(ctx, publisher, queue, 2);
        const text = `no message of the ${name} queue is delivered after UnsubscribeAck`;
        await leaving.expectNothingBeforePong({ command: 'Deliver' }, text);
      }
    },
  },
  // DELIVERY-001 (MUST): The broker removes an acknowledged message from its queue, in FanOutWithAck an acknowledged
  // copy, and does not deliver it again.
  {
    id: 'DELIVERY-001e',
    title:
      'does not deliver a message again whose third attempt is acknowledged, in FanOutWithAck and PriorityBased',
    clauses: ['DELIVERY-001'],
    ...waits,
    evidence: { frames: 17, messages: 7, assertions: 2 },
    run: async (ctx) => {
      for (const [name, mode] of Object.entries(otherModesWithAck)) {
        const options = { ...mode, maxRetryAttempts: 9 };
        const publisher = await ctx.connect();
        const queue = await newQueue(ctx, publisher, `third-${name}`, options);
        const subscriber = await newSubscriber(ctx, queue);
        const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
        await subscriber.delivery({ queue });
        for (const n of [1, 2]) await nextAttempt(ctx, subscriber, { queue, id }, n);
        await subscriber.ack({ id, queue });
        await subscriber.ping();
        const text = `the acknowledged message of the ${name} queue is not delivered again`;
        await expectNotRedelivered(ctx, subscriber, queue, { text });
      }
    },
  },
  // DELIVERY-039 (SHOULD): The broker puts a message that is given back at its previous place in the queue.
  {
    id: 'DELIVERY-039b',
    title: 'returns the messages of a FanOutWithAck or PriorityBased queue to their previous places',
    clauses: ['DELIVERY-039', 'DELIVERY-038', 'DELIVERY-022', 'DELIVERY-033'],
    profile: 'delivery',
    evidence: { frames: 56, messages: 24 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModesWithAck)) {
        const queue = await newQueue(ctx, client, `old-places-${name}`, mode);
        await expectOldPlaces(ctx, client, queue, `the delivered messages of the ${name} queue`);
      }
    },
  },
  // DELIVERY-038 (MUST): When a subscriber's connection ends, its unacknowledged messages immediately become waiting
  // again, and the broker offers them to other subscribers.
  {
    id: 'DELIVERY-038d',
    title:
      'delivers the messages of a PriorityBased queue in flight to a subscriber to others when it disconnects',
    clauses: ['DELIVERY-038', 'DELIVERY-006'],
    profile: 'delivery',
    evidence: { frames: 10, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queue = await newQueue(ctx, client, 'given-back', priorityBased);
      const holder = await newSubscriber(ctx, queue);
      const [id] = await publishSeries(ctx, client, queue, 1);
      await holder.delivery({ queue });
      await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
      await waitForInfo(ctx, client, queue, { field: 'messageCount', value: 1 });
      await client.subscribe(queue);
      ctx.assert.deepEqual(idsOf(await takeAndAck(client, queue, 1)), [id], 'the redelivered message');
      await expectOnlySentinel(ctx, client, queue, { text: 'the message is delivered only once more' });
    },
  },
  // DELIVERY-001 (MUST): The broker removes an acknowledged message from its queue, in FanOutWithAck an acknowledged
  // copy, and does not deliver it again.
  {
    id: 'DELIVERY-001d',
    title: 'does not deliver a message of a PriorityBased or FanOutWithAck queue again after its ack',
    clauses: ['DELIVERY-001'],
    profile: 'delivery',
    evidence: { frames: 18, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModesWithAck)) {
        const queue = await newQueue(ctx, client, `settled-${name}`, mode);
        const holder = await newSubscriber(ctx, queue);
        await publishSeries(ctx, client, queue, 1);
        await holder.ack(await holder.delivery({ queue }), { withQueue: true });
        await holder.ping();
        await resetSubscriber(ctx, holder, { witness: client, queue, remaining: 0 });
        await client.subscribe(queue);
        const text = `the acknowledged message of the ${name} queue is not delivered again`;
        await expectOnlySentinel(ctx, client, queue, { text });
      }
    },
  },
  // DELIVERY-052 (MUST): Deliver carries the headers of the published message unchanged, compared as a map, except
  // those that the broker replaces (FRAME-024) or drops (BODY-009).
  {
    id: 'DELIVERY-052c',
    title:
      'keeps the payload and the headers of a message that is sent several times, and of its dead letter',
    clauses: ['DELIVERY-052', 'DELIVERY-053'],
    ...waits,
    evidence: { frames: 34, messages: 10, assertions: 12 },
    run: async (ctx) => {
      for (const [name, mode] of Object.entries({ RoundRobin: {}, PriorityBased: priorityBased }))
        await expectContentKept(ctx, name, mode);
    },
  },
  // RETRY-007 (MUST): When maxRetryAttempts attempts of a message, in FanOutWithAck of a copy, have failed, the broker
  // does not send it again.
  {
    id: 'RETRY-007e',
    title: 'makes maxRetryAttempts attempts of a PriorityBased message and then dead-letters it',
    clauses: ['RETRY-007', 'RETRY-008'],
    ...waits,
    evidence: { frames: 11, messages: 4 },
    run: async (ctx) => {
      const letters = ctx.queue('letters');
      const options = { ...priorityBased, ...deadLettersTo(letters), maxRetryAttempts: 2 };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, options);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      await nextAttempt(ctx, subscriber, { queue, id });
      const reader = await subscribeToDeadLetters(ctx, letters, ctx.target.ackTimeoutMs);
      await reader.ack(await takeDeadLetter(ctx, reader, { queue: letters, id }, 0, 'RETRY-008'));
      await expectOnlySentinel(ctx, subscriber, queue, { text: 'there is no third attempt' });
      const made = deliveredIds(subscriber, queue).filter((one) => one === id);
      ctx.assert.equal(made.length, 2, 'number of attempts');
    },
  },
  // NACK-005 (MUST): A broker that announces nack makes no further attempt after a DeserializationError: it
  // dead-letters the message immediately, or discards it when its queue has no dead letter queue.
  {
    id: 'NACK-005b',
    title: 'dead-letters a PriorityBased message immediately after DeserializationError',
    clauses: ['NACK-005'],
    profile: 'retry-dlq',
    requires: { capabilities: ['nack'] },
    evidence: { frames: 7, messages: 2 },
    run: async (ctx) => {
      const letters = ctx.queue('letters');
      const options = { ...priorityBased, ...deadLettersTo(letters), maxRetryAttempts: 3 };
      const { publisher, queue, subscriber } = await queueWithOneSubscriber(ctx, options);
      const [id = ''] = await publishSeries(ctx, publisher, queue, 1);
      await subscriber.delivery({ queue });
      const headers = { failureReason: 'DeserializationError' };
      await subscriber.send({ command: Command.Ack, id, headers });
      const reader = await subscribeToDeadLetters(ctx, letters);
      await reader.ack(await takeDeadLetter(ctx, reader, { queue: letters, id }, 0, 'NACK-005'));
      await subscriber.expectNothingBeforePong({ command: 'Deliver' }, 'there is no second attempt');
    },
  },
  // OVERFLOW-002 (MUST): With DropOldest, the broker evicts the waiting message that was published first from the full
  // queue and adds the new message.
  {
    id: 'OVERFLOW-002d',
    title: 'evicts the oldest message of a full fan-out queue',
    clauses: ['OVERFLOW-002'],
    profile: 'delivery',
    evidence: { frames: 13, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries({
        FanOutWithAck: fanOutWithAck,
        FanOutWithoutAck: fanOutWithoutAck,
      })) {
        const queue = await newQueue(ctx, client, `oldest-${name}`, {
          ...mode,
          ...dropOldest,
          maxQueueSize: 2,
        });
        const ids = await publishSeries(ctx, client, queue, 3);
        await client.subscribe(queue);
        const delivered = idsOf(await takeAndAck(client, queue, 2));
        ctx.assert.deepEqual(delivered, ids.slice(1), `the messages delivered from the ${name} queue`);
      }
    },
  },
  // OVERFLOW-007 (MUST): With DropNewest, the broker drops a message that is published to a full queue: it neither adds
  // the message to the queue nor delivers it.
  {
    id: 'OVERFLOW-007b',
    title: 'drops a Critical message that is published to a full PriorityBased queue with DropNewest',
    clauses: ['OVERFLOW-007', 'OVERFLOW-009'],
    profile: 'delivery',
    evidence: { frames: 8, messages: 2 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const options = { ...priorityBased, ...dropNewest, maxQueueSize: 1 };
      const queue = await newQueue(ctx, client, 'newest', options);
      const ids = await publishSeries(ctx, client, queue, 1);
      const headers = { priority: 'Critical' };
      const id = ctx.id('critical');
      await client.send({ command: Command.Publish, id, queue, payload: '"critical"', headers });
      await client.expect((frame) => frame.id === id || frame.command === Command.Error, {
        what: 'the answer to the Publish to the full queue',
        clause: 'PUBLISH-001',
      });
      await client.subscribe(queue);
      const delivered = await client.delivery({ queue }, { clause: 'OVERFLOW-009' });
      await client.ack(delivered);
      ctx.assert.notEqual(delivered.id, id, 'the dropped message is not delivered');
      ctx.assert.equal(delivered.id, ids[0], 'the message that waited', 'OVERFLOW-009');
      await expectOnlySentinel(ctx, client, queue, { text: 'the dropped message is not delivered later' });
    },
  },
  // OVERFLOW-010 (MUST): With BlockPublisher, the broker sends no PublishAck for a Publish to a full queue before the
  // queue has room.
  {
    id: 'OVERFLOW-010b',
    title:
      'blocks a Publish to a full fan-out or PriorityBased queue until there is room, and then delivers it',
    clauses: ['OVERFLOW-010', 'OVERFLOW-011', 'OVERFLOW-012'],
    profile: 'delivery',
    evidence: { frames: 20, messages: 6 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModes)) {
        const publisher = await ctx.connect({ own: true });
        const queue = await newQueue(ctx, client, `full-${name}`, {
          ...mode,
          ...blockPublisher,
          maxQueueSize: 1,
        });
        const [first] = await publishSeries(ctx, client, queue, 1);
        const id = await publishBlocked(ctx, publisher, { queue, witness: client });
        await client.subscribe(queue);
        const delivered = idsOf(await takeAndAck(client, queue, 2));
        const text = `the messages delivered from the ${name} queue`;
        ctx.assert.deepEqual([...delivered].sort(), [first, id].sort(), text);
        await publisher.expect({ command: 'PublishAck', id }, { clause: 'OVERFLOW-011' });
      }
    },
  },
  // OVERFLOW-022 (MUST): With RedirectToDlq, the broker adds a message that is published to a full queue to the dead
  // letter queue and answers by PublishAck.
  {
    id: 'OVERFLOW-022b',
    title: 'dead-letters what is published to a full fan-out or PriorityBased queue with RedirectToDlq',
    clauses: ['OVERFLOW-022', 'OVERFLOW-023'],
    profile: 'delivery',
    evidence: { frames: 24, messages: 6 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModes)) {
        const letters = ctx.queue(`letters-${name}`);
        const options = { ...mode, ...redirectToDlq, ...deadLettersTo(letters), maxQueueSize: 1 };
        const queue = await newQueue(ctx, client, `redirecting-${name}`, options);
        const [kept, id = ''] = await publishSeries(ctx, client, queue, 2);
        const reader = await subscribeToDeadLetters(ctx, letters);
        await reader.ack(await takeDeadLetter(ctx, reader, { queue: letters, id }, 0, 'OVERFLOW-022'));
        await client.subscribe(queue);
        const delivered = await client.delivery({ queue }, { clause: 'OVERFLOW-023' });
        await client.ack(delivered);
        const text = `the message delivered from the ${name} queue`;
        ctx.assert.equal(delivered.id, kept, text, 'OVERFLOW-023');
      }
    },
  },
  // TTL-001 (MUST): The broker does not deliver a message that is older than the messageTtl of its queue.
  {
    id: 'TTL-001d',
    title: 'does not deliver an expired message of a fan-out or PriorityBased queue',
    clauses: ['TTL-001'],
    profile: 'retry-dlq',
    waits: true,
    evidence: { frames: 18, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      const queues: [string, string][] = [];
      for (const [name, mode] of Object.entries(otherModes)) {
        const options = { ...mode, messageTtl: messageTtlText };
        const queue = await newQueue(ctx, client, `timed-${name}`, options);
        await publishSeries(ctx, client, queue, 1);
        queues.push([name, queue]);
      }
      await waitUntil(ctx, ctx.now() + afterTtlMs);
      for (const [name, queue] of queues) {
        await client.subscribe(queue);
        const text = `the expired message of the ${name} queue is not delivered`;
        await expectOnlySentinel(ctx, client, queue, { text });
      }
    },
  },
  // TTL-010 (SHOULD): A message over its TTL expires when it would be sent again, is given back or is recovered.
  {
    id: 'TTL-010c',
    title: 'expires an old message of a FanOutWithAck or PriorityBased queue when its subscriber disconnects',
    clauses: ['TTL-010', 'TTL-001', 'TTL-007'],
    profile: 'retry-dlq',
    waits: true,
    evidence: { frames: 20, messages: 4 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModesWithAck)) {
        const letters = ctx.queue(`letters-of-${name}`);
        const options = { ...mode, ...deadLettersTo(letters), messageTtl: messageTtlText };
        const queue = await newQueue(ctx, client, `old-${name}`, options);
        const holder = await newSubscriber(ctx, queue);
        const sinceMs = ctx.now();
        const [id = ''] = await publishSeries(ctx, client, queue, 1);
        noteIfLate(ctx, { sinceMs, maxMs: ttlMs / 2, step: 'the Publish to a subscriber' });
        await holder.delivery({ queue, id });
        await waitUntil(ctx, ctx.now() + ttlMs + 20);
        await holder.abort();
        const reader = await subscribeToDeadLetters(ctx, letters);
        const letter = await takeDeadLetter(ctx, reader, { queue: letters, id });
        await reader.ack(letter);
        const text = `the reason of the dead letter from the ${name} queue`;
        ctx.assert.equal(letter.header('deadLetterReason'), 'MessageExpired', text);
        const late = await newSubscriber(ctx, queue);
        const what = `the expired message of the ${name} queue is not delivered again`;
        await expectOnlySentinel(ctx, late, queue, { text: what, clause: 'TTL-001' });
      }
    },
  },
  // PUBLISH-005 (SHOULD): The broker answers a Publish with the id of a message that waits in the same queue by
  // PublishAck and adds no second message.
  {
    id: 'PUBLISH-005c',
    title: 'confirms a repeat of a message that waits in a fan-out or PriorityBased queue, and adds none',
    clauses: ['PUBLISH-005'],
    profile: 'delivery',
    evidence: { frames: 24, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModes)) {
        const queue = await newQueue(ctx, client, `repeat-${name}`, mode);
        const id = ctx.id('m');
        await client.publish(queue, '1', { id });
        await client.publish(queue, '1', { id, headers: { priority: 'Critical' } });
        const count = await messageCountOf(client, queue);
        ctx.assert.equal(count, 1, `number of waiting messages of the ${name} queue`);
        const subscriber = await newSubscriber(ctx, queue);
        await subscriber.ack(await subscriber.delivery({ queue, id }));
        const text = `the ${name} queue has no second message`;
        await expectOnlySentinel(ctx, subscriber, queue, { text });
      }
    },
  },
  // QUEUE-025 (MUST): messageCount is the number of waiting messages only.
  {
    id: 'QUEUE-025c',
    title: 'counts the waiting messages of fan-out and PriorityBased queues, and none that is in flight',
    clauses: ['QUEUE-025', 'DELIVERY-002'],
    profile: 'delivery',
    evidence: { frames: 18, messages: 3 },
    run: async (ctx) => {
      const client = await ctx.connect();
      for (const [name, mode] of Object.entries(otherModes)) {
        const queue = await newQueue(ctx, client, `counted-${name}`, mode);
        await publishSeries(ctx, client, queue, 1);
        const waiting = await messageCountOf(client, queue);
        ctx.assert.equal(waiting, 1, `messageCount of the ${name} queue with a waiting message`);
        const subscriber = await newSubscriber(ctx, queue);
        await subscriber.delivery({ queue });
        const inFlight = await messageCountOf(client, queue);
        const text = `messageCount of the ${name} queue while its message is in flight`;
        ctx.assert.equal(inFlight, 0, text, 'DELIVERY-002');
      }
    },
  },
] satisfies readonly Check[];

function deadLettersTo(name: string) {
  return { enableDeadLetterQueue: true, deadLetterQueueName: name } as const;
}

const published = {
  payload: '{"text":"\\u00e4\\n","exact":12345678901234567890.5,"none":null,"list":[1,[2,{}]]}',
  headers: { label: 'kept', 'content-type': 'application/json', note: 'ä, ß and ✓' },
} as const;

/**
 * A message that a connection gives back, and that is sent again after ack timeouts, has the same content each time. A dead letter has the same
 * content each time, too; that it is the content of its message is only recommended. A broker may count the disconnect as a failed attempt.
 */
async function expectContentKept(ctx: CheckContext, name: string, mode: object): Promise<void> {
  const letters = ctx.queue(`letters-${name}`);
  const client = await ctx.connect();
  const options = { ...mode, ...deadLettersTo(letters), maxRetryAttempts: 3 };
  const queue = await newQueue(ctx, client, `kept-${name}`, options);
  const leaving = await newSubscriber(ctx, queue);
  const id = ctx.id('kept');
  await client.publish(queue, published.payload, { id, headers: published.headers });
  await leaving.delivery({ queue, id });
  await resetSubscriber(ctx, leaving, { witness: client, queue, remaining: 0 });
  const holder = await newSubscriber(ctx, queue);
  await holder.delivery({ queue, id });
  await nextAttempt(ctx, holder, { queue, id });
  const first = await subscribeToDeadLetters(ctx, letters, gapMs(ctx, 2) + gapMs(ctx, 3));
  const letter = await takeDeadLetter(ctx, first, { queue: letters, id });
  const sent = [...leaving.received, ...holder.received].filter(({ command }) => command === Command.Deliver);
  for (const [index, delivery] of sent.entries())
    expectContent(ctx, delivery, `delivery ${index + 1} from the ${name} queue`);
  await resetSubscriber(ctx, first, { witness: client, queue: letters, remaining: 0 });
  const reader = await newSubscriber(ctx, letters);
  const again = await reader.delivery({ queue: letters }, { clause: 'DELIVERY-038' });
  await reader.ack(again);
  const text = 'the payload of a dead letter that is sent again';
  ctx.assert.sameJson(again.payload, letter.text(), text, 'DELIVERY-053');
  const lost = Object.keys(published.headers).filter((key) => again.header(key) !== letter.header(key));
  ctx.assert.deepEqual(lost, [], 'the headers that differ when a dead letter is sent again');
}

function expectContent(ctx: CheckContext, delivery: ReceivedFrame, which: string): void {
  ctx.assert.sameJson(delivery.payload, published.payload, `the payload of ${which}`, 'DELIVERY-053');
  const kept = Object.entries(published.headers).filter(([name, value]) => delivery.header(name) === value);
  ctx.assert.deepEqual(Object.fromEntries(kept), published.headers, `the headers of ${which}`);
}
