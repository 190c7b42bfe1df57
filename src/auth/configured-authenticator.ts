// The authenticator of a broker with a token, users, or both. Implements the table of spec/auth.md, AUTH-001 to AUTH-007, AUTH-010,
// AUTH-015 and AUTH-031 to AUTH-033.

import type { Logger } from '../model/logger.ts';
import type { AuthenticationOutcome, Authenticator, Credentials } from './authenticator.ts';
import type { PasswordChecks } from './password-checks.ts';
import { principalOf } from './principal.ts';
import { isSameSecret } from './secret-comparison.ts';
import type { UserStore } from './user-store.ts';

export type AuthenticatorParts = {
  /** Absent: no token is configured. */
  readonly token?: string;
  /** Absent: authorization is off. */
  readonly users?: { readonly store: UserStore; readonly checks: PasswordChecks };
  readonly logger: Logger;
};

type Users = NonNullable<AuthenticatorParts['users']>;
type Refused = Extract<AuthenticationOutcome, { readonly kind: 'refused' }>;
type UserCheck = {
  readonly username: string;
  readonly password: string;
  readonly address: string;
  readonly cancelled: AbortSignal;
};

export class ConfiguredAuthenticator implements Authenticator {
  readonly #parts: AuthenticatorParts;

  constructor(parts: AuthenticatorParts) {
    this.#parts = parts;
  }

  check(
    { token, username, password }: Credentials,
    address: string,
    cancelled: AbortSignal,
  ): AuthenticationOutcome | Promise<AuthenticationOutcome> {
    const { users, token: expected } = this.#parts;
    if (users !== undefined && username !== undefined && password !== undefined) {
      return this.#checkUser({ username, password, address, cancelled }, users);
    }
    if (expected === undefined || token === undefined) return refuse('AUTH_REQUIRED', this.#required());
    // Without a user: all rights on queues, no admin rights.
    return isSameSecret(token, expected) ? { kind: 'accepted' } : refuse('AUTH_FAILED', 'the token is wrong');
  }

  async #checkUser(check: UserCheck, users: Users): Promise<AuthenticationOutcome> {
    try {
      return await judgeUser(check, users);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      // When the broker stops it ends the checks of connections that it has closed before.
      if (!check.cancelled.aborted)
        this.#parts.logger.error('a password could not be checked', { error: reason });
      return refuse('SERVER_ERROR', 'the broker cannot check passwords now');
    }
  }

  #required(): string {
    const kinds = [
      ...(this.#parts.token === undefined ? [] : ['authToken']),
      ...(this.#parts.users === undefined ? [] : ['authUsername and authPassword']),
    ];
    return `this broker asks for credentials: Connect needs ${kinds.join(', or ')}`;
  }
}

async function judgeUser(
  { username, ...check }: UserCheck,
  { store, checks }: Users,
): Promise<AuthenticationOutcome> {
  const hash = store.find(username)?.passwordHash;
  const outcome = await checks.verify({ ...check, hash });
  if (outcome === 'busy' || outcome === 'cancelled') {
    return refuse('RATE_LIMITED', 'too many passwords are being checked; connect again later');
  }
  // The user may have been deleted, or the password changed, while it was checked.
  const user = store.find(username);
  if (outcome === 'wrong' || user === undefined || user.passwordHash !== hash) {
    return refuse('AUTH_FAILED', 'the user name or the password is wrong');
  }
  return { kind: 'accepted', principal: principalOf(user, store) };
}

/** What the client cannot set right on this connection closes it. */
function refuse(code: Refused['code'], text: string): Refused {
  return { kind: 'refused', code, text, closes: code === 'RATE_LIMITED' || code === 'SERVER_ERROR' };
}
