// Composes authentication for tests as src/server/authentication.ts does for the command, but with users in memory and without the work of hashing,
// which no virtual time could wait for.

import type { Authenticator } from '../auth/authenticator.ts';
import { ConfiguredAuthenticator } from '../auth/configured-authenticator.ts';
import { MemoryUserStore } from '../auth/memory-user-store.ts';
import { PasswordChecks } from '../auth/password-checks.ts';
import { StoredUserAdministration } from '../auth/stored-user-administration.ts';
import type { UserAdministration } from '../auth/user-administration.ts';
import { type UserLimits, userLimits } from '../auth/user-limits.ts';
import type { Clock } from '../model/environment.ts';
import type { Logger } from '../model/logger.ts';
import { hashOf, InstantHashing } from './instant-hashing.ts';

export type TestedCredentials = {
  /** Absent: no token is configured. */
  readonly token?: string;
  /** Absent: there are no users. */
  readonly superuser?: { readonly username: string; readonly password: string };
  /** Absent: the limits of the broker. */
  readonly limits?: UserLimits;
};

export type TestedTools = {
  readonly logger: Logger;
  readonly clock: Clock;
  /** For a test that holds checks back; one is made at a time. */
  readonly hashing?: InstantHashing | undefined;
};

export type TestedAuthentication = {
  readonly authenticator: Authenticator;
  /** Absent when there are no users. */
  readonly administration?: UserAdministration;
};

export function testedAuthentication(
  { token, superuser, limits = userLimits }: TestedCredentials,
  { logger, clock, hashing = new InstantHashing() }: TestedTools,
): TestedAuthentication {
  const shared = token === undefined ? {} : { token };
  if (superuser === undefined) {
    return { authenticator: new ConfiguredAuthenticator({ ...shared, logger }) };
  }
  const store = new MemoryUserStore();
  const createdAt = Math.floor(clock.wallNow() / 1000);
  const passwordHash = hashOf(superuser.password);
  store.add({
    username: superuser.username,
    passwordHash,
    isSuperuser: true,
    createdAt,
    updatedAt: createdAt,
  });
  const checks = new PasswordChecks({
    hashing,
    cost: 4,
    refusalCost: 4,
    maxParallelChecks: 1,
  });
  return {
    authenticator: new ConfiguredAuthenticator({ ...shared, users: { store, checks }, logger }),
    administration: new StoredUserAdministration({ store, checks, wallNow: clock.wallNow, logger, limits }),
  };
}
