// The admin commands: who may send which, what they change, whom they tell, and what happens while a password is hashed.

import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { QueueOperation } from '../model/access.ts';
import { hashOf, InstantHashing, settle } from '../testing/instant-hashing.ts';
import { MemoryUserStore } from './memory-user-store.ts';
import { PasswordChecks } from './password-checks.ts';
import { StoredUserAdministration } from './stored-user-administration.ts';
import type { AdminAsker, AdminOutcome, AdminRequest, UserChange } from './user-administration.ts';
import { userLimits } from './user-limits.ts';
import { UserStoreError } from './user-store.ts';

const { Publish, Subscribe, ListQueues } = QueueOperation;
const COST = 12;
const NOW_MS = 1_795_213_571_900;
const NOW_S = 1_795_213_571;

let store: MemoryUserStore;
let hashing: InstantHashing;
let administration: StoredUserAdministration;
let changes: UserChange[];
let logged: string[];

beforeEach(() => {
  store = new MemoryUserStore();
  for (const [username, isSuperuser] of [
    ['root', true],
    ['alice', false],
    ['bob', false],
  ] as const) {
    store.add({ username, passwordHash: hashOf(username), isSuperuser, createdAt: 5, updatedAt: 5 });
  }
  hashing = new InstantHashing();
  changes = [];
  logged = [];
  administration = newAdministration();
});

function newAdministration(limits = userLimits): StoredUserAdministration {
  const log = (sentence: string, fields?: object) =>
    void logged.push(`${sentence} ${JSON.stringify(fields)}`);
  const logger = { error: log, warn: log, info: log, debug: log };
  const checks = new PasswordChecks({ hashing, cost: COST, refusalCost: COST, maxParallelChecks: 1 });
  const made = new StoredUserAdministration({ store, checks, wallNow: () => NOW_MS, logger, limits });
  made.onChange((change) => changes.push(change));
  return made;
}

/** A connection of that user; its number is 7. */
function askerOf(username: string): AdminAsker {
  const principal = { username, isSuperuser: username === 'root', accessList: [] };
  return { principal, connection: 7, address: '192.0.2.1' };
}

async function ask(username: string, request: AdminRequest): Promise<AdminOutcome> {
  return administration.carryOut(request, askerOf(username));
}

const refused = (code: string) =>
  expect.objectContaining({ kind: 'refused', code, text: expect.any(String) });

const grant = (username: string, queuePattern: string, ...operations: QueueOperation[]): AdminRequest => ({
  kind: 'grantPermission',
  username,
  queuePattern,
  operations,
});

const everyRequest: readonly AdminRequest[] = [
  { kind: 'createUser', username: 'carol', password: 'secret' },
  { kind: 'deleteUser', username: 'bob' },
  { kind: 'changePassword', username: 'bob', newPassword: 'secret' },
  grant('bob', '*', Publish),
  { kind: 'revokePermission', username: 'bob', queuePattern: '*' },
  { kind: 'listUsers' },
  { kind: 'getUserPermissions', username: 'bob' },
];

