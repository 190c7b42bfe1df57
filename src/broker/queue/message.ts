// One message in one queue: what was published, and how far its delivery has come. Holds state only; queues and delivery modes change
// it. Knows no queue and no subscriber.

import type { Priority } from '../../model/priority.ts';
import type { HeapNode } from '../collections/heap.ts';
import type { DeadLetterFacts, MessageContent } from '../interface/message-content.ts';
import { type MessageEvent, type MessageState, transition } from './message-state.ts';

/** Bytes that a held message counts for besides its content: what the broker itself needs to keep it. */
export const MESSAGE_OVERHEAD_BYTES = 384;

export class QueuedMessage {
  readonly id: string;
  readonly priority: Priority;
  readonly content: MessageContent;
  /** Present when this is a dead letter. */
  readonly deadLetter: DeadLetterFacts | undefined;

  state: MessageState;
  /** Its number among all messages of the broker, given at acceptance. */
  sequence = 0;
  /** When it was accepted, on the monotonic clock; for a dead letter, when it was dead-lettered. */
  acceptedAt = 0;
  /** How often it was sent, interrupted attempts included. */
  sentCount = 0;
  failedAttempts = 0;
  /** How often in a row its delivery ended with its connection. */
  interruptedCount = 0;

  /** Its position in a list of waiting messages; see collections/sequence-list.ts. */
  previous: QueuedMessage | undefined = undefined;
  next: QueuedMessage | undefined = undefined;
  returned: HeapNode<QueuedMessage> | undefined = undefined;
  /** Set while it is backing off; see backoff.ts. */
  backoff: HeapNode<QueuedMessage> | undefined = undefined;

  constructor(
    state: MessageState,
    published: { readonly id: string; readonly priority: Priority; readonly content: MessageContent },
    deadLetter?: DeadLetterFacts,
  ) {
    this.state = state;
    this.id = published.id;
    this.priority = published.priority;
    this.content = published.content;
    this.deadLetter = deadLetter;
  }

  move(event: MessageEvent): void {
    this.state = transition(this.state, event);
  }

  /** What the message counts for in the limit of bytes held. */
  get heldBytes(): number {
    return this.content.byteLength + MESSAGE_OVERHEAD_BYTES;
  }
}
