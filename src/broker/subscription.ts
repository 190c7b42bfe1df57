// One connection's wish for the messages of one queue, and how many more it can take. It is registered under the queue's
// name and stays so while no queue of that name exists.

import type { Connection } from './connection.ts';
import type { HeapNode } from './heap.ts';
import type { CopyCursor } from './owed-copies.ts';
import type { Window } from './window.ts';

export class Subscription {
  readonly connection: Connection;
  readonly queueName: string;
  readonly window: Window;
  /** Greater than the places of all that were there before it. */
  readonly place: number;
  /** Deliveries of the live queue that are not settled. */
  inFlightCount = 0;
  /** False once it was ended; deliveries that it still has may yet be acknowledged. */
  active = true;

  /** Its turn among those of its queue that can take a message; see ready-ring.ts. */
  turn: HeapNode<Subscription> | undefined = undefined;

  /** The first of the copies that it is to get as soon as it has room (FanOutWithAck), and the last; see owed-copies.ts. */
  copyCursor: CopyCursor | undefined = undefined;
  lastOwedOrder = Number.POSITIVE_INFINITY;

  constructor(connection: Connection, queueName: string, window: Window, place: number) {
    this.connection = connection;
    this.queueName = queueName;
    this.window = window;
    this.place = place;
  }

  /** Whether it is among those that can take a message, as its queue knows it. */
  get ready(): boolean {
    return this.turn !== undefined;
  }

  get hasRoom(): boolean {
    return this.active && this.connection.writable && this.inFlightCount < this.window.size;
  }
}