describe('the gate', () => {
  it.each(everyRequest)('lets a superuser send $kind [AUTH-045]', async (request) => {
    expect(await ask('root', request)).toMatchObject({ kind: 'done' });
  });

  it.each(everyRequest)('lets no other user send $kind about others [AUTH-045]', async (request) => {
    const before = JSON.stringify([store.list(), store.accessList('bob')]);
    expect(await ask('alice', request)).toEqual(refused('NOT_AUTHORIZED'));
    expect(JSON.stringify([store.list(), store.accessList('bob')])).toBe(before);
    expect(changes).toEqual([]);
    expect(hashing.calls).toEqual([]);
  });

  it.each([
    { kind: 'deleteUser', username: 'alice' },
    grant('alice', '*', Publish),
    { kind: 'revokePermission', username: 'alice', queuePattern: '*' },
    { kind: 'createUser', username: 'alice', password: 'secret' },
  ] as const)('lets a user not send $kind about itself [AUTH-045]', async (request) => {
    expect(await ask('alice', request)).toEqual(refused('NOT_AUTHORIZED'));
  });

  it('tells a user from one whose name differs in case [AUTH-045]', async () => {
    store.add({
      username: 'ALICE',
      passwordHash: hashOf('x'),
      isSuperuser: false,
      createdAt: 5,
      updatedAt: 5,
    });
    const change: AdminRequest = { kind: 'changePassword', username: 'ALICE', newPassword: 'new' };
    expect(await ask('alice', change)).toEqual(refused('NOT_AUTHORIZED'));
    const rights: AdminRequest = { kind: 'getUserPermissions', username: 'ALICE' };
    expect(await ask('alice', rights)).toEqual(refused('NOT_AUTHORIZED'));
    expect(store.find('ALICE')?.passwordHash).toBe(hashOf('x'));
  });

  it('lets a user change its own password and see its own rights [AUTH-038, AUTH-043]', async () => {
    store.grant('alice', { queuePattern: 'a.*', operations: [Publish] });
    const change: AdminRequest = { kind: 'changePassword', username: 'alice', newPassword: 'new' };
    expect(await ask('alice', change)).toEqual({ kind: 'done' });
    expect(await ask('alice', { kind: 'getUserPermissions', username: 'alice' })).toEqual({
      kind: 'done',
      accessList: [{ queuePattern: 'a.*', operations: [Publish] }],
    });
  });

  it.each(everyRequest)('lets nobody without a user send $kind [AUTH-033]', async (request) => {
    const asker = { principal: undefined, connection: 7, address: '192.0.2.1' };
    expect(await administration.carryOut(request, asker)).toEqual(refused('NOT_AUTHORIZED'));
  });

  it('looks up the user, and does not believe what the connection was', async () => {
    const principal = { username: 'alice', isSuperuser: true, accessList: [] };
    const asker = { principal, connection: 7, address: '192.0.2.1' };
    expect(await administration.carryOut({ kind: 'listUsers' }, asker)).toEqual(refused('NOT_AUTHORIZED'));
    expect(await ask('deleted', { kind: 'listUsers' })).toEqual(refused('NOT_AUTHORIZED'));
  });
});

describe('createUser', () => {
  const create = (username: string, password = 'secret'): AdminRequest => ({
    kind: 'createUser',
    username,
    password,
  });

  it('stores a user without rights, with a hash of the configured cost [AUTH-035, AUTH-055]', async () => {
    expect(await ask('root', create('carol'))).toEqual({ kind: 'done' });
    expect(store.find('carol')).toEqual({
      username: 'carol',
      passwordHash: hashOf('secret', COST),
      isSuperuser: false,
      createdAt: NOW_S,
      updatedAt: NOW_S,
    });
    expect(store.accessList('carol')).toEqual([]);
    expect(changes).toEqual([]);
  });

  it('refuses a user that exists; the case of letters counts [AUTH-048]', async () => {
    expect(await ask('root', create('alice'))).toEqual(refused('USER_EXISTS'));
    expect(store.find('alice')?.passwordHash).toBe(hashOf('alice'));
    expect(await ask('root', create('Alice'))).toEqual({ kind: 'done' });
  });

  it.each(['x', 'x'.repeat(72), 'é'.repeat(36), ' ', '\0'])(
    'accepts password %j [AUTH-051]',
    async (password) => {
      expect(await ask('root', create('carol', password))).toEqual({ kind: 'done' });
      expect(store.find('carol')?.passwordHash).toBe(hashOf(password, COST));
    },
  );

  it.each(['', 'x'.repeat(73), 'é'.repeat(37), '\ud800'])(
    'refuses password %j [AUTH-052]',
    async (password) => {
      expect(await ask('root', create('carol', password))).toEqual(refused('INVALID_PAYLOAD'));
      expect(store.find('carol')).toBeUndefined();
      expect(hashing.calls).toEqual([]);
    },
  );

  it.each(['', 'a b', '*', 'x'.repeat(65)])('refuses the name %j [AUTH-047, AUTH-053]', async (username) => {
    expect(await ask('root', create(username))).toEqual(refused('INVALID_PAYLOAD'));
  });

  it.each(['x', 'Ünï-1_2.3', 'x'.repeat(64)])('accepts the name %j [AUTH-053]', async (username) => {
    expect(await ask('root', create(username))).toEqual({ kind: 'done' });
  });

  it('refuses one user too many, also when others were made meanwhile [AUTH-060]', async () => {
    administration = newAdministration({ ...userLimits, maxUsers: 4 });
    const [first, second] = [ask('root', create('c')), ask('root', create('d'))];
    expect(await first).toEqual({ kind: 'done' });
    expect(await second).toEqual(refused('LIMIT_EXCEEDED'));
    expect(await ask('root', create('e'))).toEqual(refused('LIMIT_EXCEEDED'));
    expect(store.list()).toHaveLength(4);
  });
});

