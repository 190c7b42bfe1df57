// The table of spec/auth.md, line by line, and what happens around a check.

import { beforeEach, describe, expect, it } from 'vitest';
import { QueueOperation } from '../model/access.ts';
import { hashOf, InstantHashing, settle } from '../testing/instant-hashing.ts';
import type { AuthenticationOutcome, Credentials } from './authenticator.ts';
import { ConfiguredAuthenticator } from './configured-authenticator.ts';
import { MemoryUserStore } from './memory-user-store.ts';
import { PasswordChecks } from './password-checks.ts';
import { isSameSecret } from './secret-comparison.ts';

const ADDRESS = '192.0.2.1';
const TOKEN = 'a token of more than thirty-two characters';
const alice = { username: 'alice', password: 'alice-password' };
const entry = { queuePattern: 'orders.*', operations: [QueueOperation.Publish] };
const acceptedAlice = {
  kind: 'accepted',
  principal: { username: 'alice', isSuperuser: false, accessList: [entry] },
};

let store: MemoryUserStore;
let hashing: InstantHashing;
let logged: string[];

beforeEach(() => {
  store = new MemoryUserStore();
  const times = { createdAt: 5, updatedAt: 5 };
  store.add({ username: 'alice', passwordHash: hashOf('alice-password'), isSuperuser: false, ...times });
  store.add({ username: 'root', passwordHash: hashOf('root-password'), isSuperuser: true, ...times });
  store.grant('alice', entry);
  store.grant('root', entry);
  hashing = new InstantHashing();
  logged = [];
});

function newAuthenticator(configured: 'token' | 'users' | 'both'): ConfiguredAuthenticator {
  const checks = new PasswordChecks({ hashing, cost: 4, refusalCost: 4, maxParallelChecks: 1 });
  const log = (sentence: string, fields?: object) =>
    void logged.push(`${sentence} ${JSON.stringify(fields)}`);
  return new ConfiguredAuthenticator({
    ...(configured === 'users' ? {} : { token: TOKEN }),
    ...(configured === 'token' ? {} : { users: { store, checks } }),
    logger: { error: log, warn: log, info: log, debug: log },
  });
}

async function check(
  configured: 'token' | 'users' | 'both',
  credentials: Credentials,
): Promise<AuthenticationOutcome> {
  return newAuthenticator(configured).check(credentials, ADDRESS, new AbortController().signal);
}

const refused = (code: string) => ({ kind: 'refused', code, closes: false });

describe('a Connect with', () => {
  it('the token is accepted, with all rights on queues and no admin rights [AUTH-001, AUTH-032, AUTH-033]', async () => {
    expect(await check('token', { token: TOKEN })).toEqual({ kind: 'accepted' });
    expect(await check('both', { token: TOKEN })).toEqual({ kind: 'accepted' });
  });

  it.each(['', 'another', `${TOKEN}x`, TOKEN.slice(0, -1), TOKEN.toUpperCase()])(
    'token %j is refused [AUTH-002, AUTH-004]',
    async (token) => {
      expect(await check('token', { token })).toMatchObject(refused('AUTH_FAILED'));
      expect(await check('both', { token })).toMatchObject(refused('AUTH_FAILED'));
    },
  );

  it('name and password is that user [AUTH-005, AUTH-016]', async () => {
    expect(await check('users', alice)).toEqual(acceptedAlice);
    expect(await check('both', alice)).toEqual(acceptedAlice);
  });

  it('name and password of a superuser is that one, without an access list [AUTH-017]', async () => {
    const root = { username: 'root', password: 'root-password' };
    const principal = { username: 'root', isSuperuser: true, accessList: [] };
    expect(await check('users', root)).toEqual({ kind: 'accepted', principal });
  });

  it.each([
    { username: 'alice', password: 'root-password' },
    { username: 'alice', password: '' },
    { username: 'Alice', password: 'alice-password' },
    { username: 'nobody', password: 'alice-password' },
    { username: '', password: '' },
  ])('%j is refused, with the same text [AUTH-004, AUTH-006]', async (credentials) => {
    const outcome = { ...refused('AUTH_FAILED'), text: 'the user name or the password is wrong' };
    expect(await check('users', credentials)).toEqual(outcome);
    expect(await check('both', credentials)).toEqual(outcome);
  });

  it('a user and the token is a Connect of that user, whatever the token is [AUTH-031]', async () => {
    expect(await check('both', { ...alice, token: TOKEN })).toEqual(acceptedAlice);
    expect(await check('both', { ...alice, token: 'another' })).toEqual(acceptedAlice);
    const wrong = { username: 'alice', password: 'wrong', token: TOKEN };
    expect(await check('both', wrong)).toMatchObject(refused('AUTH_FAILED'));
  });

  it.each([
    ['token', {}, 'authToken'],
    ['users', {}, 'authUsername and authPassword'],
    ['both', {}, 'authToken, or authUsername and authPassword'],
    ['users', { username: 'alice' }, 'authUsername and authPassword'],
    ['both', { password: 'alice-password' }, 'authToken, or authUsername and authPassword'],
  ] as const)(
    'too little for %s is refused: %j needs %s [AUTH-003]',
    async (configured, credentials, needed) => {
      expect(await check(configured, credentials)).toEqual({
        ...refused('AUTH_REQUIRED'),
        text: `this broker asks for credentials: Connect needs ${needed}`,
      });
    },
  );

  it('credentials of a kind that is not configured is judged without them [AUTH-007]', async () => {
    expect(await check('token', { ...alice, token: TOKEN })).toEqual({ kind: 'accepted' });
    expect(await check('token', alice)).toMatchObject(refused('AUTH_REQUIRED'));
    expect(await check('users', { ...alice, token: 'another' })).toEqual(acceptedAlice);
    expect(await check('users', { token: TOKEN })).toMatchObject(refused('AUTH_REQUIRED'));
    expect(hashing.calls).toEqual(['verify 4']);
  });
});

