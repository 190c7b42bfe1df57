// The users of open connections: the rights of each, shared by all its connections, so that a change reaches them all at once. Implements
// AUTH-027.

import type { Principal } from '../model/access.ts';
import { AccessList, type UserRights } from './access/access-list.ts';
import type { Connection } from './connections.ts';

type User = { readonly rights: UserRights; readonly connections: Set<Connection> };

export class Users {
  /** Those that are connected. */
  readonly #byName = new Map<string, User>();

  /** The connection is one of that user, whose rights are those of `principal` now. */
  join(connection: Connection, principal: Principal): void {
    const user = this.#change(principal) ?? this.#add(principal);
    user.connections.add(connection);
    connection.rights = user.rights;
  }

  /** The connection has ended. */
  leave(connection: Connection): void {
    const username = connection.rights?.accessList.principal.username;
    const user = username === undefined ? undefined : this.#byName.get(username);
    if (username === undefined || user === undefined) return;
    user.connections.delete(connection);
    if (user.connections.size === 0) this.#byName.delete(username);
  }

  /** The user has these rights from now on; returns its connections. */
  change(principal: Principal): ReadonlySet<Connection> {
    return this.#change(principal)?.connections ?? new Set();
  }

  #add(principal: Principal): User {
    const user = { rights: { accessList: new AccessList(principal) }, connections: new Set<Connection>() };
    this.#byName.set(principal.username, user);
    return user;
  }

  #change(principal: Principal): User | undefined {
    const user = this.#byName.get(principal.username);
    if (user !== undefined && user.rights.accessList.principal !== principal) {
      user.rights.accessList = new AccessList(principal);
    }
    return user;
  }
}
