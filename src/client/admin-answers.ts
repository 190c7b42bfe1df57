// The types of the client's API for users and their rights, and the payloads of the admin commands. protocol/admin-json.ts has their JSON on the
// wire. Pure. Implements CLIENT-001 for admin commands.

import { type AccessEntry, QueueOperation, type QueueOperationName } from '../model/access.ts';
import { numberOfName } from '../model/named-numbers.ts';
import { operationNames, readAccessList, readUsers } from '../protocol/admin-json.ts';
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

export function encodeProperties(properties: Readonly<Record<string, unknown>>): Buffer {
  return Buffer.from(JSON.stringify(properties));
}

/** @throws TypeError when a name is no operation */
export function checkedOperations(operations: readonly QueueOperationName[]): readonly QueueOperationName[] {
  for (const name of operations) numberOfName(QueueOperation, name);
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
