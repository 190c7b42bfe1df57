// Port: decides whose connection a Connect opens. Implements the table of spec/auth.md and AUTH-001 to AUTH-007, AUTH-010 to AUTH-015 and
// AUTH-031 to AUTH-033. Knows nothing of frames.

import type { Principal } from '../model/access.ts';

/** What a Connect carries. Absent: not sent. */
export type Credentials = {
  readonly token?: string;
  readonly username?: string;
  readonly password?: string;
};

export type AuthenticationOutcome =
  /** `principal`: the user; absent: a connection with all rights on queues and no admin rights. */
  | { readonly kind: 'accepted'; readonly principal?: Principal }
  | {
      readonly kind: 'refused';
      /** SERVER_ERROR: the broker cannot check it now, so nothing is known about the credentials. */
      readonly code: 'AUTH_REQUIRED' | 'AUTH_FAILED' | 'RATE_LIMITED' | 'SERVER_ERROR';
      /** For people. Never tells whether the user exists. */
      readonly text: string;
      /** The connection is closed after the answer: with RATE_LIMITED (AUTH-015) and SERVER_ERROR. */
      readonly closes: boolean;
    };

export interface Authenticator {
  /**
   * Checks credentials. A promise when a password must be checked, which happens outside the event loop; it never rejects. The outcome is
   * valid at the moment in which it is given: the caller must use it in the same turn of the event loop, before any other change of a user.
   * @param address of the client: password checks of different addresses take turns (AUTH-014)
   * @param cancelled aborted when the connection has ended: a check that still waits is dropped, and the promise resolves with any outcome
   */
  check(
    credentials: Credentials,
    address: string,
    cancelled: AbortSignal,
  ): AuthenticationOutcome | Promise<AuthenticationOutcome>;
}
