// Messages as publishers send them and subscribers see them.

import assert from 'node:assert/strict';
import { Command } from '../../src/protocol/command.ts';
import type { Algorithm } from '../../src/protocol/compression.ts';
import type { MessageFields } from '../../src/protocol/message.ts';
import type { ReceivedFrame } from './received-frame.ts';
import { type FeatureWorld, ofCommand } from './world.ts';

type Content = {
  readonly payload?: Buffer;
  readonly headers?: ReadonlyMap<string, string>;
};

export type Published = Content & { readonly id: string; readonly queue: string };

/** Sends a Publish and lets it take effect; whether it was accepted is for another step. */
export function publish(
  world: FeatureWorld,
  label: string,
  { id, ...rest }: Published,
  algorithm?: Algorithm,
): Promise<void> {
  return publishAll(world, label, [id], rest, algorithm);
}

/** The same for several, sent one after the other. */
export async function publishAll(
  world: FeatureWorld,
  label: string,
  ids: readonly string[],
  { queue, payload, headers }: Content & { readonly queue: string },
  algorithm?: Algorithm,
): Promise<void> {
  const shared = { queue: await world.queueName(queue), ...(headers === undefined ? {} : { headers }) };
  const all = ids.map((id) => ({
    command: Command.Publish,
    id,
    payload: payload ?? payloadNaming(id),
    ...shared,
  }));
  const broker = await world.broker();
  for (const id of ids) world.publishedAt.set(id, broker.now());
  await world.sendAll(label, all, algorithm);
}

/** A payload that tells which message it belongs to. */
export function payloadNaming(id: string): Buffer {
  return Buffer.from(JSON.stringify({ message: id }));
}

/** A JSON text of exactly so many bytes, which compresses well. */
export function payloadOfSize(sizeBytes: number): Buffer {
  const text = 'all work and no play makes a dull message. ';
  const filler = text.repeat(Math.ceil(sizeBytes / text.length)).slice(0, sizeBytes - 2);
  return Buffer.from(`"${filler}"`);
}

export async function receivePublishAck(
  world: FeatureWorld,
  label: string,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids)
    await world.receive(label, ofCommand(Command.PublishAck, id), `a PublishAck for ${id}`);
}

export async function assertRefused(
  world: FeatureWorld,
  label: string,
  { id, code }: { readonly id: string; readonly code: string },
): Promise<void> {
  const { message } = await world.receive(label, ofCommand(Command.Error, id), `an Error for ${id}`);
  assert.equal(message.errorCode, code);
  await world.receiveNo(label, ofCommand(Command.PublishAck, id), 'a PublishAck as well');
}

export async function subscribe(
  world: FeatureWorld,
  label: string,
  queue: string,
  headers: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  const id = world.freshId('subscribe');
  await world.send(label, { command: Command.Subscribe, id, queue: await world.queueName(queue), headers });
}

export async function unsubscribe(world: FeatureWorld, label: string, queue: string): Promise<void> {
  const id = world.freshId('unsubscribe');
  await world.send(label, { command: Command.Unsubscribe, id, queue: await world.queueName(queue) });
  await world.receive(label, ofCommand(Command.UnsubscribeAck, id), 'an UnsubscribeAck');
}

export async function acknowledge(
  world: FeatureWorld,
  label: string,
  ids: readonly string[],
  rest: Pick<MessageFields, 'queue' | 'headers'> = {},
): Promise<void> {
  const all = ids.map((id) => ({ command: Command.Ack, id, ...rest }));
  await world.sendAll(label, all);
}

/** Negative acks: what is counted from a delivery is counted from here on. */
export async function refuse(
  world: FeatureWorld,
  label: string,
  { ids, reason }: { readonly ids: readonly string[]; readonly reason: string },
): Promise<void> {
  const broker = await world.broker();
  await broker.settle([]);
  const earliestAt = broker.now();
  await acknowledge(world, label, ids, { headers: new Map([['failureReason', reason]]) });
  for (const id of ids) world.attempts.set(`${label} ${id}`, { earliestAt, latestAt: broker.now() });
}

/** The message, the next one if it comes several times. */
export async function receiveMessage(world: FeatureWorld, label: string, id: string): Promise<ReceivedFrame> {
  const frame = await world.receive(label, ofCommand(Command.Deliver, id), `message ${id}`);
  const earliestAt = world.publishedAt.get(id) ?? frame.at;
  world.attempts.set(`${label} ${id}`, { earliestAt, latestAt: frame.at });
  return frame;
}

