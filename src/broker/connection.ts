// One client's connection as the core sees it: what it has subscribed to, what it holds unacknowledged, and what it has
// published that waits for room. It knows nothing of bytes or sockets.

import type { BlockedPublish } from './blocked-publish.ts';
import type { Delivery } from './delivery.ts';
import type { ConnectionId } from './interface/input.ts';
import type { Subscription } from './subscription.ts';

export class Connection {
  readonly id: ConnectionId;
  /** By queue name; they outlive the queue of that name. */
  readonly subscriptions = new Map<string, Subscription>();
  /** Deliveries by message id, the oldest of an id first in a chain. */
  readonly inFlight = new Map<string, Delivery>();
  readonly blocked = new Set<BlockedPublish>();
  /** Blocked publishes, its own or not, that it has repeated. */
  readonly repeated = new Set<BlockedPublish>();
  /** Copies whose next attempt is due while the connection takes nothing. */
  readonly overdue = new Set<Delivery>();
  /** Positive and negative answers owed for blocked publishes, repeats included. */
  blockedCount = 0;
  blockedBytes = 0;
  /** Deliveries of live queues that are not settled. */
  inFlightCount = 0;
  /** Bytes that it was sent without a window to bound them, in the burst of that number. */
  burstBytes = 0;
  burst = 0;
  /** It was sent as much as it may be at once: whether it takes more is known when that has been written. */
  isSaturated = false;
  /** False while more frames are waiting to be sent to it than it takes. */
  writable = true;

  constructor(id: ConnectionId) {
    this.id = id;
  }
}
