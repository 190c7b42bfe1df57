// The admin commands on a user store. One gate decides who may send which; after a password was hashed, it decides again. Implements AUTH-024,
// AUTH-025, AUTH-035 to AUTH-045, AUTH-047 to AUTH-053, AUTH-060 and AUTH-061.

import type { AccessEntry } from '../model/access.ts';
import { isPassword, isQueuePattern, isUserName } from '../model/credential-rules.ts';
import type { Logger } from '../model/logger.ts';
import type { PasswordChecks } from './password-checks.ts';
import { principalOf } from './principal.ts';
import type {
  AdminAsker,
  AdminOutcome,
  AdminRequest,
  UserAdministration,
  UserChange,
} from './user-administration.ts';
import { type UserLimits, userLimits } from './user-limits.ts';
import type { StoredUser, UserStore } from './user-store.ts';

export type AdministrationParts = {
  readonly store: UserStore;
  readonly checks: PasswordChecks;
  /** Milliseconds since 1970. */
  readonly wallNow: () => number;
  readonly logger: Logger;
  readonly limits?: UserLimits;
};

type Refused = Extract<AdminOutcome, { readonly kind: 'refused' }>;
type RequestOf<Kind extends AdminRequest['kind']> = Extract<AdminRequest, { readonly kind: Kind }>;

const DONE: AdminOutcome = { kind: 'done' };
const NOT_AUTHORIZED = refuse('NOT_AUTHORIZED', 'only a superuser may do that');
const BUSY = refuse('RATE_LIMITED', 'too many passwords are being checked; send the command again later');
const BAD_PASSWORD = refuse('INVALID_PAYLOAD', 'a password has 1 to 72 bytes');

export class StoredUserAdministration implements UserAdministration {
  readonly #parts: AdministrationParts;
  readonly #store: UserStore;
  readonly #limits: UserLimits;
  readonly #listeners: ((change: UserChange) => void)[] = [];

  constructor(parts: AdministrationParts) {
    this.#parts = parts;
    this.#store = parts.store;
    this.#limits = parts.limits ?? userLimits;
  }

  onChange(listener: (change: UserChange) => void): void {
    this.#listeners.push(listener);
  }