describe('while the password is checked', () => {
  async function checkWhile(change: () => void): Promise<AuthenticationOutcome> {
    hashing.isHeld = true;
    const outcome = check('users', alice);
    await settle();
    change();
    hashing.release();
    return outcome;
  }

  it('a user that is deleted is refused', async () => {
    expect(await checkWhile(() => store.delete('alice'))).toMatchObject(refused('AUTH_FAILED'));
  });

  it('a user that gets another password is refused', async () => {
    const change = () => store.setPasswordHash('alice', hashOf('another'), 6);
    expect(await checkWhile(change)).toMatchObject(refused('AUTH_FAILED'));
  });

  it('a user that is granted or loses a right has the rights of the end', async () => {
    expect(await checkWhile(() => store.revoke('alice', 'orders.*'))).toEqual({
      kind: 'accepted',
      principal: { username: 'alice', isSuperuser: false, accessList: [] },
    });
  });
});

describe('the authenticator', () => {
  it('refuses and closes when too many checks wait [AUTH-015]', async () => {
    hashing.isHeld = true;
    const authenticator = newAuthenticator('users');
    const connect = () => authenticator.check(alice, ADDRESS, new AbortController().signal);
    for (let count = 0; count < 33; count += 1) void connect();
    expect(await connect()).toMatchObject({ kind: 'refused', code: 'RATE_LIMITED', closes: true });
  });

  it('gives some outcome when the connection has ended', async () => {
    const outcome = newAuthenticator('users').check(alice, ADDRESS, AbortSignal.abort());
    expect(await outcome).toMatchObject({ kind: 'refused', closes: true });
    expect(hashing.calls).toEqual([]);
  });

  it('refuses and closes when it cannot check, says why in the log, and holds no secret [AUTH-054]', async () => {
    hashing.failure = new Error('no memory for a thread');
    const outcome = await check('users', alice);
    expect(outcome).toMatchObject({ kind: 'refused', code: 'SERVER_ERROR', closes: true });
    expect(logged).toEqual(['a password could not be checked {"error":"no memory for a thread"}']);
    expect(JSON.stringify([outcome, logged])).not.toContain('alice-password');
  });

  it('says nothing of a check that fails when its connection has ended, as at the end of the broker', async () => {
    hashing.isHeld = true;
    const connection = new AbortController();
    const outcome = newAuthenticator('users').check(alice, ADDRESS, connection.signal);
    await settle();
    connection.abort();
    hashing.close();
    hashing.release();
    expect(await outcome).toMatchObject({ kind: 'refused', code: 'SERVER_ERROR' });
    expect(logged).toEqual([]);
  });

  it('never tells a secret in its refusals [AUTH-054]', async () => {
    const sent: Credentials[] = [
      { token: 'not-the-token' },
      { username: 'alice', password: 'not-the-password' },
      { username: 'nobody', password: 'not-the-password' },
      {},
    ];
    for (const credentials of sent) {
      const text = JSON.stringify(await check('both', credentials));
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain('not-the');
      expect(text).not.toContain('alice');
    }
  });
});

describe('the comparison of secrets', () => {
  it.each([
    ['', '', true],
    ['a', 'a', true],
    ['a', 'b', false],
    ['a', 'ab', false],
    ['é', 'e\u0301', false],
  ])('of %j and %j gives %s, whatever their lengths [AUTH-010]', (one, other, same) => {
    expect(isSameSecret(one, other)).toBe(same);
  });
});