describe('deleteUser', () => {
  it('deletes the user and its rights, and ends its connections [AUTH-028, AUTH-036]', async () => {
    store.grant('alice', { queuePattern: '*', operations: [Publish] });
    expect(await ask('root', { kind: 'deleteUser', username: 'alice' })).toEqual({ kind: 'done' });
    expect(store.find('alice')).toBeUndefined();
    expect(store.accessList('alice')).toEqual([]);
    expect(changes).toEqual([{ kind: 'ended', username: 'alice' }]);
  });

  it('leaves nothing to a user of the same name that is created later [AUTH-016]', async () => {
    store.grant('bob', { queuePattern: 'a.*', operations: [Publish] });
    await ask('root', { kind: 'deleteUser', username: 'bob' });
    await ask('root', { kind: 'createUser', username: 'bob', password: 'another' });
    expect(await ask('root', { kind: 'getUserPermissions', username: 'bob' })).toEqual({
      kind: 'done',
      accessList: [],
    });
  });

  it('refuses to delete a superuser [AUTH-050]', async () => {
    expect(await ask('root', { kind: 'deleteUser', username: 'root' })).toEqual(refused('FORBIDDEN'));
    expect(store.find('root')).toBeDefined();
    expect(changes).toEqual([]);
  });
});

describe('changePassword', () => {
  const change = (username: string, newPassword = 'new'): AdminRequest => ({
    kind: 'changePassword',
    username,
    newPassword,
  });

  it('stores the new password, and ends all connections of the user but the one that asked [AUTH-029, AUTH-037]', async () => {
    expect(await ask('alice', change('alice'))).toEqual({ kind: 'done' });
    expect(store.find('alice')).toMatchObject({
      passwordHash: hashOf('new', COST),
      createdAt: 5,
      updatedAt: NOW_S,
    });
    expect(changes).toEqual([{ kind: 'ended', username: 'alice', exceptConnection: 7 }]);
  });

  it.each(['', 'x'.repeat(73)])('refuses password %j [AUTH-052]', async (password) => {
    expect(await ask('alice', change('alice', password))).toEqual(refused('INVALID_PAYLOAD'));
    expect(store.find('alice')?.passwordHash).toBe(hashOf('alice'));
    expect(changes).toEqual([]);
  });
});

describe('grantPermission', () => {
  it('adds an entry, once for each operation, and tells the new rights [AUTH-027, AUTH-039]', async () => {
    expect(await ask('root', grant('alice', 'a.*', Publish, Subscribe, Publish))).toEqual({ kind: 'done' });
    const accessList = [{ queuePattern: 'a.*', operations: [Publish, Subscribe] }];
    expect(store.accessList('alice')).toEqual(accessList);
    expect(changes).toEqual([
      { kind: 'rights', principal: { username: 'alice', isSuperuser: false, accessList } },
    ]);
  });

  it('replaces the operations of an entry with the same pattern, and of no other [AUTH-024]', async () => {
    await ask('root', grant('alice', 'a', Publish));
    await ask('root', grant('alice', 'A', Publish));
    await ask('root', grant('alice', 'a', ListQueues));
    expect(store.accessList('alice')).toEqual([
      { queuePattern: 'a', operations: [ListQueues] },
      { queuePattern: 'A', operations: [Publish] },
    ]);
  });

  it('that changes nothing tells nobody', async () => {
    await ask('root', grant('alice', 'a', Publish));
    await ask('root', grant('alice', 'a', Publish));
    expect(changes).toHaveLength(1);
  });

  it('to a superuser is kept and changes no rights [AUTH-017]', async () => {
    expect(await ask('root', grant('root', 'a', Publish))).toEqual({ kind: 'done' });
    expect(store.accessList('root')).toHaveLength(1);
    expect(changes).toEqual([]);
  });

  it.each(['', 'x'.repeat(257)])('refuses the pattern %j [AUTH-047]', async (pattern) => {
    expect(await ask('root', grant('alice', pattern, Publish))).toEqual(refused('INVALID_PAYLOAD'));
    expect(store.accessList('alice')).toEqual([]);
  });

  it('refuses an entry without operations [AUTH-047]', async () => {
    expect(await ask('root', grant('alice', 'a'))).toEqual(refused('INVALID_PAYLOAD'));
  });

  it('refuses one entry too many, but still replaces one [AUTH-061]', async () => {
    administration = newAdministration({ ...userLimits, maxEntriesPerUser: 2 });
    for (const pattern of ['a', 'b']) await ask('root', grant('alice', pattern, Publish));
    expect(await ask('root', grant('alice', 'c', Publish))).toEqual(refused('LIMIT_EXCEEDED'));
    expect(await ask('root', grant('alice', 'b', Subscribe))).toEqual({ kind: 'done' });
    expect(await ask('root', grant('bob', 'c', Publish))).toEqual({ kind: 'done' });
    expect(store.accessList('alice')).toHaveLength(2);
  });
});

