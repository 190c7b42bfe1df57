// Shared by the checks of authentication and rights: configurations with a token or a superuser, users that a check makes, and refused
// Connects. Names of users come from the check's own names, so that checks can share a broker. Area: AUTH.
import type { Check, CheckContext } from '../../check.ts';
import type { CloseKind, Connection } from '../../connection.ts';
import { frameText } from '../../trace.ts';
import { Command } from '../../wire/command.ts';
import type { Credentials } from '../../wire/credentials.ts';
import type { FrameFields, ReceivedFrame } from '../../wire/frame.ts';
import { headerPairs } from '../../wire/frame.ts';
import type { OperationName } from '../../wire/operations.ts';

export type User = { readonly username: string; readonly password: string };

export const token = '0123456789abcdef0123456789abcdef';
export const superuser: User = { username: 'vibemq', password: 'super-secret' };

/** The lowest cost of bcrypt: the checks make and connect many users. */
const cheapPasswords = { authentication: { passwordCost: 4 } } as const;

type Setting = Pick<Check, 'profile' | 'requires' | 'prefers'>;

export const withToken = {
  profile: 'auth',
  requires: { configuration: { authentication: { token } } },
} as const satisfies Setting;

export const withUsers = {
  profile: 'auth',
  requires: { configuration: { authentication: { superuser } } },
  prefers: cheapPasswords,
} as const satisfies Setting;

export const withTokenAndUsers = {
  profile: 'auth',
  requires: { configuration: { authentication: { token, superuser } } },
  prefers: cheapPasswords,
} as const satisfies Setting;

/** An entry of an access list, as on the wire. */
export type Entry = { readonly queuePattern: string; readonly operations: readonly OperationName[] };

export function credentialsOf({ username, password }: User): Credentials {
  return { authUsername: username, authPassword: password };
}

export function connectAs(ctx: CheckContext, user: User): Promise<Connection> {
  return ctx.connect({ headers: credentialsOf(user) });
}

export function connectAsSuperuser(ctx: CheckContext): Promise<Connection> {
  return connectAs(ctx, superuser);
}

/** A name that only this check uses, and a password for it. */
export function userNamed(ctx: CheckContext, name: string): User {
  return { username: ctx.queue(name), password: `password of ${name}` };
}

/** Creates a user with this access list. */
export async function newUser(
  ctx: CheckContext,
  admin: Connection,
  name: string,
  entries: readonly Entry[] = [],
): Promise<User> {
  const user = userNamed(ctx, name);
  await admin.admin('AdminCreateUser', user);
  for (const entry of entries) await grant(admin, user, entry);
  return user;
}

/** Creates a user with this access list, and connects as it. */
export async function newConnectedUser(
  ctx: CheckContext,
  admin: Connection,
  name: string,
  entries: readonly Entry[],
): Promise<Connection> {
  return connectAs(ctx, await newUser(ctx, admin, name, entries));
}

export function grant(admin: Connection, { username }: User, entry: Entry): Promise<unknown> {
  return admin.admin('AdminGrantPermission', { username, ...entry });
}

export function revoke(admin: Connection, { username }: User, queuePattern: string): Promise<unknown> {
  return admin.admin('AdminRevokePermission', { username, queuePattern });
}

/** Sends Connect with these headers on a connection of its own, and returns the first answer. */
export async function answerToConnect(
  ctx: CheckContext,
  headers: FrameFields['headers'],
  clause?: string,
): Promise<{ readonly connection: Connection; readonly answer: ReceivedFrame | CloseKind }> {
  const connection = await ctx.rawConnect();
  return { connection, answer: await nextAnswerToConnect(ctx, connection, headers, clause) };
}

/** The same on a connection that is open. */
export async function nextAnswerToConnect(
  ctx: CheckContext,
  connection: Connection,
  headers: FrameFields['headers'] = {},
  clause?: string,
): Promise<ReceivedFrame | CloseKind> {
  await connection.send({ command: Command.Connect, id: ctx.id(), headers });
  const { passwordMs: withinMs } = ctx.timing;
  const options = { what: 'the answer to Connect', withinMs, ...(clause === undefined ? {} : { clause }) };
  return connection.expectOrClosed(() => true, options);
}

export async function expectAccepted(
  ctx: CheckContext,
  headers: FrameFields['headers'],
  { what, clause }: { readonly what: string; readonly clause: string },
): Promise<Connection> {
  const { connection, answer } = await answerToConnect(ctx, headers, clause);
  ctx.assert.ok(nameOf(answer) === 'ConnectAck', `the broker accepts a Connect with ${what}`, {
    expected: 'ConnectAck',
    actual: nameOf(answer),
    clause,
    possibleCauses: rulesAbout(headers, 'AUTH-001', 'AUTH-005'),
  });
  return connection;
}

/** Those of the two rules that are about credentials in these headers. */
function rulesAbout(headers: FrameFields['headers'], tokenRule: string, userRule: string): readonly string[] {
  const names = new Set(headerPairs(headers).map(([name]) => name));
  return [...(names.has('authToken') ? [tokenRule] : []), ...(names.has('authUsername') ? [userRule] : [])];
}

/** Asserts that the broker answers by Error and sends no ConnectAck. Returns the Error. */
export async function expectConnectRefused(
  ctx: CheckContext,
  headers: FrameFields['headers'],
  { what, clause }: { readonly what: string; readonly clause: string },
): Promise<ReceivedFrame> {
  const { connection, answer } = await answerToConnect(ctx, headers, clause);
  const possibleCauses = rulesAbout(headers, 'AUTH-002', 'AUTH-006');
  if (typeof answer === 'string' || answer.command !== Command.Error)
    return ctx.assert.fail(`the broker answers a Connect with ${what} by Error`, {
      expected: 'Error',
      actual: typeof answer === 'string' ? closed : frameText(answer),
      clause,
      possibleCauses,
    });
  await connection.send({ command: Command.Ping, id: ctx.id('ping') });
  await connection.expectOrClosed('Pong', { clause: 'CONN-018' });
  const isAccepted = connection.received.some(({ command }) => command === Command.ConnectAck);
  const expected = 'no ConnectAck';
  ctx.assert.ok(!isAccepted, `no ConnectAck follows a refused Connect with ${what}`, {
    expected,
    actual: isAccepted ? 'ConnectAck' : expected,
    clause,
    possibleCauses,
  });
  return answer;
}

/** Stands for the end of the connection among the names of answers. */
export const closed = 'the end of the connection';

/** The name of an answer, for assertions. */
export function nameOf(answer: ReceivedFrame | CloseKind): string {
  return typeof answer === 'string' ? closed : answer.commandName;
}
