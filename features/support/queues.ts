// Queues as scenarios make them and look at them. What a scenario wants to know of a queue is asked by a client of its own,
// so that it does not mix with what the scenario's clients say.

import assert from 'node:assert/strict';
import { Command } from '../../src/protocol/command.ts';
import { formatTimeSpan } from '../../src/protocol/time-span.ts';
import { cellValue } from './words.ts';
import { type FeatureWorld, ofCommand } from './world.ts';

const OBSERVER = 'observer';

/** Options as rows of property and value; texts that name a queue stand for the scenario's own queue. */
export type OptionRows = readonly (readonly string[])[];

/** Makes a queue, without payload where there are no rows. Fails when it is not made. */
export async function createQueue(world: FeatureWorld, name: string, rows: OptionRows = []): Promise<void> {
  const queue = await world.queueName(name);
  const id = world.freshId('create');
  const payload = await optionsPayload(world, rows);
  await world.send(OBSERVER, { command: Command.CreateQueue, id, queue, ...payload });
  await world.receive(OBSERVER, ofCommand(Command.CreateQueue, id), `the answer that makes queue ${name}`);
}

/** Makes a queue whose messages live as long as the scenario says, in the broker's own time. */
export async function createQueueWithTtl(
  world: FeatureWorld,
  name: string,
  { ttlMs, rows }: { readonly ttlMs: number; readonly rows: OptionRows },
): Promise<void> {
  const timeSpan = formatTimeSpan((await world.broker()).scaled(ttlMs));
  await createQueue(world, name, [...rows, ['messageTtl', timeSpan]]);
}

/** The payload of a CreateQueue, or nothing for no rows. */
export async function optionsPayload(
  world: FeatureWorld,
  rows: OptionRows,
): Promise<{ readonly payload?: Buffer }> {
  if (rows.length === 0) return {};
  return { payload: Buffer.from(JSON.stringify(await optionsOf(world, rows))) };
}

async function optionsOf(world: FeatureWorld, rows: OptionRows): Promise<Record<string, unknown>> {
  const options: Record<string, unknown> = {};
  for (const [property = '', cell = ''] of rows) options[property] = await optionValue(world, property, cell);
  return options;
}

async function optionValue(world: FeatureWorld, property: string, cell: string): Promise<unknown> {
  const value = cellValue(cell);
  return property === 'deadLetterQueueName' && typeof value === 'string' ? world.queueName(value) : value;
}

/** What QueueInfo says, or undefined where there is no such queue. */
export async function queueInfo(
  world: FeatureWorld,
  name: string,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const queue = await world.queueName(name);
  const id = world.freshId('info');
  await world.send(OBSERVER, { command: Command.QueueInfo, id, queue });
  const { message } = await world.receive(OBSERVER, ofCommand(Command.QueueInfo, id), 'a QueueInfo');
  return message.payload.length === 0
    ? undefined
    : (JSON.parse(message.payload.toString('utf8')) as Record<string, unknown>);
}

export async function assertExists(world: FeatureWorld, name: string, expected: boolean): Promise<void> {
  const exists = (await queueInfo(world, name)) !== undefined;
  assert.equal(exists, expected, `queue ${name} ${exists ? 'exists' : 'does not exist'}`);
}

/** Stands for a property that is left out. */
const ABSENT = 'absent';

/** Each row's property has the value. */
export async function assertInfo(world: FeatureWorld, name: string, rows: OptionRows): Promise<void> {
  const info = (await queueInfo(world, name)) ?? assert.fail(`queue ${name} does not exist`);
  const shown = rows.map(([property = '']) => [property, property in info ? info[property] : ABSENT]);
  const expected: unknown[] = [];
  for (const [property = '', cell = ''] of rows)
    expected.push([property, await infoValue(world, property, cell)]);
  assert.deepEqual(shown, expected);
}

async function infoValue(world: FeatureWorld, property: string, cell: string): Promise<unknown> {
  if (cell === ABSENT) return ABSENT;
  return property === 'name' ? world.queueName(cell) : optionValue(world, property, cell);
}

/** The queue has that many waiting messages, now or as soon as a timer of the broker's that is due has fired. */
export async function waitForCount(world: FeatureWorld, name: string, count: number): Promise<void> {
  const broker = await world.broker();
  const until = broker.now() + broker.tolerance.lateMs;
  let found: unknown;
  do {
    found = (await queueInfo(world, name))?.['messageCount'];
  } while (found !== count && broker.now() < until);
  assert.equal(found, count, `waiting messages of queue ${name}`);
}

/** The queues of the scenario, by ListQueues. */
export async function listQueues(world: FeatureWorld): Promise<readonly string[]> {
  const id = world.freshId('list');
  await world.send(OBSERVER, { command: Command.ListQueues, id });
  const { message } = await world.receive(OBSERVER, ofCommand(Command.ListQueues, id), 'a ListQueues');
  const names = JSON.parse(message.payload.toString('utf8')) as readonly string[];
  const { queuePrefix } = await world.broker();
  return names.filter((name) => name.startsWith(queuePrefix)).map((name) => name.slice(queuePrefix.length));
}

/** createdAt is ISO 8601 in UTC and not more than a few seconds from the broker's own time. */
export async function assertCreatedNow(world: FeatureWorld, name: string): Promise<void> {
  const info = (await queueInfo(world, name)) ?? assert.fail(`queue ${name} does not exist`);
  const createdAt = String(info['createdAt']);
  assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,7})?Z$/);
  const ageMs = (await world.broker()).wallNow() - Date.parse(createdAt);
  assert.ok(ageMs >= -5 && ageMs < 10_000, `${createdAt} is ${ageMs} ms ago`);
}

/** A queue name of so many UTF-16 units, made of one character. */
export async function nameOfLength(world: FeatureWorld, length: number, filler = 'q'): Promise<string> {
  const { queuePrefix } = await world.broker();
  return filler.repeat((length - queuePrefix.length) / filler.length);
}
