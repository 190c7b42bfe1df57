// The user store in memory: forgets everything when the broker ends. For authDatabasePath :memory:, and for tests.

import type { AccessEntry } from '../model/access.ts';
import type { StoredUser, UserStore } from './user-store.ts';

export class MemoryUserStore implements UserStore {
  // Maps keep the order in which their keys were first set.
  readonly #users = new Map<string, StoredUser>();
  readonly #accessLists = new Map<string, ReadonlyMap<string, AccessEntry>>();

  find(username: string): StoredUser | undefined {
    return this.#users.get(username);
  }

  list(): readonly StoredUser[] {
    return [...this.#users.values()];
  }

  accessList(username: string): readonly AccessEntry[] {
    return [...this.#entries(username).values()];
  }

  add(user: StoredUser): void {
    this.#users.set(user.username, { ...user });
  }

  delete(username: string): void {
    this.#users.delete(username);
    this.#accessLists.delete(username);
  }

  setPasswordHash(username: string, passwordHash: string, updatedAt: number): void {
    const user = this.#users.get(username);
    if (user !== undefined) this.#users.set(username, { ...user, passwordHash, updatedAt });
  }

  grant(username: string, { queuePattern, operations }: AccessEntry): void {
    const entry = { queuePattern, operations: [...operations] };
    this.#accessLists.set(username, new Map(this.#entries(username)).set(queuePattern, entry));
  }

  revoke(username: string, queuePattern: string): void {
    const entries = new Map(this.#entries(username));
    entries.delete(queuePattern);
    this.#accessLists.set(username, entries);
  }

  close(): void {
    this.#users.clear();
    this.#accessLists.clear();
  }

  #entries(username: string): ReadonlyMap<string, AccessEntry> {
    return this.#accessLists.get(username) ?? new Map();
  }
}
