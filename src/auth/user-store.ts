// Port: keeps users and their access lists. Synchronous: a call that returns has stored its change durably, if the store is durable.
// Implemented in memory and on SQLite (storage/sqlite/user-store.ts); both pass the suite of testing/user-store-contract.ts. Compares user
// names and patterns byte by byte. Implements AUTH-024, AUTH-025 and AUTH-055.

import type { AccessEntry } from '../model/access.ts';

export type StoredUser = {
  readonly username: string;
  /** A bcrypt hash (`$2a$`, `$2b$` or `$2y$`). */
  readonly passwordHash: string;
  readonly isSuperuser: boolean;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly updatedAt: number;
};

/** All methods throw UserStoreError when the store cannot be read or written; nothing has changed then. */
export interface UserStore {
  find(username: string): StoredUser | undefined;
  /** In the order of their creation. */
  list(): readonly StoredUser[];
  /** In the order in which the patterns were first granted; empty for an unknown user. */
  accessList(username: string): readonly AccessEntry[];
  /** Must not be called for a user that exists. */
  add(user: StoredUser): void;
  /** Deletes the user with its access list. Does nothing for an unknown user. */
  delete(username: string): void;
  setPasswordHash(username: string, passwordHash: string, updatedAt: number): void;
  /** Replaces the operations of an entry with the same pattern (AUTH-024). */
  grant(username: string, entry: AccessEntry, createdAt: number): void;
  /** Does nothing when there is no such entry (AUTH-025). */
  revoke(username: string, queuePattern: string): void;
  close(): void;
}

/** The user store cannot be opened, read or written. The message names the file and the reason. */
export class UserStoreError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UserStoreError';
  }
}