describe('revokePermission', () => {
  const revoke = (queuePattern: string): AdminRequest => ({
    kind: 'revokePermission',
    username: 'alice',
    queuePattern,
  });

  it('removes the entry of the pattern and tells the rights that are left [AUTH-027, AUTH-040]', async () => {
    for (const pattern of ['a', 'b']) await ask('root', grant('alice', pattern, Publish));
    expect(await ask('root', revoke('a'))).toEqual({ kind: 'done' });
    const accessList = [{ queuePattern: 'b', operations: [Publish] }];
    expect(store.accessList('alice')).toEqual(accessList);
    expect(changes.at(-1)).toMatchObject({ kind: 'rights', principal: { accessList } });
  });

  it('leaves the entries whose patterns begin with that one [AUTH-040]', async () => {
    for (const pattern of ['a', 'a.b', 'a*']) await ask('root', grant('alice', pattern, Publish));
    await ask('root', revoke('a'));
    expect(store.accessList('alice').map(({ queuePattern }) => queuePattern)).toEqual(['a.b', 'a*']);
  });

  it('leaves the entries whose patterns differ in case [AUTH-040]', async () => {
    for (const queuePattern of ['x.*', 'X.*']) store.grant('alice', { queuePattern, operations: [Publish] });
    await ask('root', revoke('X.*'));
    expect(store.accessList('alice').map(({ queuePattern }) => queuePattern)).toContain('x.*');
    expect(store.accessList('alice').map(({ queuePattern }) => queuePattern)).not.toContain('X.*');
  });

  it('of a pattern without an entry is done, and tells nobody [AUTH-025]', async () => {
    expect(await ask('root', revoke('a'))).toEqual({ kind: 'done' });
    expect(changes).toEqual([]);
  });
});

describe('what is asked for', () => {
  it('is every user, without hashes [AUTH-041]', async () => {
    expect(await ask('root', { kind: 'listUsers' })).toEqual({
      kind: 'done',
      users: ['root', 'alice', 'bob'].map((username) => ({
        username,
        isSuperuser: username === 'root',
        createdAt: 5,
      })),
    });
  });

  it('is every one of many users [AUTH-041]', async () => {
    for (const count of Array.from({ length: 30 }).keys())
      store.add({ username: `u${count}`, passwordHash: '', isSuperuser: false, createdAt: 5, updatedAt: 5 });
    const answer = await ask('root', { kind: 'listUsers' });
    expect(answer).toMatchObject({ kind: 'done', users: { length: 33 } });
  });

  it('is the access list of a user, empty for an unknown one [AUTH-042, AUTH-044]', async () => {
    await ask('root', grant('alice', 'a', Subscribe, Publish));
    expect(await ask('root', { kind: 'getUserPermissions', username: 'alice' })).toEqual({
      kind: 'done',
      accessList: [{ queuePattern: 'a', operations: [Subscribe, Publish] }],
    });
    expect(await ask('root', { kind: 'getUserPermissions', username: 'nobody' })).toEqual({
      kind: 'done',
      accessList: [],
    });
  });
});

describe('an unknown user', () => {
  it.each([
    { kind: 'deleteUser', username: 'nobody' },
    { kind: 'changePassword', username: 'nobody', newPassword: 'secret' },
    grant('nobody', '*', Publish),
    { kind: 'revokePermission', username: 'nobody', queuePattern: '*' },
    { kind: 'deleteUser', username: 'x'.repeat(1_000) },
  ] as const)('is reported by $kind [AUTH-049]', async (request) => {
    const outcome = await ask('root', request);
    expect(outcome).toEqual(refused('USER_NOT_FOUND'));
    expect(JSON.stringify(outcome).length).toBeLessThan(200);
  });
});

