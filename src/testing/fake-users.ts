// Users for tests of the gateway and the clients: a token, users with passwords in plain text, access lists, and the rules of the port of
// administration, all at once or when the test says so. Has no hashes, no store and no limits; src/auth/ has those.

import type { AuthenticationOutcome, Authenticator, Credentials } from '../auth/authenticator.ts';
import type {
  AdminAsker,
  AdminOutcome,
  AdminRequest,
  UserAdministration,
  UserChange,
} from '../auth/user-administration.ts';
import type { AccessEntry, Principal } from '../model/access.ts';

export const SUPERUSER = { username: 'vibemq', password: 'super-secret' } as const;

type FakeUser = {
  password: string;
  readonly isSuperuser: boolean;
  readonly createdAt: number;
  accessList: readonly AccessEntry[];
};

type Refusal = Extract<AdminOutcome, { readonly kind: 'refused' }>;

export class FakeUsers implements Authenticator, UserAdministration {
  readonly #token: string | undefined;
  readonly #users = new Map<string, FakeUser>();
  readonly #listeners: ((change: UserChange) => void)[] = [];
  readonly #held: (() => void)[] = [];
  /** Whether outcomes wait for `release`, as those that need a password hash do. */
  isHolding = false;
  /** Thrown by the next call, as by a fault in the administration. */
  nextFault: Error | undefined;
  /** Checks whose connection has ended. */
  cancelledCount = 0;
  /** What was asked, in order. */
  readonly asked: (Credentials | AdminRequest)[] = [];

  constructor({ token }: { readonly token?: string } = {}) {
    this.#token = token;
    this.#add(SUPERUSER.username, SUPERUSER.password, true);
  }

  /** The number of outcomes that wait. */
  get heldCount(): number {
    return this.#held.length;
  }

  /** Gives the outcome that has waited longest. */
  release(): void {
    this.#held.shift()?.();
  }

  /** Adds a user, or replaces what it may do. */
  setUser(username: string, password: string, accessList: readonly AccessEntry[] = []): void {
    const user = this.#users.get(username) ?? this.#add(username, password, false);
    user.password = password;
    user.accessList = accessList;
  }

  check(
    credentials: Credentials,
    _address: string,
    cancelled: AbortSignal,
  ): AuthenticationOutcome | Promise<AuthenticationOutcome> {
    this.asked.push(credentials);
    cancelled.addEventListener('abort', () => {
      this.cancelledCount += 1;
    });
    return this.#now(() => this.#judge(credentials));
  }

  carryOut(request: AdminRequest, asker: AdminAsker): AdminOutcome | Promise<AdminOutcome> {
    this.asked.push(request);
    return this.#now(() => this.#refusalOf(request, asker) ?? this.#do(request, asker));
  }

  onChange(listener: (change: UserChange) => void): void {
    this.#listeners.push(listener);
  }

  #now<Outcome>(outcome: () => Outcome): Outcome | Promise<Outcome> {
    const fault = this.nextFault;
    this.nextFault = undefined;
    if (!this.isHolding) {
      if (fault !== undefined) throw fault;
      return outcome();
    }
    return new Promise((resolve, reject) => {
      this.#held.push(() => (fault === undefined ? resolve(outcome()) : reject(fault)));
    });
  }

  #judge({ token, username, password }: Credentials): AuthenticationOutcome {
    if (username === undefined && password === undefined) {
      if (token === undefined) return refusedConnect('AUTH_REQUIRED', 'Credentials are required.');
      const isRight = this.#token !== undefined && token === this.#token;
      return isRight ? { kind: 'accepted' } : refusedConnect('AUTH_FAILED', 'The credentials are wrong.');
    }
    const user = this.#users.get(username ?? '');
    if (username === undefined || user?.password !== password) {
      return refusedConnect('AUTH_FAILED', 'The credentials are wrong.');
    }
    return { kind: 'accepted', principal: this.#principalOf(username) };
  }

  #refusalOf(request: AdminRequest, { principal }: AdminAsker): Refusal | undefined {
    const name = 'username' in request ? request.username : '';
    const isOwn = request.kind === 'changePassword' || request.kind === 'getUserPermissions';
    const mayAsk = principal?.isSuperuser === true || (isOwn && principal?.username === name);
    const user = this.#users.get(name);
    if (!mayAsk) return refused('NOT_AUTHORIZED', 'Only a superuser may do this.');
    if (request.kind === 'createUser') return user && refused('USER_EXISTS', `The user ${name} exists.`);
    if (request.kind === 'deleteUser' && user?.isSuperuser) return refused('FORBIDDEN', 'It is a superuser.');
    const needsUser = request.kind !== 'listUsers' && request.kind !== 'getUserPermissions';
    return needsUser && user === undefined
      ? refused('USER_NOT_FOUND', `There is no user ${name}.`)
      : undefined;
  }

  #do(request: AdminRequest, { connection }: AdminAsker): AdminOutcome {
    switch (request.kind) {
      case 'createUser':
        this.#add(request.username, request.password, false);
        break;
      case 'deleteUser':
        this.#users.delete(request.username);
        this.#tell({ kind: 'ended', username: request.username });
        break;
      case 'changePassword':
        this.#of(request.username).password = request.newPassword;
        this.#tell({ kind: 'ended', username: request.username, exceptConnection: connection });
        break;
      case 'grantPermission': {
        const { queuePattern, operations } = request;
        this.#replace(request.username, queuePattern, [{ queuePattern, operations }]);
        break;
      }
      case 'revokePermission':
        this.#replace(request.username, request.queuePattern, []);
        break;
      case 'listUsers':
        return { kind: 'done', users: [...this.#users].map(([username, user]) => ({ username, ...user })) };
      case 'getUserPermissions':
        return { kind: 'done', accessList: this.#users.get(request.username)?.accessList ?? [] };
    }
    return { kind: 'done' };
  }

  #replace(username: string, queuePattern: string, entries: readonly AccessEntry[]): void {
    const user = this.#of(username);
    const others = user.accessList.filter((entry) => entry.queuePattern !== queuePattern);
    user.accessList = [...others, ...entries];
    this.#tell({ kind: 'rights', principal: this.#principalOf(username) });
  }

  #tell(change: UserChange): void {
    for (const listener of this.#listeners) listener(change);
  }

  #add(username: string, password: string, isSuperuser: boolean): FakeUser {
    const user = { password, isSuperuser, createdAt: 1_795_213_571, accessList: [] };
    this.#users.set(username, user);
    return user;
  }

  #of(username: string): FakeUser {
    const user = this.#users.get(username);
    if (user === undefined) throw new Error(`There is no user ${username}.`);
    return user;
  }

  #principalOf(username: string): Principal {
    const { isSuperuser, accessList } = this.#of(username);
    return { username, isSuperuser, accessList };
  }
}

function refused(code: Refusal['code'], text: string): Refusal {
  return { kind: 'refused', code, text };
}

function refusedConnect(code: 'AUTH_REQUIRED' | 'AUTH_FAILED', text: string): AuthenticationOutcome {
  return { kind: 'refused', code, text, closes: false };
}
