// Translates between the frames of admin commands and the port of the administration: a payload to a request, an outcome to the frame that
// answers it. Decides nothing about users. Implements AUTH-034, AUTH-047, and the form of the answers of AUTH-035 to AUTH-042.

import type { AdminOutcome, AdminRequest } from '../../auth/user-administration.ts';
import { type Principal, QueueOperation } from '../../model/access.ts';
import { ErrorCode } from '../../model/error-code.ts';
import { accessEntryJson, operationNames, readOperations } from '../../protocol/admin-json.ts';
import { Command } from '../../protocol/command.ts';
import { encodedBodyLength } from '../../protocol/encode.ts';
import { choices, type Properties, parseObject } from '../../protocol/json-properties.ts';
import type { Message, MessageFields } from '../../protocol/message.ts';

/** The request, or the refusal of a command that has no valid one. */
export type ReadRequest =
  | { readonly kind: 'request'; readonly request: AdminRequest }
  | { readonly kind: 'refused'; readonly outcome: AdminRefusal };

/** Names the command that is answered. */
export type AdminCommand = { readonly command: number; readonly id: string };

export type AdminRefusal = Extract<AdminOutcome, { readonly kind: 'refused' }>;

/** `asker`: whoever may not send the command at all is told that, and not what is wrong with its payload (ERROR-013 to ERROR-015). */
export function readAdminRequest(
  message: Pick<Message, 'command' | 'payload'>,
  asker: Principal | undefined,
): ReadRequest {
  const read = readRequest(message.command, message.payload);
  if (typeof read !== 'string') return { kind: 'request', request: read };
  const isForOneself = commandsForOneself.has(message.command) && asker !== undefined;
  if (asker?.isSuperuser === true || isForOneself) {
    return { kind: 'refused', outcome: { kind: 'refused', code: 'INVALID_PAYLOAD', text: `${read}.` } };
  }
  const text = 'Only a superuser may do this.';
  return { kind: 'refused', outcome: { kind: 'refused', code: 'NOT_AUTHORIZED', text } };
}

/** What every user may do with its own name (AUTH-038, AUTH-043). */
const commandsForOneself: ReadonlySet<number> = new Set([
  Command.AdminChangePassword,
  Command.AdminGetUserPermissions,
]);

/** The request, or why there is none. */
function readRequest(command: number, payload: Buffer): AdminRequest | string {
  if (command === Command.AdminListUsers) return { kind: 'listUsers' };
  const properties = parseObject(payload);
  if (properties === undefined) return 'The payload must be a JSON object';
  const text = (property: string): string | undefined => textOf(properties, property);
  const username = text('username');
  if (username === undefined) return missing('username');
  switch (command) {
    case Command.AdminCreateUser: {
      const password = text('password');
      return password === undefined ? missing('password') : { kind: 'createUser', username, password };
    }
    case Command.AdminDeleteUser:
      return { kind: 'deleteUser', username };
    case Command.AdminChangePassword: {
      const newPassword = text('newPassword');
      return newPassword === undefined
        ? missing('newPassword')
        : { kind: 'changePassword', username, newPassword };
    }
    case Command.AdminGrantPermission:
      return readGrant(properties, username);
    case Command.AdminRevokePermission: {
      const queuePattern = text('queuePattern');
      return queuePattern === undefined
        ? missing('queuePattern')
        : { kind: 'revokePermission', username, queuePattern };
    }
    case Command.AdminGetUserPermissions:
      return { kind: 'getUserPermissions', username };
    default:
      throw new Error(`Command ${command} was let through and is no admin command.`);
  }
}

function readGrant(properties: Properties, username: string): AdminRequest | string {
  const queuePattern = textOf(properties, 'queuePattern');
  if (queuePattern === undefined) return missing('queuePattern');
  const operations = readOperations(properties['operations']);
  if (operations === undefined) return `operations must be a list of ${choices(QueueOperation)}`;
  return { kind: 'grantPermission', username, queuePattern, operations };
}

function textOf(properties: Properties, property: string): string | undefined {
  const value = Object.hasOwn(properties, property) ? properties[property] : undefined;
  return typeof value === 'string' ? value : undefined;
}

function missing(property: string): string {
  return `${property} must be a text`;
}

/** The frame that answers an admin command. */
export function adminAnswer(
  { command, id }: AdminCommand,
  request: AdminRequest,
  outcome: AdminOutcome,
  maxBodyBytes: number,
): MessageFields {
  if (outcome.kind === 'refused') return adminError(id, outcome);
  const payload = Buffer.from(JSON.stringify(answerJson(request, outcome)));
  const fields = { command, id, payload };
  if (encodedBodyLength(fields) <= maxBodyBytes) return fields;
  const text = `The answer has more than ${maxBodyBytes} bytes and does not fit into a frame.`;
  return adminError(id, { code: ErrorCode.MessageTooLarge, text });
}

/** The Error that refuses an admin command. */
export function adminError(
  id: string,
  { code, text }: { readonly code: ErrorCode; readonly text: string },
): MessageFields {
  return { command: Command.Error, id, errorCode: code, errorMessage: text };
}

function answerJson(
  request: AdminRequest,
  { users = [], accessList = [] }: Extract<AdminOutcome, { readonly kind: 'done' }>,
): unknown {
  switch (request.kind) {
    case 'createUser':
    case 'deleteUser':
    case 'changePassword':
      return { username: request.username };
    case 'grantPermission':
      return {
        username: request.username,
        queuePattern: request.queuePattern,
        operations: operationNames(request.operations),
      };
    case 'revokePermission':
      return { username: request.username, queuePattern: request.queuePattern };
    case 'listUsers':
      return users.map(({ username, isSuperuser, createdAt }) => ({ username, isSuperuser, createdAt }));
    case 'getUserPermissions':
      return accessList.map(accessEntryJson);
  }
}
