// What a configuration of authentication makes: who may connect, which superuser there is, what the operator is told, and what is never said.

import { chmod, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuthenticationOutcome, Credentials } from '../auth/authenticator.ts';
import type { Configuration } from '../config/configuration.ts';
import { loadConfiguration } from '../config/load.ts';
import { newFolder } from '../storage/contract/file-place.ts';
import { openUserStore } from '../storage/sqlite/user-store.ts';
import { type Authentication, createAuthentication } from './authentication.ts';

const TOKEN = 'a token of more than thirty-two characters';
const PASSWORD = 'super-secret';

let folder: string;
let path: string;
let said: string[];
let logged: string[];

beforeEach(async () => {
  folder = await newFolder();
  path = join(folder, 'auth.db');
  [said, logged] = [[], []];
});

afterEach(() => rm(folder, { recursive: true, force: true }));

function configurationOf(flags: Readonly<Record<string, string>>): Configuration {
  const machine = { memoryBytes: 1e9, heapLimitBytes: 1e9, isTerminal: false };
  const given = new Map(Object.entries({ 'password-cost': '4', ...flags }));
  return loadConfiguration({ flags: given, environment: {}, machine }).configuration;
}

async function create(flags: Readonly<Record<string, string>>): Promise<Authentication> {
  const log = (level: string) => (sentence: string, fields?: object) =>
    void logged.push(`${level}: ${sentence} ${JSON.stringify(fields)}`);
  const logger = { error: log('error'), warn: log('warn'), info: log('info'), debug: log('debug') };
  const tools = {
    logger,
    wallNow: () => 1_795_213_571_000,
    tellOperator: (text: string) => void said.push(text),
  };
  return createAuthentication(configurationOf(flags), tools);
}

async function connect(
  { authenticator }: Authentication,
  credentials: Credentials,
): Promise<AuthenticationOutcome | undefined> {
  return authenticator?.check(credentials, '192.0.2.1', new AbortController().signal);
}

const users = (flags: Readonly<Record<string, string>> = {}) =>
  create({ 'auth-database-path': path, 'superuser-password': PASSWORD, ...flags });
const superuser: Credentials = { username: 'vibemq', password: PASSWORD };
const asSuperuser = {
  kind: 'accepted',
  principal: { username: 'vibemq', isSuperuser: true, accessList: [] },
};

describe('without authentication', () => {
  it('there is nothing that could refuse a client', async () => {
    const authentication = await create({});
    expect(authentication).toEqual({ close: expect.any(Function) });
    await authentication.close();
  });

  it('nothing is opened, whatever else is configured', async () => {
    const authentication = await users({ 'enable-authentication': 'false', 'auth-token': TOKEN });
    expect(authentication.authenticator).toBeUndefined();
    await expect(readFile(path)).rejects.toThrow('ENOENT');
  });
});

describe('with a token', () => {
  it('clients need it, and there are no admin commands [AUTH-001]', async () => {
    const authentication = await create({ 'auth-token': TOKEN });
    expect(await connect(authentication, { token: TOKEN })).toEqual({ kind: 'accepted' });
    expect(await connect(authentication, {})).toMatchObject({ code: 'AUTH_REQUIRED' });
    expect(authentication.administration).toBeUndefined();
    await authentication.close();
  });
});

