// A connection as a publisher, and the publishes of it that wait for room (OverflowStrategy BlockPublisher): not accepted, not answered.
// Implements OVERFLOW-010, OVERFLOW-020, OVERFLOW-021, PUBLISH-007 and PUBLISH-024.

import { SmallSet } from '../collections/small-set.ts';
import type { ConnectionId, Token } from '../interface/input.ts';
import type { QueuedMessage } from '../queue/message.ts';
import type { Queue } from '../queue/queue.ts';

export class Publisher {
  readonly id: ConnectionId;
  readonly blocked = new SmallSet<BlockedPublish>();
  /** Blocked publishes, its own or not, that it has repeated. */
  readonly repeated = new SmallSet<BlockedPublish>();
  /** Answers owed for blocked publishes, repeats included. */
  blockedCount = 0;
  blockedBytes = 0;
  /** What it has published to queues that are behind, and since when that is counted; see pacing.ts. */
  aheadCount = 0;
  aheadSince = Number.NEGATIVE_INFINITY;

  constructor(id: ConnectionId) {
    this.id = id;
  }
}

export type Repeat = { readonly publisher: Publisher; readonly token: Token };

export class BlockedPublish {
  readonly queue: Queue;
  readonly message: QueuedMessage;
  readonly publisher: Publisher;
  readonly token: Token;
  /** Later publishes of the same id; they get the same answer. */
  repeats: Repeat[] = [];

  constructor(queue: Queue, message: QueuedMessage, { publisher, token }: Repeat) {
    this.queue = queue;
    this.message = message;
    this.publisher = publisher;
    this.token = token;
  }

  /** A connection that repeated the publish has ended: it gets no answer. Returns how many repeats that were. */
  dropRepeatsOf(publisher: Publisher): number {
    const before = this.repeats.length;
    this.repeats = this.repeats.filter((repeat) => repeat.publisher !== publisher);
    return before - this.repeats.length;
  }
}
