// The connections of the core: what one has published that waits for room, and what it has subscribed to and holds unacknowledged, joined
// under its id. Knows nothing of bytes or sockets.

import type { UserRights } from './access/access-list.ts';
import { Subscriber } from './delivery/subscriber.ts';
import type { ConnectionId } from './interface/input.ts';
import { Publisher } from './publish/publisher.ts';

export class Connection {
  readonly id: ConnectionId;
  readonly publisher: Publisher;
  readonly subscriber: Subscriber;
  /** Those of its user; undefined: it has no user, and all rights. */
  rights: UserRights | undefined = undefined;

  constructor(id: ConnectionId) {
    this.id = id;
    this.publisher = new Publisher(id);
    this.subscriber = new Subscriber(id);
  }
}

export class Connections {
  readonly #byId = new Map<ConnectionId, Connection>();

  add(id: ConnectionId): Connection {
    const connection = new Connection(id);
    this.#byId.set(id, connection);
    return connection;
  }

  find(id: ConnectionId): Connection | undefined {
    return this.#byId.get(id);
  }

  /** The connection of a command. Throws, for our own fault, when there is none. */
  get(id: ConnectionId): Connection {
    const connection = this.#byId.get(id);
    if (connection === undefined) throw new Error(`Connection ${id} is not known to the broker.`);
    return connection;
  }

  delete(id: ConnectionId): void {
    this.#byId.delete(id);
  }

  all(): Iterable<Connection> {
    return this.#byId.values();
  }
}
