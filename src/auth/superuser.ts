// Provides a superuser at the start: makes the configured one if no user has its name, or one with a generated password if there is none at
// all. Never changes a user that exists: its password may have been changed by an admin command.

import { randomBytes } from 'node:crypto';
import { costOf } from './bcrypt-hash.ts';
import type { PasswordHashing } from './password-hashing.ts';
import { type UserStore, UserStoreError } from './user-store.ts';

export type SuperuserParts = {
  readonly username: string;
  /** Absent: none is configured. */
  readonly password?: string;
  readonly store: UserStore;
  /** Where the users are kept, for messages. */
  readonly path: string;
  readonly hashing: PasswordHashing;
  readonly cost: number;
  readonly nowSeconds: number;
};

export type SuperuserOutcome =
  | { readonly kind: 'created' }
  /** The password must be told to the operator now, and nowhere else: only its hash is kept. */
  | { readonly kind: 'generated'; readonly password: string }
  | { readonly kind: 'exists' }
  /** The user exists and has another password than the configured one. */
  | { readonly kind: 'differs' };

/** 24 characters, 144 random bits. */
const GENERATED_BYTES = 18;

/** Throws UserStoreError when a user of that name exists and is not a superuser. */
export async function provideSuperuser(parts: SuperuserParts): Promise<SuperuserOutcome> {
  const { username, password, store, path, hashing } = parts;
  const user = store.find(username);
  if (user?.isSuperuser === false && password !== undefined) {
    throw new UserStoreError(
      `the user database ${path} has a user ${username} that is not a superuser: set superuserUsername to another name`,
    );
  }
  if (password !== undefined) {
    if (user === undefined) return create(parts, password, { kind: 'created' });
    // A hash that this broker does not check fits no password.
    const isChecked = costOf(user.passwordHash) !== undefined;
    return { kind: isChecked && (await hashing.verify(password, user.passwordHash)) ? 'exists' : 'differs' };
  }
  if (store.list().some(({ isSuperuser }) => isSuperuser)) return { kind: 'exists' };
  if (user !== undefined) {
    throw new UserStoreError(
      `the user database ${path} has no superuser, and its user ${username} is not one: set superuserUsername to another name`,
    );
  }
  const generated = randomBytes(GENERATED_BYTES).toString('base64url');
  return create(parts, generated, { kind: 'generated', password: generated });
}

async function create(
  { username, store, hashing, cost, nowSeconds }: SuperuserParts,
  password: string,
  outcome: SuperuserOutcome,
): Promise<SuperuserOutcome> {
  const passwordHash = await hashing.hash(password, cost);
  store.add({ username, passwordHash, isSuperuser: true, createdAt: nowSeconds, updatedAt: nowSeconds });
  return outcome;
}
