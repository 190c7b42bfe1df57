// Everything that can happen to the core. A command carries a token, which the core hands back, unopened, with the
// command's one answer: in this step or in a later one.

import type { Principal } from '../../model/access.ts';
import type { Priority } from '../../model/priority.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import type { MessageContent } from './message-content.ts';

/** Chosen by the caller, never used twice in the core's life. */
export type ConnectionId = number;

/** Whoever runs the broker: has no connection, and may ask what concerns no connection. */
export const OPERATOR: ConnectionId = 0;

/** Opaque to the core. */
export type Token = unknown;

export type Input =
  | ConnectedInput
  | { readonly kind: 'disconnected'; readonly connection: ConnectionId }
  /** Whether the connection can take more frames now; a connection starts writable. */
  | { readonly kind: 'writable'; readonly connection: ConnectionId; readonly writable: boolean }
  /** The rights of a user are those of `principal` from now on, on all its connections. */
  | { readonly kind: 'rightsChanged'; readonly principal: Principal }
  | PublishInput
  | SubscribeInput
  | (Command & { readonly kind: 'unsubscribe'; readonly queue: string })
  | AcknowledgeInput
  | NegativeAcknowledgeInput
  | CreateQueueInput
  | (Command & { readonly kind: 'deleteQueue'; readonly queue: string })
  | (Command & { readonly kind: 'purgeQueue'; readonly queue: string })
  | ListMessagesInput
  | OneMessageInput
  | (Command & { readonly kind: 'queueInfo'; readonly queue: string })
  | (Command & { readonly kind: 'listQueues' })
  /** Does nothing and is answered: after everything that came before it, and also while the broker drains. */
  | (Command & { readonly kind: 'barrier' })
  /** Time has passed; due when `nextDeadline()` says so, harmless at any other time. */
  | { readonly kind: 'tick' }
  /** The broker is to end: deliveries stop, acks are still taken, everything else is refused. */
  | { readonly kind: 'drain' };

export type ConnectedInput = {
  readonly kind: 'connected';
  readonly connection: ConnectionId;
  /** The user, with its rights as of now; absent: the connection has all rights. */
  readonly principal?: Principal;
};

type Command = { readonly connection: ConnectionId; readonly token: Token };

export type PublishInput = Command & {
  readonly kind: 'publish';
  readonly queue: string;
  readonly id: string;
  readonly priority: Priority;
  readonly content: MessageContent;
  /** Why the payload cannot be taken; the message is refused then, if nothing that comes first refuses it. */
  readonly invalid?: string;
};

export type SubscribeInput = Command & {
  readonly kind: 'subscribe';
  readonly queue: string;
  /** Fixes the window of unacknowledged messages; absent: the window adapts. */
  readonly maxInFlight?: number;
};

export type CreateQueueInput = Command & {
  readonly kind: 'createQueue';
  readonly queue: string;
  /** Absent: the broker's defaults. */
  readonly options?: QueueOptions;
  /** Why the options that were given cannot be read; they are absent then. */
  readonly invalid?: string;
};

export type ListMessagesInput = Command & {
  readonly kind: 'listMessages';
  readonly queue: string;
  /** How many of the waiting messages are left out at the beginning. */
  readonly offset: number;
  /** The maximum number of messages. */
  readonly limit: number;
  /** The list ends with the message whose content exceeds this sum. */
  readonly maxBytes: number;
};

export type OneMessageInput = Command & {
  readonly kind: 'readMessage' | 'removeMessage' | 'requeueMessage';
  readonly queue: string;
  readonly id: string;
  /** Only a dead letter that comes from this queue is meant; absent: any message. */
  readonly source?: string;
};

export type AcknowledgeInput = {
  readonly kind: 'acknowledge';
  readonly connection: ConnectionId;
  readonly id: string;
  /** Absent: the oldest delivery of that id on the connection is meant. */
  readonly queue?: string;
};

export type NegativeAcknowledgeInput = {
  readonly kind: 'negativeAcknowledge';
  readonly connection: ConnectionId;
  readonly id: string;
  readonly queue?: string;
  readonly reason: 'HandlerException' | 'DeserializationError';
};
