// Shared by the checks of admin commands: sends them, and reads their answers. Area: AUTH.
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { display, ExpectationFailure } from '../../expectation.ts';
import type { AdminCommandName } from '../../wire/command.ts';
import { Command } from '../../wire/command.ts';
import type { FrameFields } from '../../wire/frame.ts';
import type { JsonRecord } from './required-fields.ts';
import type { Entry, User } from './users.ts';

export function adminCommand(
  ctx: CheckContext,
  name: AdminCommandName,
  payload: object | undefined,
): FrameFields {
  const content = payload === undefined ? {} : { payload: JSON.stringify(payload) };
  return { command: Command[name], id: ctx.id(), ...content };
}

/** Sends an admin command, and asserts that the positive answer contains these values. */
export async function expectAnswer(
  ctx: CheckContext,
  admin: Connection,
  exchange: { readonly name: AdminCommandName; readonly payload: object; readonly answer: JsonRecord },
): Promise<void> {
  const { name, payload, answer: expected } = exchange;
  const answer = await admin.request(adminCommand(ctx, name, payload));
  ctx.assert.equal(answer.commandName, name, `the answer to ${name}`);
  const content = answer.json() as JsonRecord | undefined;
  const shown = Object.fromEntries(Object.keys(expected).map((field) => [field, content?.[field]]));
  ctx.assert.deepEqual(shown, expected, `the payload of the answer to ${name}`);
}

export async function usersOf(admin: Connection): Promise<readonly JsonRecord[]> {
  return listIn(await admin.admin('AdminListUsers'), 'AUTH-041');
}

/** The entries in an order that does not depend on the broker's. */
export async function permissionsOf(
  admin: Connection,
  { username }: Pick<User, 'username'>,
): Promise<readonly Entry[]> {
  const answer = await admin.admin('AdminGetUserPermissions', { username });
  return sortedEntries(listIn(answer, 'AUTH-042') as unknown as readonly Entry[]);
}

/** The objects of an answer that must be an array of objects. */
function listIn(answer: unknown, clause: string): readonly JsonRecord[] {
  const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;
  if (Array.isArray(answer) && answer.every(isObject)) return answer;
  throw new ExpectationFailure('the answer is an array of objects', {
    expected: 'an array of objects',
    actual: display(answer),
    reliesOn: clause,
  });
}

export function sortedEntries(entries: readonly Entry[]): readonly Entry[] {
  const sorted = entries.map(({ queuePattern, operations: names }) => ({
    queuePattern,
    operations: Array.isArray(names) ? [...names].sort() : names,
  }));
  return sorted.sort((a, b) => (a.queuePattern < b.queuePattern ? -1 : 1));
}
