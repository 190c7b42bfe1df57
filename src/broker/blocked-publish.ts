// A publish that waits for room (OverflowStrategy BlockPublisher): not accepted, not answered, in the order of arrival.
// Implements OVERFLOW (BlockPublisher).

import type { Connection } from './connection.ts';
import type { Token } from './interface/input.ts';
import type { QueuedMessage } from './message.ts';
import type { Queue } from './queue.ts';

export type Repeat = { readonly connection: Connection; readonly token: Token };

export class BlockedPublish {
  readonly queue: Queue;
  readonly message: QueuedMessage;
  readonly connection: Connection;
  readonly token: Token;
  /** Publishes of the same id that came meanwhile; they get the same answer. */
  repeats: Repeat[] = [];

  constructor(queue: Queue, message: QueuedMessage, connection: Connection, token: Token) {
    this.queue = queue;
    this.message = message;
    this.connection = connection;
    this.token = token;
  }

  /** A connection that repeated the publish has ended: it is owed no answer. */
  dropRepeatsOf(connection: Connection): void {
    this.repeats = this.repeats.filter((repeat) => repeat.connection !== connection);
  }
}
