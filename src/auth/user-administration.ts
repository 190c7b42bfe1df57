// Port: the admin commands, and what they change for open connections. One gate decides who may send which command (AUTH-038, AUTH-043,
// AUTH-045). Implements AUTH-024, AUTH-025, AUTH-035 to AUTH-053. Knows nothing of frames or JSON.

import type { AccessEntry, Principal, QueueOperation } from '../model/access.ts';

export type AdminRequest =
  | { readonly kind: 'createUser'; readonly username: string; readonly password: string }
  | { readonly kind: 'deleteUser'; readonly username: string }
  | { readonly kind: 'changePassword'; readonly username: string; readonly newPassword: string }
  | {
      readonly kind: 'grantPermission';
      readonly username: string;
      readonly queuePattern: string;
      readonly operations: readonly QueueOperation[];
    }
  | { readonly kind: 'revokePermission'; readonly username: string; readonly queuePattern: string }
  | { readonly kind: 'listUsers' }
  | { readonly kind: 'getUserPermissions'; readonly username: string };

/** Who sends an admin command. */
export type AdminAsker = {
  /** Absent: a connection without a user, which has no admin rights. */
  readonly principal: Principal | undefined;
  /** Handed back in `UserChange`. */
  readonly connection: number;
  readonly address: string;
};

export type UserSummary = {
  readonly username: string;
  readonly isSuperuser: boolean;
  /** Unix seconds. */
  readonly createdAt: number;
};

export type AdminOutcome =
  /** Carried out and stored. `users` answers listUsers, `accessList` getUserPermissions. */
  | {
      readonly kind: 'done';
      readonly users?: readonly UserSummary[];
      readonly accessList?: readonly AccessEntry[];
    }
  | {
      readonly kind: 'refused';
      readonly code:
        | 'NOT_AUTHORIZED'
        | 'INVALID_PAYLOAD'
        | 'USER_EXISTS'
        | 'USER_NOT_FOUND'
        | 'FORBIDDEN'
        | 'RATE_LIMITED'
        | 'LIMIT_EXCEEDED'
        | 'SERVER_ERROR';
      /** For people. */
      readonly text: string;
    };

/** A stored change that concerns open connections. */
export type UserChange =
  /** The rights of the user are those of `principal` now (AUTH-026, AUTH-027). */
  | { readonly kind: 'rights'; readonly principal: Principal }
  /** The connections of the user must be closed (AUTH-028, AUTH-029), except the one that asked for the change. */
  | { readonly kind: 'ended'; readonly username: string; readonly exceptConnection?: number };

export interface UserAdministration {
  /**
   * Carries out an admin command; who may do so is looked up at that moment. A promise when a password must be hashed; it never rejects.
   * Calls the listeners of `onChange` before it gives its outcome.
   */
  carryOut(request: AdminRequest, asker: AdminAsker): AdminOutcome | Promise<AdminOutcome>;
  /** The listener must not throw. */
  onChange(listener: (change: UserChange) => void): void;
}
