// What clients do on their connections and see there, below any meaning of the commands.

import assert from 'node:assert/strict';
import { Command, type CommandName, commandName } from '../../src/protocol/command.ts';
import { encodeFrame, frameHeaderBytes } from '../../src/protocol/encode.ts';
import type { MessageFields } from '../../src/protocol/message.ts';
import { type FeatureWorld, ofCommand } from './world.ts';

type Row = Readonly<Record<string, string>>;

type Versioned = { readonly command: number; readonly version: number; readonly id: string };

export async function sendOfVersion(world: FeatureWorld, label: string, sent: Versioned): Promise<void> {
  const frame = encodeFrame({ command: sent.command, id: sent.id });
  frame[frameHeaderBytes] = sent.version;
  (await world.client(label)).sendBytes(frame);
  await world.settle();
}

/** Rows of `command`, `id` and, where there is one, `queue`, as frames in one write. `isLast`: the client then ends its side. */
export async function sendTogether(
  world: FeatureWorld,
  label: string,
  rows: readonly Row[],
  { isLast = false } = {},
): Promise<void> {
  const client = await world.client(label);
  const all: MessageFields[] = [];
  for (const row of rows) all.push(await fieldsOf(world, row));
  client.sendTogether(all);
  if (isLast) client.endSide();
  await world.settle();
}

async function fieldsOf(world: FeatureWorld, row: Row): Promise<MessageFields> {
  const fields = { command: numberOf(row['command'] ?? ''), id: row['id'] ?? '' };
  return row['queue'] ? { ...fields, queue: await world.queueName(row['queue']) } : fields;
}

export async function breakOff(world: FeatureWorld, label: string): Promise<void> {
  (await world.client(label)).breakOff();
  await world.settle();
}

export async function receiveWithQueue(
  world: FeatureWorld,
  label: string,
  expected: { readonly command: number; readonly id: string; readonly queue: string },
): Promise<void> {
  const { message } = await world.receive(
    label,
    ofCommand(expected.command, expected.id),
    `an answer to ${expected.id}`,
  );
  assert.equal(message.queue, await world.queueName(expected.queue));
}

export async function receiveError(
  world: FeatureWorld,
  label: string,
  { code, id }: { readonly code: string; readonly id: string },
): Promise<void> {
  const { message } = await world.receive(label, ofCommand(Command.Error, id), `an Error with id ${id}`);
  assert.equal(message.errorCode, code);
  assert.notEqual(message.errorMessage, '', 'an Error has a text for people');
}

/** An Error that answers no command that could be read: its id must be new, and not empty. */
export async function receiveErrorOfOwnId(world: FeatureWorld, label: string, code: string): Promise<void> {
  const { message } = await world.receive(label, ofCommand(Command.Error), 'an Error');
  assert.equal(message.errorCode, code);
  assert.notEqual(message.id, '', 'the id is empty');
  const isOld = world.conversation.some(
    (line) => line.includes(`--> `) && line.includes(` id=${message.id} `),
  );
  assert.ok(!isOld, `the id ${message.id} is one that a client had used`);
}

/** Stands in a table for an id that the broker chose. */
const BROKERS_OWN = "the broker's own";

/** Exactly these frames, in this order. */
export async function receiveInOrder(
  world: FeatureWorld,
  label: string,
  rows: readonly Row[],
): Promise<void> {
  const client = await world.client(label);
  const broker = await world.broker();
  await broker.until(() => client.inbox.length >= rows.length || undefined);
  const received = client.inbox.map(({ message }, index) => {
    const id = rows[index]?.['id'] === BROKERS_OWN ? BROKERS_OWN : message.id;
    return `${commandName(message.command)} ${id}`;
  });
  assert.deepEqual(
    received,
    rows.map((row) => `${row['command']} ${row['id']}`),
  );
  for (const _ of rows) client.take(() => true);
}

/** Open, as far as the client can tell without asking. */
export async function assertOpen(world: FeatureWorld, label: string): Promise<void> {
  const client = await world.client(label);
  await (await world.broker()).settle([]);
  assert.ok(!client.isClosed, `the connection of ${label} is closed`);
}

/** Open, and a command on it is answered. */
export async function assertServed(world: FeatureWorld, label: string): Promise<void> {
  const id = world.freshId('still-there');
  await world.send(label, { command: Command.Ping, id });
  await world.receive(label, ofCommand(Command.Pong, id), 'a Pong');
}

export async function receiveConnectAckWith(
  world: FeatureWorld,
  label: string,
  headers: readonly string[],
): Promise<void> {
  const { message } = await world.receive(label, ofCommand(Command.ConnectAck), 'a ConnectAck');
  for (const header of headers) assert.ok(message.headers.get(header), `header ${header} has no value`);
}

export async function receiveConnectAckListing(
  world: FeatureWorld,
  label: string,
  expected: { readonly header: string; readonly entries: readonly string[] },
): Promise<void> {
  const { message } = await world.receive(label, ofCommand(Command.ConnectAck), 'a ConnectAck');
  const listed = (message.headers.get(expected.header) ?? '').split(',').map((entry) => entry.trim());
  for (const entry of expected.entries) assert.ok(listed.includes(entry), `${entry} is not among ${listed}`);
}

export async function receiveWithHeader(
  world: FeatureWorld,
  label: string,
  expected: { readonly command: number; readonly header: string; readonly value: string },
): Promise<void> {
  const { message } = await world.receive(label, ofCommand(expected.command), 'that command');
  assert.equal(message.headers.get(expected.header), expected.value);
}

/** The number of a command, by its name. */
export function numberOf(name: string): number {
  assert.ok(Object.hasOwn(Command, name), `there is no command ${name}`);
  return Command[name as CommandName];
}
