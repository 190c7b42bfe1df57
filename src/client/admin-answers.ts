// The types of the client's API for users and their rights, and the payloads of the admin commands. protocol/admin-json.ts has their JSON on the
// wire. Pure. Implements CLIENT-001 for admin commands.

import { type AccessEntry, QueueOperation, type QueueOperationName } from '../model/access.ts';
import { operationNames, readAccessList, readUsers } from '../protocol/admin-json.ts';
import { checkEntry, checkText, shown } from './option-checks.ts';
import { readable } from './queue-answers.ts';

export type User = {
  readonly username: string;
  /** May do everything, also what is said about users. */
  readonly isSuperuser: boolean;
  readonly createdAt: Date;
};

/** What a user may do with the queues that the pattern matches. */
export type Permission = {
  /** `*` stands for any run of characters; everything else for itself, in any case. */
  readonly queuePattern: string;
  readonly operations: readonly QueueOperationName[];
};

/** What an admin command says, by the names of the protocol. */
export type AdminProperties = {
  readonly username: string;
  readonly password?: string;
  readonly newPassword?: string;
  readonly queuePattern?: string;
  readonly operations?: readonly QueueOperationName[];
};

/** @throws TypeError for a name, a password or a pattern that is no text */
export function encodeProperties({ operations, ...texts }: AdminProperties): Buffer {
  for (const [name, value] of Object.entries(texts)) checkText(name, value);
  const properties =
    operations === undefined ? texts : { ...texts, operations: checkedOperations(operations) };
  return Buffer.from(JSON.stringify(properties));
}

/** @throws TypeError when a name is no operation */
function checkedOperations(operations: readonly QueueOperationName[]): readonly QueueOperationName[] {
  const names = Object.keys(QueueOperation);
  if (!Array.isArray(operations))
    throw new TypeError(`operations: came ${shown(operations)}; allowed is a list of ${names.join(', ')}`);
  for (const name of operations) checkEntry('operations', name, names);
  return operations;
}

/** The payload of an AdminListUsers answer. @throws ClientError (`UNREADABLE_ANSWER`) */
export function decodeUsers(payload: Buffer): readonly User[] {
  return readable(readUsers(payload)).map(({ username, isSuperuser, createdAt }) => ({
    username,
    isSuperuser,
    createdAt: new Date(createdAt * 1000),
  }));
}

/** The payload of an AdminGetUserPermissions answer. @throws ClientError (`UNREADABLE_ANSWER`) */
export function decodePermissions(payload: Buffer): readonly Permission[] {
  return readable(readAccessList(payload)).map(({ queuePattern, operations }: AccessEntry) => ({
    queuePattern,
    operations: operationNames(operations),
  }));
}
