// What the core wants done outside, in the order in which it arose. Nothing here may be carried out before the records
// of the same batch are committed.

import type { QueueInfo } from '../../model/queue-info.ts';
import type { ConnectionId, Token } from './input.ts';
import type { DeadLetterFacts, MessageContent } from './message-content.ts';
import type { OperatorResult } from './operator-result.ts';

export type RefusalCode =
  | 'NOT_AUTHORIZED'
  | 'QUEUE_NOT_FOUND'
  | 'QUEUE_EXISTS'
  | 'QUEUE_FULL'
  | 'INVALID_PAYLOAD'
  | 'MESSAGE_TOO_LARGE'
  | 'MEMORY_LIMIT'
  | 'LIMIT_EXCEEDED'
  | 'SHUTTING_DOWN'
  /** Given by the backend, not by the core: the commit has failed. */
  | 'STORAGE_ERROR'
  /** Given by the backend: the core has thrown, by a fault of our own. */
  | 'SERVER_ERROR';

/** The positive answer to the command of that token. `result` is there for QueueInfo (null: no such queue) and ListQueues. */
export type AnsweredEffect = {
  readonly kind: 'answered';
  readonly connection: ConnectionId;
  readonly token: Token;
  readonly result?: QueueInfo | null | readonly string[];
  /** There for what only the operator asks. */
  readonly operatorResult?: OperatorResult;
};

/** The command of that token was not carried out. `text` is for people. */
export type RefusedEffect = {
  readonly kind: 'refused';
  readonly connection: ConnectionId;
  readonly token: Token;
  readonly code: RefusalCode;
  readonly text: string;
};

export type DeliverEffect = {
  readonly kind: 'deliver';
  readonly connection: ConnectionId;
  readonly queue: string;
  readonly id: string;
  readonly content: MessageContent;
  /** 1 for the first sending of this copy. */
  readonly attempt: number;
  readonly deadLetter: DeadLetterFacts | undefined;
};

export type Effect =
  | AnsweredEffect
  | RefusedEffect
  | DeliverEffect
  /** The connection was sent as much as it may be at once; `writable` says whether it takes more. */
  | { readonly kind: 'saturated'; readonly connection: ConnectionId }
  /** The connection publishes faster than subscribers acknowledge: nothing should be read of it for about a millisecond. */
  | { readonly kind: 'ahead'; readonly connection: ConnectionId }
  /** While draining: the connection has nothing in flight any more and can be closed. */
  | { readonly kind: 'close'; readonly connection: ConnectionId };
