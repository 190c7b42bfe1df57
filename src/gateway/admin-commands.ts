// The admin commands of one connection, one at a time: a command waits until the earlier ones are answered, is handed to the administration,
// and is answered behind every change that it has made. Implements AUTH-045 to AUTH-047 and CONN-031 for admin commands.

import type {
  AdminAsker,
  AdminOutcome,
  AdminRequest,
  UserAdministration,
} from '../auth/user-administration.ts';
import type { ConnectionId, Input } from '../broker/interface/input.ts';
import { ErrorCode } from '../model/error-code.ts';
import { commandsOfAdministration, commandsOfClient } from '../protocol/command.ts';
import type { Message, MessageFields } from '../protocol/message.ts';
import { INTERNAL_FAULT } from './connection-frames.ts';
import type { LimitKind } from './limit-events.ts';
import { type AdminCommand, adminAnswer, adminError, readAdminRequest } from './translate/admin.ts';
import { type AdminTurn, readyAnswer } from './translate/tokens.ts';

/** What a connection serves that has an administration. */
export const withAdminCommands: ReadonlySet<number> = new Set([
  ...commandsOfClient,
  ...commandsOfAdministration,
]);

export type AdminParts = {
  readonly administration: UserAdministration;
  readonly maxMessageSizeBytes: number;
  readonly submit: (input: Input) => void;
  /** Why no command is carried out now; undefined: they are. */
  readonly shutdownReason: () => string | undefined;
  /** A command was refused, because a limit is reached. */
  readonly onLimit: (kind: LimitKind, code: ErrorCode) => void;
  /** A fault of our own prevented a command, which was answered by SERVER_ERROR. */
  readonly onFault: (error: unknown) => void;
  /** The command was answered, and the next one may be handled. */
  readonly onDone: () => void;
};

export class AdminCommands {
  readonly #connection: ConnectionId;
  readonly #parts: AdminParts;
  #isBusy = false;

  constructor(connection: ConnectionId, parts: AdminParts) {
    this.#connection = connection;
    this.#parts = parts;
  }

  /** Whether a command is not answered yet. The commands behind it must wait. */
  get isBusy(): boolean {
    return this.#isBusy;
  }

  /** Begins a command: asks the backend for its turn. */
  begin({ command, id, payload }: Message, asker: AdminAsker): void {
    this.#isBusy = true;
    const read = readAdminRequest({ command, payload }, asker.principal);
    const token: AdminTurn = { admin: { command, id }, read, asker };
    this.#parts.submit({ kind: 'barrier', connection: this.#connection, token });
  }

  /** Its turn has come. */
  carryOut({ admin, read, asker }: AdminTurn): void {
    const text = this.#parts.shutdownReason();
    if (text !== undefined) return this.#answer(adminError(admin.id, { code: ErrorCode.ShuttingDown, text }));
    if (read.kind === 'refused') return this.#answer(adminError(admin.id, read.outcome));
    const { request } = read;
    try {
      const outcome = this.#parts.administration.carryOut(request, asker);
      if (!(outcome instanceof Promise)) return this.#finish(admin, request, outcome);
      outcome.then(
        (later) => this.#finish(admin, request, later),
        (error: unknown) => this.#fail(admin, error),
      );
    } catch (error) {
      this.#fail(admin, error);
    }
  }

  #finish(admin: AdminCommand, request: AdminRequest, outcome: AdminOutcome): void {
    if (outcome.kind === 'refused') this.#reportLimit(outcome.code);
    this.#answer(adminAnswer(admin, request, outcome, this.#parts.maxMessageSizeBytes));
  }

  #reportLimit(code: ErrorCode): void {
    if (code === ErrorCode.RateLimited) this.#parts.onLimit('passwordChecks', code);
    if (code === ErrorCode.LimitExceeded) this.#parts.onLimit('usersAndPermissions', code);
  }

  #fail({ id }: AdminCommand, error: unknown): void {
    this.#parts.onFault(error);
    this.#answer(adminError(id, { code: ErrorCode.ServerError, text: INTERNAL_FAULT }));
  }

  /** By way of the backend: behind the changes of rights that the command has submitted there. */
  #answer(fields: MessageFields): void {
    this.#isBusy = false;
    this.#parts.submit(readyAnswer(this.#connection, fields));
    this.#parts.onDone();
  }
}
