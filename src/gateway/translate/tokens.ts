// The token that the gateway passes to the backend with a command and gets back, unchanged, with its answer.

import type { AdminAsker } from '../../auth/user-administration.ts';
import type { Input } from '../../broker/interface/input.ts';
import type { MessageFields } from '../../protocol/message.ts';
import type { AdminCommand, ReadRequest } from './admin.ts';

/** Identifies the command that is answered. */
export type CommandToken = { readonly command: number; readonly id: string; readonly queue: string };

/** An answer that needs no queue, in order behind the answers to earlier commands of its connection. */
export type ReadyAnswer = { readonly fields: MessageFields };

/** The turn of an admin command has come: the commands before it are answered. */
export type AdminTurn = {
  readonly admin: AdminCommand;
  readonly read: ReadRequest;
  readonly asker: AdminAsker;
};

/** Returned after all answers of a connection that is closing. */
export const LAST_ANSWER = 'last answer';

export type ClientToken = CommandToken | ReadyAnswer | AdminTurn | typeof LAST_ANSWER;

export function isReadyAnswer(token: ClientToken): token is ReadyAnswer {
  return typeof token === 'object' && 'fields' in token;
}

export function isAdminTurn(token: ClientToken): token is AdminTurn {
  return typeof token === 'object' && 'admin' in token;
}

/** The input whose answer is `fields`, in its turn. */
export function readyAnswer(connection: number, fields: MessageFields): Input {
  return { kind: 'barrier', connection, token: { fields } satisfies ReadyAnswer };
}