  carryOut(request: AdminRequest, asker: AdminAsker): AdminOutcome | Promise<AdminOutcome> {
    try {
      const outcome = this.#carryOut(request, asker);
      return outcome instanceof Promise ? outcome.catch((error) => this.#failed(error)) : outcome;
    } catch (error) {
      return this.#failed(error);
    }
  }

  #carryOut(request: AdminRequest, asker: AdminAsker): AdminOutcome | Promise<AdminOutcome> {
    const asking = this.#userOf(asker);
    if (asking === undefined || !mayDo(asking, request)) return NOT_AUTHORIZED;
    switch (request.kind) {
      case 'createUser':
        return this.#createUser(request, asker, asking);
      case 'changePassword':
        return this.#changePassword(request, asker, asking);
      case 'deleteUser':
        return this.#deleteUser(request);
      case 'grantPermission':
        return this.#grant(request);
      case 'revokePermission':
        return this.#revoke(request);
      case 'listUsers':
        return { kind: 'done', users: this.#store.list().map(summaryOf) };
      case 'getUserPermissions':
        return { kind: 'done', accessList: this.#store.accessList(request.username) };
    }
  }

  async #createUser(
    request: RequestOf<'createUser'>,
    asker: AdminAsker,
    asking: StoredUser,
  ): Promise<AdminOutcome> {
    const { username, password } = request;
    const refused = this.#refusesNewUser(username) ?? (isPassword(password) ? undefined : BAD_PASSWORD);
    if (refused !== undefined) return refused;
    const passwordHash = await this.#parts.checks.hash(password, asker.address);
    if (passwordHash === undefined) return BUSY;
    if (!this.#isStill(asking)) return NOT_AUTHORIZED;
    const refusedNow = this.#refusesNewUser(username);
    if (refusedNow !== undefined) return refusedNow;
    const now = this.#nowSeconds();
    this.#store.add({ username, passwordHash, isSuperuser: false, createdAt: now, updatedAt: now });
    return DONE;
  }

  async #changePassword(
    { username, newPassword }: RequestOf<'changePassword'>,
    asker: AdminAsker,
    asking: StoredUser,
  ): Promise<AdminOutcome> {
    if (this.#store.find(username) === undefined) return noSuchUser(username);
    if (!isPassword(newPassword)) return BAD_PASSWORD;
    const passwordHash = await this.#parts.checks.hash(newPassword, asker.address);
    if (passwordHash === undefined) return BUSY;
    if (!this.#isStill(asking)) return NOT_AUTHORIZED;
    if (this.#store.find(username) === undefined) return noSuchUser(username);
    this.#store.setPasswordHash(username, passwordHash, this.#nowSeconds());
    this.#tell({ kind: 'ended', username, exceptConnection: asker.connection });
    return DONE;
  }

  #deleteUser({ username }: RequestOf<'deleteUser'>): AdminOutcome {
    const user = this.#store.find(username);
    if (user === undefined) return noSuchUser(username);
    if (user.isSuperuser) return refuse('FORBIDDEN', 'a superuser cannot be deleted');
    this.#store.delete(username);
    this.#tell({ kind: 'ended', username });
    return DONE;
  }

  #grant({ username, queuePattern, operations }: RequestOf<'grantPermission'>): AdminOutcome {
    const user = this.#store.find(username);
    if (user === undefined) return noSuchUser(username);
    const before = this.#store.accessList(username);
    const entry = { queuePattern, operations: [...new Set(operations)] };
    const refused = this.#refusesEntry(entry, before);
    if (refused !== undefined) return refused;
    this.#store.grant(username, entry, this.#nowSeconds());
    this.#tellRights(user, before);
    return DONE;
  }

  #revoke({ username, queuePattern }: RequestOf<'revokePermission'>): AdminOutcome {
    const user = this.#store.find(username);
    if (user === undefined) return noSuchUser(username);
    const before = this.#store.accessList(username);
    this.#store.revoke(username, queuePattern);
    this.#tellRights(user, before);
    return DONE;
  }

  #refusesNewUser(username: string): Refused | undefined {
    if (!isUserName(username)) {
      const allowed = 'a user name has 1 to 64 letters, digits, -, _ and full stops';
      return refuse('INVALID_PAYLOAD', allowed);
    }
    if (this.#store.find(username) !== undefined) {
      return refuse('USER_EXISTS', `user ${username} exists already`);
    }
    const { maxUsers } = this.#limits;
    if (this.#store.list().length < maxUsers) return undefined;
    return refuse('LIMIT_EXCEEDED', `there are ${maxUsers} users, which is the limit`);
  }

  #refusesEntry(
    { queuePattern, operations }: AccessEntry,
    before: readonly AccessEntry[],
  ): Refused | undefined {
    if (!isQueuePattern(queuePattern)) {
      return refuse('INVALID_PAYLOAD', 'queuePattern has 1 to 256 characters');
    }
    if (operations.length === 0) {
      return refuse('INVALID_PAYLOAD', 'operations is empty; AdminRevokePermission removes an entry');
    }
    const { maxEntriesPerUser } = this.#limits;
    const isNew = !before.some((entry) => entry.queuePattern === queuePattern);
    if (!isNew || before.length < maxEntriesPerUser) return undefined;
    return refuse('LIMIT_EXCEEDED', `the user has ${maxEntriesPerUser} entries, which is the limit`);
  }

  /** The user of a connection, as it is stored now. */
  #userOf({ principal }: AdminAsker): StoredUser | undefined {
    return principal === undefined ? undefined : this.#store.find(principal.username);
  }

  /** Whether the user is the same as before: neither deleted nor given another password, which ends its connections. */
  #isStill({ username, passwordHash }: StoredUser): boolean {
    return this.#store.find(username)?.passwordHash === passwordHash;
  }

  #tellRights(user: StoredUser, before: readonly AccessEntry[]): void {
    const principal = principalOf(user, this.#store);
    if (user.isSuperuser || JSON.stringify(principal.accessList) === JSON.stringify(before)) return;
    this.#tell({ kind: 'rights', principal });
  }

  #tell(change: UserChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  #failed(error: unknown): AdminOutcome {
    const reason = error instanceof Error ? error.message : String(error);
    this.#parts.logger.error('an admin command failed', { error: reason });
    return refuse('SERVER_ERROR', 'the broker cannot change its users now');
  }

  #nowSeconds(): number {
    return Math.floor(this.#parts.wallNow() / 1_000);
  }
}

/** The gate: a superuser may do everything, another user what AUTH-038 and AUTH-043 allow. */
function mayDo(user: StoredUser, request: AdminRequest): boolean {
  if (user.isSuperuser) return true;
  const isOwn = 'username' in request && request.username === user.username;
  return isOwn && (request.kind === 'changePassword' || request.kind === 'getUserPermissions');
}

function summaryOf({ username, isSuperuser, createdAt }: StoredUser) {
  return { username, isSuperuser, createdAt };
}

function noSuchUser(username: string): Refused {
  // A name of any length may come here; an Error carries no more than a user could have.
  return refuse(
    'USER_NOT_FOUND',
    isUserName(username) ? `there is no user ${username}` : 'there is no such user',
  );
}

function refuse(code: Refused['code'], text: string): Refused {
  return { kind: 'refused', code, text };
}
