// One connection's wish for the messages of one queue, and how many more it can take. It is registered under the queue's
// name and stays so while no queue of that name exists.

import type { Connection } from './connection.ts';
import { CopyBacklog } from './copy-backlog.ts';
import type { Window } from './window.ts';

export class Subscription {
  readonly connection: Connection;
  readonly queueName: string;
  readonly window: Window;
  /** Deliveries of the live queue that are not settled. */
  inFlightCount = 0;
  /** False once it was ended; deliveries that it still has may yet be acknowledged. */
  active = true;

  /** Its place among those of its queue that can take a message; see ready-ring.ts. */
  ready = false;
  previousReady: Subscription | undefined = undefined;
  nextReady: Subscription | undefined = undefined;

  /** Copies that it is to get as soon as it has room (FanOutWithAck). */
  readonly backlog = new CopyBacklog();

  constructor(connection: Connection, queueName: string, window: Window) {
    this.connection = connection;
    this.queueName = queueName;
    this.window = window;
  }

  get hasRoom(): boolean {
    return this.active && this.connection.writable && this.inFlightCount < this.window.size;
  }
}
