// The commands about queues and users that the broker answers by the same command, each as a method. Takes and returns values; a function given
// to it sends. Implements CLIENT-001.

import type { QueueOperationName } from '../model/access.ts';
import { Command, type CommandNumber } from '../protocol/command.ts';
import type { Message } from '../protocol/message.ts';
import type { CallOptions } from './abort.ts';
import {
  type AdminProperties,
  decodePermissions,
  decodeUsers,
  encodeProperties,
  type Permission,
  type User,
} from './admin-answers.ts';
import type { CommandRequest } from './client-connection.ts';
import { checkCallOptions } from './operation-options.ts';
import { checkArgument } from './option-checks.ts';
import {
  type CreateQueueOptions,
  decodeQueueDetails,
  decodeQueueNames,
  encodeQueueOptions,
  type QueueDetails,
} from './queue-answers.ts';

/** Sends a command and resolves with its answer. */
export type RequestFunction = (request: CommandRequest, call: CallOptions | undefined) => Promise<Message>;

export class BrokerCommands {
  readonly #request: RequestFunction;

  constructor(request: RequestFunction) {
    this.#request = request;
  }

  /** Creates a queue; without options it has the broker's defaults. A queue that exists is never changed. */
  async createQueue(queue: string, options?: CreateQueueOptions, call?: CallOptions): Promise<void> {
    const payload = options === undefined ? {} : { payload: encodeQueueOptions(options) };
    await this.#send(Command.CreateQueue, { queue, ...payload }, call);
  }

  /** Deletes a queue with all its messages. */
  async deleteQueue(queue: string, call?: CallOptions): Promise<void> {
    await this.#send(Command.DeleteQueue, { queue }, call);
  }

  /** Describes a queue; undefined if there is no queue with this name. */
  async queueInfo(queue: string, call?: CallOptions): Promise<QueueDetails | undefined> {
    const payload = await this.#send(Command.QueueInfo, { queue }, call);
    return payload.length === 0 ? undefined : decodeQueueDetails(payload);
  }

  async listQueues(call?: CallOptions): Promise<readonly string[]> {
    return decodeQueueNames(await this.#send(Command.ListQueues, {}, call));
  }

  /** Creates a user without rights. Needs a superuser, as all commands about users do but those of a user about itself. */
  async createUser(username: string, password: string, call?: CallOptions): Promise<void> {
    await this.#administer(Command.AdminCreateUser, { username, password }, call);
  }

  /** Deletes a user; the broker closes its connections. A superuser cannot be deleted (`FORBIDDEN`). */
  async deleteUser(username: string, call?: CallOptions): Promise<void> {
    await this.#administer(Command.AdminDeleteUser, { username }, call);
  }

  /** Every user may change its own password. The broker closes the user's other connections. */
  async changePassword(username: string, newPassword: string, call?: CallOptions): Promise<void> {
    await this.#administer(Command.AdminChangePassword, { username, newPassword }, call);
  }

  /** Allows a user these operations, and no others, on the queues that the pattern matches; other patterns of the user stay. */
  async grant(
    username: string,
    queuePattern: string,
    operations: readonly QueueOperationName[],
    call?: CallOptions,
  ): Promise<void> {
    await this.#administer(Command.AdminGrantPermission, { username, queuePattern, operations }, call);
  }

  /** Takes back what was granted for exactly this pattern; succeeds if nothing was. */
  async revoke(username: string, queuePattern: string, call?: CallOptions): Promise<void> {
    await this.#administer(Command.AdminRevokePermission, { username, queuePattern }, call);
  }

  async listUsers(call?: CallOptions): Promise<readonly User[]> {
    return decodeUsers(await this.#send(Command.AdminListUsers, {}, call));
  }

  /** What a user may do; empty for an unknown user. Every user may ask about itself. */
  async permissionsOf(username: string, call?: CallOptions): Promise<readonly Permission[]> {
    return decodePermissions(await this.#administer(Command.AdminGetUserPermissions, { username }, call));
  }

  async #administer(
    command: CommandNumber,
    properties: AdminProperties,
    call: CallOptions | undefined,
  ): Promise<Buffer> {
    return this.#send(command, { payload: encodeProperties(properties) }, call);
  }

  /** Sends a command that is answered by the same command; returns the payload of the answer. */
  async #send(
    command: CommandNumber,
    fields: { readonly queue?: string; readonly payload?: Buffer },
    call: CallOptions = {},
  ): Promise<Buffer> {
    if ('queue' in fields) checkArgument('queue', fields.queue, 'string');
    checkCallOptions(call);
    return (await this.#request({ command, answer: command, ...fields }, call)).payload;
  }
}