describe('while a password is hashed', () => {
  const createCarol: AdminRequest = { kind: 'createUser', username: 'carol', password: 'secret' };
  const changeBob: AdminRequest = { kind: 'changePassword', username: 'bob', newPassword: 'secret' };

  async function askWhile(request: AdminRequest, user: string, change: () => void): Promise<AdminOutcome> {
    hashing.isHeld = true;
    const outcome = ask(user, request);
    await settle();
    change();
    hashing.release();
    return outcome;
  }

  it('others are served [AUTH-012]', async () => {
    const outcome = await askWhile(createCarol, 'root', () => {
      expect(administration.carryOut({ kind: 'listUsers' }, askerOf('root'))).toMatchObject({ kind: 'done' });
    });
    expect(outcome).toEqual({ kind: 'done' });
  });

  it('the same user may be made by another command [AUTH-048]', async () => {
    const made = {
      username: 'carol',
      passwordHash: hashOf('first'),
      isSuperuser: false,
      createdAt: 6,
      updatedAt: 6,
    };
    expect(await askWhile(createCarol, 'root', () => store.add(made))).toEqual(refused('USER_EXISTS'));
    expect(store.find('carol')).toEqual(made);
  });

  it('the user may be deleted [AUTH-049]', async () => {
    const outcome = await askWhile(changeBob, 'root', () => store.delete('bob'));
    expect(outcome).toEqual(refused('USER_NOT_FOUND'));
    expect(store.find('bob')).toBeUndefined();
  });

  it.each([
    ['root', createCarol, 'carol'],
    ['root', changeBob, 'bob'],
    ['bob', changeBob, 'bob'],
  ] as const)(
    '%s may get another password, which ends what it began: $kind',
    async (user, request, about) => {
      const change = () => store.setPasswordHash(user, hashOf('other'), 6);
      expect(await askWhile(request, user, change)).toEqual(refused('NOT_AUTHORIZED'));
      expect(store.find(about)?.passwordHash).not.toBe(hashOf('secret', COST));
      expect(changes).toEqual([]);
    },
  );

  it('nothing is done when too many wait [AUTH-015]', async () => {
    hashing.isHeld = true;
    for (let count = 0; count < 33; count += 1) void ask('root', changeBob);
    expect(await ask('root', createCarol)).toEqual(refused('RATE_LIMITED'));
    expect(await ask('root', changeBob)).toEqual(refused('RATE_LIMITED'));
  });
});

describe('a command that fails', () => {
  const failing: readonly AdminRequest[] = everyRequest.filter(({ kind }) => kind !== 'changePassword');

  it.each(failing)('for the store is answered, and said in the log: $kind', async (request) => {
    const fail = () => {
      throw new UserStoreError('the user database auth.db cannot be written: the disk is full');
    };
    Object.assign(store, {
      add: fail,
      delete: fail,
      grant: fail,
      revoke: fail,
      list: fail,
      accessList: fail,
    });
    expect(await ask('root', request)).toEqual(refused('SERVER_ERROR'));
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('auth.db cannot be written: the disk is full');
    expect(changes).toEqual([]);
  });

  it('for the hashing is answered, and holds no secret [AUTH-054]', async () => {
    hashing.failure = new Error('the thread has ended');
    const outcome = await ask('root', { kind: 'changePassword', username: 'bob', newPassword: 'secret-new' });
    expect(outcome).toEqual(refused('SERVER_ERROR'));
    expect(JSON.stringify([outcome, logged])).not.toContain('secret-new');
  });
});

describe('the limits', () => {
  it('are those of spec/tables/limits.yaml [AUTH-060, AUTH-061]', () => {
    const file = new URL('../../spec/tables/limits.yaml', import.meta.url);
    const { server } = parse(readFileSync(file, 'utf8')) as {
      server: readonly { readonly name: string; readonly default: unknown }[];
    };
    for (const [name, limit] of Object.entries(userLimits)) {
      expect(server.find((row) => row.name === name)?.default, name).toBe(limit);
    }
  });
});
