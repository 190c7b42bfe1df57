// The settings of authentication: when it is on, where secrets come from, and that none is ever shown.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GivenConfiguration, loadGiven, problemsOf } from '../testing/tested-configuration.ts';
import type { LoadedConfiguration } from './configuration.ts';
import { readSecretFile } from './secret-file.ts';

const TOKEN = 'a token of more than thirty-two characters';
const PASSWORD = 'super-secret';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'truemq-config-'));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

function load(given: GivenConfiguration): LoadedConfiguration {
  return loadGiven({ ...given, readSecretFile });
}

async function newFile(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

const chosen = (given: GivenConfiguration) => {
  const { enableAuthentication, authToken, superuserPassword, authDatabasePath } = load(given).configuration;
  return { enableAuthentication, authToken, superuserPassword, authDatabasePath };
};

const off = { enableAuthentication: false, authToken: '', superuserPassword: '', authDatabasePath: '' };

describe('authentication', () => {
  it('is off when nothing asks for it', () => {
    expect(chosen({})).toEqual(off);
  });

  it('is on with a token, and has no users then', () => {
    const expected = { ...off, enableAuthentication: true, authToken: TOKEN };
    expect(chosen({ flags: { 'auth-token': TOKEN } })).toEqual(expected);
    expect(chosen({ environment: { TRUEMQ_AUTH_TOKEN: TOKEN } })).toEqual(expected);
    expect(chosen({ file: `authToken: ${TOKEN}` })).toEqual(expected);
  });

  it('is on with a superuser, whose file is auth.db [AUTH-059]', () => {
    const users = { enableAuthentication: true, superuserPassword: PASSWORD, authDatabasePath: 'auth.db' };
    expect(chosen({ flags: { 'superuser-password': PASSWORD } })).toEqual({ ...off, ...users });
  });

  it('is on with a file of users that is named, or that is there', () => {
    const named = { ...off, enableAuthentication: true, authDatabasePath: 'users.db' };
    expect(chosen({ flags: { 'auth-database-path': 'users.db' } })).toEqual(named);
    const there = { ...off, enableAuthentication: true, authDatabasePath: 'auth.db' };
    expect(chosen({ machine: { hasUserDatabase: true } })).toEqual(there);
  });

  it('can be switched off, with a warning about what is not used', () => {
    const flags = { 'enable-authentication': 'false', 'auth-token': TOKEN, 'superuser-password': PASSWORD };
    expect(load({ flags }).configuration.enableAuthentication).toBe(false);
    expect(load({ flags }).warnings).toEqual([
      'enableAuthentication is false: clients need no credentials, and these are not used: authToken, superuserPassword, authDatabasePath',
    ]);
    expect(load({ flags: { 'enable-authentication': 'false' } }).warnings).toEqual([]);
  });

  it('that is asked for without anything to check is refused [AUTH-056]', () => {
    expect(problemsOf({ readSecretFile, flags: { 'enable-authentication': 'true' } })).toEqual([
      'superuserPassword none (default) and enableAuthentication true (flag --enable-authentication) do not go together; ' +
        'allowed is authToken, superuserPassword or authDatabasePath with enableAuthentication true',
    ]);
    for (const flag of ['auth-token', 'superuser-password', 'auth-database-path']) {
      expect(
        problemsOf({ readSecretFile, flags: { 'enable-authentication': 'true', [flag]: TOKEN } }),
      ).toEqual([]);
    }
  });

  it.each([
    [{ flags: { 'superuser-username': 'root' } }, 'flag --superuser-username'],
    [{ environment: { TRUEMQ_SUPERUSER_USERNAME: 'root' } }, 'environment TRUEMQ_SUPERUSER_USERNAME'],
    [{ file: 'superuserUsername: root' }, 'file truemq.yaml'],
  ])('that is off is refused where a superuser is named: %j', (given, origin) => {
    expect(problemsOf({ readSecretFile, ...given })).toEqual([
      `superuserUsername root (${origin}) and enableAuthentication false (default) do not go together; allowed is ` +
        'superuserPassword or authDatabasePath with a superuserUsername, or enableAuthentication false given expressly',
    ]);
  });

  it.each([
    { 'enable-authentication': 'false' },
    { 'auth-token': TOKEN },
    { 'superuser-password': PASSWORD },
    { 'auth-database-path': 'users.db' },
  ])('goes with the name of a superuser when it is on, or off expressly: %j', (flags) => {
    expect(problemsOf({ readSecretFile, flags: { 'superuser-username': 'root', ...flags } })).toEqual([]);
  });

  it('needs a file for a superuser', () => {
    expect(
      problemsOf({ readSecretFile, flags: { 'superuser-password': PASSWORD, 'auth-database-path': '' } }),
    ).toEqual([
      'authDatabasePath none (flag --auth-database-path) and superuserPassword (hidden) (flag --superuser-password) do not go ' +
        'together; allowed is the path of a file, or :memory:, with superuserPassword',
    ]);
  });

  it('checks one password fewer in parallel than there are cores, and at least one [AUTH-013]', () => {
    const concurrency = (coreCount: number) => load({ machine: { coreCount } }).configuration.authConcurrency;
    expect([1, 2, 8].map(concurrency)).toEqual([1, 1, 7]);
  });
});

describe('a token', () => {
  const warningsAbout = (token: string) => load({ flags: { 'auth-token': token } }).warnings;

  it('of fewer than 32 characters causes a warning, which does not show it [AUTH-058]', () => {
    expect(warningsAbout('x'.repeat(31))).toEqual([expect.stringContaining('fewer than 32 characters')]);
    expect(warningsAbout('x'.repeat(31)).join()).not.toContain('xxx');
    expect(warningsAbout('x'.repeat(32))).toEqual([]);
    expect(load({}).warnings).toEqual([]);
  });

  it('is at most as long as a header', () => {
    expect(problemsOf({ readSecretFile, flags: { 'auth-token': 'x'.repeat(4_096) } })).toEqual([]);
    expect(problemsOf({ readSecretFile, flags: { 'auth-token': 'x'.repeat(4_097) } })).toHaveLength(1);
  });
});

describe('a secret that is empty', () => {
  it('where it was given for this start causes a warning: a variable may have been forgotten', () => {
    expect(load({ environment: { TRUEMQ_AUTH_TOKEN: '' } }).warnings).toEqual([
      'authToken (environment TRUEMQ_AUTH_TOKEN) is empty, so there is none',
    ]);
    expect(load({ flags: { 'superuser-password': '' } }).warnings).toEqual([
      'superuserPassword (flag --superuser-password) is empty, so there is none',
    ]);
    expect(load({ file: 'authToken: ""' }).warnings).toEqual([]);
  });

  it('causes one also where the name of its file is empty, and no other place has the secret', () => {
    const file = 'authTokenFile: /run/token';
    expect(load({ file, flags: { 'auth-token-file': '' } }).warnings).toEqual([
      'authTokenFile (flag --auth-token-file) is empty, so there is none',
    ]);
    const flags = { 'auth-token-file': '', 'auth-token': 'x'.repeat(32) };
    expect(load({ flags }).warnings).toEqual([]);
  });
});

describe('the superuser', () => {
  it.each(['x', 'x'.repeat(72)])('may have password %j [AUTH-051]', (password) => {
    expect(problemsOf({ readSecretFile, flags: { 'superuser-password': password } })).toEqual([]);
  });

  it('may not have one over 72 bytes, nor any name [AUTH-052, AUTH-053]', () => {
    expect(problemsOf({ readSecretFile, flags: { 'superuser-password': 'x'.repeat(73) } })).toEqual([
      expect.stringMatching(
        /^superuserPassword \(flag --superuser-password\): came \(hidden\); allowed is 1 to 72 bytes;/,
      ),
    ]);
    expect(problemsOf({ readSecretFile, flags: { 'superuser-username': 'a b' } })).toEqual([
      'superuserUsername (flag --superuser-username): came "a b"; allowed is 1 to 64 letters, digits, -, _ and full stops',
    ]);
  });
});

describe('a secret in a file', () => {
  it.each(['\n', '\r\n', ''])(
    'is its content without one line break at its end: %j [CONFIG-015]',
    async (end) => {
      const tokenFile = await newFile('token', `${TOKEN}${end}`);
      const passwordFile = await newFile('password', ` ${PASSWORD}\n${end}`);
      const flags = { 'auth-token-file': tokenFile, 'superuser-password-file': passwordFile };
      const { configuration, settings } = load({ flags });
      expect(configuration).toMatchObject({
        enableAuthentication: true,
        authToken: TOKEN,
        superuserPassword: end === '' ? ` ${PASSWORD}` : ` ${PASSWORD}\n`,
        authDatabasePath: 'auth.db',
      });
      expect(settings.find(({ key }) => key === 'authToken')).toEqual({
        key: 'authToken',
        text: '(hidden)',
        origin: { kind: 'file', path: tokenFile },
      });
    },
  );

  it('cannot be given in the same place as the secret [CONFIG-015]', async () => {
    const path = await newFile('token', TOKEN);
    const refusals = [
      { flags: { 'auth-token-file': path, 'auth-token': TOKEN } },
      { environment: { TRUEMQ_AUTH_TOKEN_FILE: path, TRUEMQ_AUTH_TOKEN: TOKEN } },
      { file: `authTokenFile: ${path}\nauthToken: ${TOKEN}` },
    ].map((given) => problemsOf({ readSecretFile, ...given }));
    expect(refusals).toEqual([
      [
        'authToken (flag --auth-token) and authTokenFile (flag --auth-token-file) do not go together; allowed is one of the two',
      ],
      [
        'authToken (environment TRUEMQ_AUTH_TOKEN) and authTokenFile (environment TRUEMQ_AUTH_TOKEN_FILE) do not go together; allowed is one of the two',
      ],
      [
        'authToken (file truemq.yaml) and authTokenFile (file truemq.yaml) do not go together; allowed is one of the two',
      ],
    ]);
  });

  it('overrides a secret of lower precedence [CONFIG-001, CONFIG-015]', async () => {
    const path = await newFile('token', TOKEN);
    const environment = { TRUEMQ_AUTH_TOKEN_FILE: path };
    for (const given of [
      { environment, file: 'authToken: another' },
      { flags: { 'auth-token-file': path }, environment: { TRUEMQ_AUTH_TOKEN: 'another' } },
      { flags: { 'auth-token-file': path }, file: 'authToken: another' },
    ]) {
      expect(load(given).configuration).toMatchObject({ authToken: TOKEN, authTokenFile: path });
    }
  });

  it('is overridden by a secret of higher precedence, and not read then [CONFIG-001, CONFIG-015]', () => {
    const environment = { TRUEMQ_SUPERUSER_PASSWORD: PASSWORD };
    const { configuration, settings } = load({ environment, file: 'superuserPasswordFile: /nowhere' });
    expect(configuration).toMatchObject({ superuserPassword: PASSWORD, superuserPasswordFile: '' });
    expect(settings.find(({ key }) => key === 'superuserPasswordFile')?.origin).toEqual({
      kind: 'environment',
      variable: 'TRUEMQ_SUPERUSER_PASSWORD',
    });
    const flags = { 'superuser-password': PASSWORD };
    const files = { environment: { TRUEMQ_SUPERUSER_PASSWORD_FILE: '/nowhere' }, flags };
    expect(load(files).configuration.superuserPassword).toBe(PASSWORD);
  });

  it('is read although the secret is empty in a place of higher precedence', async () => {
    const file = `authTokenFile: ${await newFile('token', TOKEN)}`;
    expect(load({ file, environment: { TRUEMQ_AUTH_TOKEN: '' } }).configuration.authToken).toBe(TOKEN);
  });

  it('that cannot be read, is empty or is too long is refused by name [CONFIG-015]', async () => {
    const [missing, empty, line] = [
      join(folder, 'no'),
      await newFile('empty', ''),
      await newFile('line', '\n'),
    ];
    const long = await newFile('long', 'x'.repeat(73));
    const directory = join(folder, 'folder');
    await mkdir(directory);
    const problemOf = (path: string) =>
      problemsOf({ readSecretFile, flags: { 'superuser-password-file': path } })[0];
    const start = (path: string) => `superuserPasswordFile (flag --superuser-password-file): file ${path} `;
    expect(problemOf(missing)).toContain(`${start(missing)}cannot be read: ENOENT`);
    expect(problemOf(directory)).toContain(`${start(directory)}cannot be read: EISDIR`);
    expect(problemOf(empty)).toBe(`${start(empty)}is empty`);
    expect(problemOf(line)).toBe(`${start(line)}is empty`);
    expect(problemOf(long)).toContain(`${start(long)}contains (hidden); allowed is 1 to 72 bytes`);
  });

  it('is taken back by an empty path', () => {
    const given = { flags: { 'auth-token-file': '' }, file: 'authTokenFile: /nowhere' };
    expect(load(given).configuration.authToken).toBe('');
  });
});

describe('no secret is shown', () => {
  const secret = 's3cret';

  it('by the settings, and what they show is no value [AUTH-054, CONFIG-007]', () => {
    const { settings } = load({ flags: { 'auth-token': secret, 'superuser-password': secret } });
    expect(JSON.stringify(settings)).not.toContain(secret);
    const text = (wanted: string) => settings.find(({ key }) => key === wanted)?.text;
    expect([text('authToken'), text('superuserPassword')]).toEqual(['(hidden)', '(hidden)']);
    expect(problemsOf({ readSecretFile, flags: { 'auth-token': '(hidden)' } })).toEqual([
      'authToken (flag --auth-token): (hidden) is what "truemq config" prints instead of a secret; write the secret itself',
    ]);
  });

  it.each([
    ['json', `{"authToken": ${secret}}`],
    ['json', `{"authToken": "${secret}" "port": 1}`],
    ['json', `{"authToken": '${secret}'}`],
    ['json', `${secret}`],
    ['yaml', `authToken: *${secret}`],
    ['yaml', `authToken: !${secret}`],
    ['yaml', `authToken: >${secret}`],
    ['yaml', `authToken: "${secret}`],
    ['yaml', `authToken: @${secret}`],
    ['yaml', `authToken: "x" ${secret}`],
    ['yaml', `authToken: [${secret}`],
    ['yaml', `authToken: {${secret}: ]`],
    ['yaml', `authToken: a: ${secret}`],
    ['yaml', `authToken: |\n${secret}`],
    ['yaml', `authToken: [${secret}]`],
    ['yaml', `authToken: {${secret}: 1}`],
    ['yaml', `superuserPassword: ["${secret}"]`],
    ['yaml', `${secret}`],
  ])('by what is said about a file of %s: %j [AUTH-054]', (extension, file) => {
    const problems = problemsOf({ readSecretFile, file, path: `truemq.${extension}` });
    expect(problems.join()).toMatch(/truemq/);
    expect(problems.join()).not.toContain(secret);
  });

  it('by what is said about a number, which is no text [AUTH-054]', () => {
    expect(problemsOf({ readSecretFile, file: 'authToken: 12345678' }).join()).toMatch(/came \(hidden\)/);
    expect(problemsOf({ readSecretFile, file: 'authToken: 12345678' }).join()).not.toContain('1234');
  });
});
