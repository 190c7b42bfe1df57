// What the operator learns about single messages. Types only.

import type { Priority } from '../../model/priority.ts';
import type { DeadLetterFacts, MessageContent } from './message-content.ts';

/** A message as it is at one moment. Its content is the one that the core keeps. */
export type MessageSnapshot = {
  readonly id: string;
  readonly queue: string;
  readonly priority: Priority;
  readonly content: MessageContent;
  /** When its queue took it, in milliseconds since 1970. */
  readonly acceptedWallAt: number;
  /** How often it was sent. */
  readonly sentCount: number;
  /** Sent and not settled, or waiting for its next attempt. */
  readonly isInFlight: boolean;
  readonly deadLetter: DeadLetterFacts | undefined;
};

/** Why a message was not requeued, or that it was. */
export type RequeueOutcome =
  | 'requeued'
  | 'messageNotFound'
  | 'notDeadLetter'
  | 'inFlight'
  | 'sourceNotFound'
  | 'sourceFull'
  | 'tooLarge'
  | 'idInSource';

export type OperatorResult =
  | { readonly kind: 'messages'; readonly messages: readonly MessageSnapshot[] }
  /** Undefined: the queue has no such message. */
  | { readonly kind: 'message'; readonly message: MessageSnapshot | undefined }
  /** False: no such message waits. */
  | { readonly kind: 'removal'; readonly isRemoved: boolean }
  | { readonly kind: 'requeue'; readonly outcome: RequeueOutcome };