describe('with users', () => {
  it('the superuser can connect, and is there after a restart [AUTH-005, AUTH-062]', async () => {
    for (let start = 1; start <= 2; start += 1) {
      const authentication = await users();
      expect(await connect(authentication, superuser)).toEqual(asSuperuser);
      expect(await connect(authentication, { ...superuser, password: 'x' })).toMatchObject({
        code: 'AUTH_FAILED',
      });
      expect(authentication.administration).toBeDefined();
      await authentication.close();
    }
    expect(logged).toEqual(['info: created the superuser {"username":"vibemq"}']);
  });

  it('an admin command makes a user that can connect, also after a restart [AUTH-035]', async () => {
    const first = await users();
    const request = { kind: 'createUser', username: 'alice', password: 'alice-password' } as const;
    const asker = { principal: asSuperuser.principal, connection: 1, address: '192.0.2.1' };
    expect(await first.administration?.carryOut(request, asker)).toEqual({ kind: 'done' });
    const alice = { username: 'alice', password: 'alice-password' };
    expect(await connect(first, alice)).toMatchObject({ kind: 'accepted' });
    await first.close();
    const second = await create({ 'auth-database-path': path });
    expect(await connect(second, alice)).toMatchObject({ principal: { username: 'alice' } });
    await second.close();
  });

  it('and a token, both are accepted [AUTH-031, AUTH-032]', async () => {
    const authentication = await users({ 'auth-token': TOKEN });
    expect(await connect(authentication, { token: TOKEN })).toEqual({ kind: 'accepted' });
    expect(await connect(authentication, superuser)).toEqual(asSuperuser);
    await authentication.close();
  });

  it('in memory, nothing is written', async () => {
    const authentication = await users({ 'auth-database-path': ':memory:' });
    expect(await connect(authentication, superuser)).toEqual(asSuperuser);
    await authentication.close();
    await expect(readFile(':memory:')).rejects.toThrow('ENOENT');
  });

  it('and no password, one is made and shown once, not in the log [AUTH-054, AUTH-062]', async () => {
    const first = await create({ 'auth-database-path': path });
    const [, password = ''] = /with the password ([\w-]{24})\n/.exec(said.join('')) ?? [];
    expect(await connect(first, { username: 'vibemq', password })).toEqual(asSuperuser);
    await first.close();
    const second = await create({ 'auth-database-path': path });
    expect(await connect(second, { username: 'vibemq', password })).toEqual(asSuperuser);
    await second.close();
    expect(said).toHaveLength(1);
    expect(logged).toEqual([]);
    expect((await readFile(path)).includes(password)).toBe(false);
  });

  it('the configured password does not change a superuser that exists, and a warning says so [AUTH-063]', async () => {
    await (await users()).close();
    logged.length = 0;
    const authentication = await users({ 'superuser-password': 'another-secret' });
    expect(await connect(authentication, superuser)).toEqual(asSuperuser);
    await authentication.close();
    expect(logged).toEqual([
      'warn: the superuser has another password than the configured one, which is not used {"username":"vibemq"}',
    ]);
  });

  it('no log line holds a password or a hash [AUTH-054]', async () => {
    await (await users()).close();
    await (await users({ 'superuser-password': 'another-secret' })).close();
    expect(logged.length).toBeGreaterThan(1);
    expect(logged.join()).not.toMatch(/secret|\$2b\$/);
  });
});

describe('a file of users', () => {
  it('that others may read causes a warning', async () => {
    await (await users()).close();
    await chmod(path, 0o644);
    logged.length = 0;
    await (await users()).close();
    expect(logged).toEqual([expect.stringMatching(/^warn: other users of this machine .*auth\.db/)]);
  });

  it('with a hash that is none causes a warning that names the user', async () => {
    const store = await openUserStore(path);
    store.add({ username: 'carol', passwordHash: 'x', isSuperuser: false, createdAt: 1, updatedAt: 1 });
    store.close();
    const authentication = await users();
    expect(logged).toContainEqual(
      'warn: no password fits the hash of this user; change its password {"username":"carol"}',
    );
    expect(await connect(authentication, { username: 'carol', password: 'x' })).toMatchObject({
      code: 'AUTH_FAILED',
    });
    await authentication.close();
  });

  it('that is none ends the start, and nothing stays open', async () => {
    await writeFile(path, 'my diary'.repeat(100));
    await expect(users()).rejects.toThrow(
      `the user database ${path} cannot be used: it is not an SQLite database`,
    );
  });

  it('whose user has the name of the superuser ends the start, and nothing stays open', async () => {
    const store = await openUserStore(path);
    store.add({ username: 'vibemq', passwordHash: 'x', isSuperuser: false, createdAt: 1, updatedAt: 1 });
    store.close();
    await expect(users()).rejects.toThrow(/user vibemq that is not a superuser/);
    const again = await openUserStore(path);
    expect(again.list()).toHaveLength(1);
    again.close();
  });
});