/** Exactly these messages, in this order, and no more. */
export async function receiveMessages(
  world: FeatureWorld,
  label: string,
  ids: readonly string[],
): Promise<void> {
  const client = await world.client(label);
  const broker = await world.broker();
  const delivered = () => client.inbox.filter(ofCommand(Command.Deliver));
  await broker.until(() => delivered().length >= ids.length || undefined);
  await world.settle();
  assert.deepEqual(
    delivered().map(({ message }) => message.id),
    ids,
    `what ${label} received`,
  );
  for (const id of ids) await receiveMessage(world, label, id);
}

/** The message comes as soon as it was published. */
export async function receiveImmediately(world: FeatureWorld, label: string, id: string): Promise<void> {
  const publishedAt = world.publishedAt.get(id) ?? assert.fail(`message ${id} was not published`);
  const { at } = await receiveMessage(world, label, id);
  const { tolerance } = await world.broker();
  assert.ok(at <= publishedAt + tolerance.lateMs, `it came after ${Math.round(at - publishedAt)} ms`);
}

/** The message comes again, `pauseMs` after the ack timeout of the attempt before it. */
export async function receiveAgainAfterAckTimeout(
  world: FeatureWorld,
  label: string,
  { id, pauseMs }: { readonly id: string; readonly pauseMs: number },
): Promise<ReceivedFrame> {
  const ackTimeout = world.settings.get('ackTimeout');
  assert.ok(typeof ackTimeout === 'object', 'the scenario says nothing about ackTimeout');
  return receiveAgainAfter(world, label, { id, gapMs: ackTimeout.durationMs + pauseMs });
}

/** The message comes again, `gapMs` after the attempt before it, which was this client's or that of `since`. */
export async function receiveAgainAfter(
  world: FeatureWorld,
  label: string,
  { id, gapMs, since = label }: { readonly id: string; readonly gapMs: number; readonly since?: string },
): Promise<ReceivedFrame> {
  const before =
    world.attempts.get(`${since} ${id}`) ?? assert.fail(`${since} has not received ${id} before`);
  const broker = await world.broker();
  await world.pass(before.latestAt + gapMs - broker.now());
  const frame = await receiveMessage(world, label, id);
  const earliestAt = before.earliestAt + gapMs;
  const latestAt = before.latestAt + gapMs;
  const { earlyMs, lateMs } = broker.tolerance;
  const inTime = frame.at >= earliestAt - earlyMs && frame.at <= latestAt + lateMs;
  assert.ok(
    inTime,
    `it came ${Math.round(frame.at - before.latestAt)} ms after the one before, not ${gapMs}`,
  );
  // What is seen may lag behind what was sent, but never lies before it: the next gap counts from what is certain.
  world.attempts.set(`${label} ${id}`, { earliestAt, latestAt: frame.at });
  return frame;
}

/** The UnsubscribeAck has come, and no message of the queue stands behind it. */
export async function assertNothingAfterUnsubscribeAck(
  world: FeatureWorld,
  label: string,
  queue: string,
): Promise<void> {
  await world.settle();
  const name = await world.queueName(queue);
  const client = await world.client(label);
  const end = client.inbox.findIndex(ofCommand(Command.UnsubscribeAck));
  assert.notEqual(end, -1, `${label} received no UnsubscribeAck`);
  const late = client.inbox.slice(end).filter(ofCommand(Command.Deliver));
  assert.deepEqual(
    late.filter(({ message }) => message.queue === name).map(({ message }) => message.id),
    [],
  );
}

/** Each row's header has the value; `queue "x"` is a queue of the scenario, `a timestamp` any time in UTC. */
export async function receiveWithHeaders(
  world: FeatureWorld,
  label: string,
  { id, rows }: { readonly id: string; readonly rows: readonly (readonly string[])[] },
): Promise<void> {
  const { message } = await receiveMessage(world, label, id);
  for (const [name = '', expected = ''] of rows) {
    const value = message.headers.get(name) ?? '';
    const [, queue] = /^queue "(.*)"$/.exec(expected) ?? [];
    if (expected === 'a timestamp') assert.match(value, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?Z$/);
    else assert.equal(value, queue === undefined ? expected : await world.queueName(queue), name);
  }
}
