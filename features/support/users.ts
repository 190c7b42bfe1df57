// Users as scenarios speak of them: the broker that asks for credentials, who connects with which, and what a superuser says about users. Names
// of users and patterns get the scenario's prefix, so that scenarios can share a broker.

import assert from 'node:assert/strict';
import { Command } from '../../src/protocol/command.ts';
import { HeaderName } from '../../src/protocol/header-name.ts';
import { SUPERUSER } from '../../src/testing/fake-users.ts';
import { type FeatureWorld, ofCommand } from './world.ts';

/** Whom scenarios have administer users when it does not matter who does. */
const ADMINISTRATOR = 'administrator';

export type Headers = ReadonlyMap<string, string>;

export type Credentials = { readonly username: string; readonly password: string };

/** Clients that the scenario says nothing about connect with the token. */
export function requireToken(world: FeatureWorld, token: string): void {
  world.settings.set('authToken', token);
  world.usualHeaders = tokenHeaders(token);
}

/** Clients that the scenario says nothing about connect as the superuser. Hashes are cheap: scenarios prove nothing by their cost. */
export function turnAuthorizationOn(world: FeatureWorld): void {
  world.settings.set('superuserPassword', SUPERUSER.password);
  world.settings.set('authDatabasePath', ':memory:');
  world.settings.set('passwordCost', '4');
  world.usualHeaders = headersOf(SUPERUSER);
}

export function tokenHeaders(token: string): Headers {
  return new Map([[HeaderName.AuthToken, token]]);
}

export async function userHeaders(
  world: FeatureWorld,
  { username, password }: Credentials,
): Promise<Headers> {
  return headersOf({ username: await userName(world, username), password });
}

function headersOf({ username, password }: Credentials): Headers {
  return new Map([
    [HeaderName.AuthUsername, username],
    [HeaderName.AuthPassword, password],
  ]);
}

/** Sends a Connect, on the client's connection if it has one. */
export async function sendConnect(world: FeatureWorld, label: string, headers: Headers): Promise<void> {
  if (!world.clients.has(label)) await world.open(label);
  await world.send(label, { command: Command.Connect, id: world.freshId('connect'), headers });
}

/** The superuser's name is the broker's, every other one the scenario's. */
async function userName(world: FeatureWorld, name: string): Promise<string> {
  return name === SUPERUSER.username ? name : world.queueName(name);
}

/** Names of users, patterns and operations as a scenario writes them, as the properties of a payload. */
async function propertiesOf(
  world: FeatureWorld,
  given: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, unknown>>> {
  const properties: Record<string, unknown> = {};
  for (const [property, text] of Object.entries(given)) {
    if (property === 'username') properties[property] = await userName(world, text);
    else if (property === 'queuePattern') properties[property] = await world.queueName(text);
    else properties[property] = property === 'operations' ? listOf(text) : text;
  }
  return properties;
}

function listOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((part) => part.trim());
}

/** Sends an admin command with these properties; without any it has no payload. */
export async function sendAdmin(
  world: FeatureWorld,
  label: string,
  command: number,
  given: Readonly<Record<string, string>> = {},
): Promise<void> {
  const properties = await propertiesOf(world, given);
  const hasPayload = Object.keys(properties).length > 0;
  await world.sendAnyhow(label, {
    command,
    ...(hasPayload ? { payload: Buffer.from(JSON.stringify(properties)) } : {}),
  });
}

/** The superuser sends an admin command, which must succeed; returns the value of the answer. */
export async function administer(
  world: FeatureWorld,
  command: number,
  given: Readonly<Record<string, string>> = {},
): Promise<unknown> {
  if (!world.clients.has(ADMINISTRATOR)) await world.connect(ADMINISTRATOR, headersOf(SUPERUSER));
  await sendAdmin(world, ADMINISTRATOR, command, given);
  return payloadValue(world, command);
}

async function payloadValue(world: FeatureWorld, command: number): Promise<unknown> {
  const { message } = await world.answer();
  assert.equal(message.command, command, `${message.errorCode}: ${message.errorMessage}`);
  return JSON.parse(message.payload.toString('utf8'));
}

export async function createUser(
  world: FeatureWorld,
  credentials: Credentials,
  rights: readonly Readonly<Record<string, string>>[] = [],
): Promise<void> {
  await administer(world, Command.AdminCreateUser, credentials);
  for (const { pattern = '', operations = '' } of rights) {
    await grant(world, credentials.username, { queuePattern: pattern, operations });
  }
}

export async function grant(
  world: FeatureWorld,
  username: string,
  entry: { readonly queuePattern: string; readonly operations: string },
): Promise<void> {
  await administer(world, Command.AdminGrantPermission, { username, ...entry });
}

/** The answer to the last command is the same command with exactly these properties. */
export async function assertAnswer(
  world: FeatureWorld,
  given: Readonly<Record<string, string>>,
): Promise<void> {
  const { fields } = world.lastCommand();
  assert.deepEqual(await payloadValue(world, fields.command), await propertiesOf(world, given));
}

/** The answer to the last command is a list of these entries. */
export async function assertPermissions(
  world: FeatureWorld,
  rights: readonly Readonly<Record<string, string>>[],
): Promise<void> {
  const expected: unknown[] = [];
  for (const { pattern = '', operations = '' } of rights) {
    expected.push(await propertiesOf(world, { queuePattern: pattern, operations }));
  }
  assert.deepEqual(await payloadValue(world, Command.AdminGetUserPermissions), expected);
}

/** The answer to the last command lists a user of that name, created within this hour. */
export async function assertListed(
  world: FeatureWorld,
  rows: readonly Readonly<Record<string, string>>[],
): Promise<void> {
  const users = (await payloadValue(world, Command.AdminListUsers)) as readonly Record<string, unknown>[];
  for (const { username = '', isSuperuser } of rows) {
    const name = await userName(world, username);
    const user = users.find((one) => one['username'] === name) ?? assert.fail(`${name} is not listed`);
    assert.equal(user['isSuperuser'], isSuperuser === 'true');
    assert.ok(Number.isInteger(user['createdAt']), 'createdAt is a number of whole seconds');
    assert.deepEqual(Object.keys(user).sort(), ['createdAt', 'isSuperuser', 'username']);
  }
}

/** The queues of the scenario that a client is shown. */
export async function assertShown(world: FeatureWorld, label: string, names: string): Promise<void> {
  const id = world.freshId('list');
  await world.send(label, { command: Command.ListQueues, id });
  const { message } = await world.receive(label, ofCommand(Command.ListQueues, id), 'a ListQueues');
  const shown = JSON.parse(message.payload.toString('utf8')) as readonly string[];
  const expected: string[] = [];
  for (const name of listOf(names)) expected.push(await world.queueName(name));
  assert.deepEqual([...shown].sort(), expected.sort());
}
