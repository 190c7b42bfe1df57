// Credentials for an attached broker: from files and from the environment, and what is refused.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { credentialFlags, givenCredentials, readCredentials } from './credential-flags.ts';
import { parseFlags } from './flags.ts';

const folder = mkdtempSync(join(tmpdir(), 'credentials-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

function read(args: readonly string[], environment = {}): unknown {
  return readCredentials(parseFlags(args, credentialFlags), environment);
}

describe('the credentials of a run', () => {
  it('are none unless something is given', () => {
    expect(read([])).toEqual({});
  });

  it('are read from files, without the end of their line', () => {
    const password = fileWith('password', ' secret \n');
    const token = fileWith('token', 'token\r\n');
    expect(read(['--username', 'anna', '--password-file', password, '--token-file', token])).toEqual({
      authUsername: 'anna',
      authPassword: ' secret ',
      authToken: 'token',
    });
  });

  it('are read from the environment, after the flags', () => {
    const environment = { CONFORMANCE_USERNAME: 'anna', CONFORMANCE_PASSWORD: 'a', CONFORMANCE_TOKEN: 'b' };
    expect(read([], environment)).toEqual({ authUsername: 'anna', authPassword: 'a', authToken: 'b' });
    expect(read(['--username', 'otto'], environment)).toMatchObject({ authUsername: 'otto' });
  });

  it.each([
    ['a user without a password', ['--username', 'anna'], 'needs --username and --password-file'],
    ['a missing file', ['--token-file', join(folder, 'missing')], '--token-file: ENOENT'],
    ['an empty file', ['--token-file', fileWith('empty', '\n')], 'empty is empty'],
  ])('refuse %s', (_name, args, text) => {
    expect(() => read(args)).toThrow(text);
  });
});

describe('the flags that the credentials were given with', () => {
  const given = (args: readonly string[]): unknown => givenCredentials(parseFlags(args, credentialFlags));

  it('are the name and the paths, and no secret', () => {
    const password = fileWith('password', 'secret');
    expect(given([`--password-file=${password}`, '--username', 'anna'])).toEqual([
      ['username', 'anna'],
      ['password-file', password],
    ]);
    expect(given(['--token-file', 'a/token'])).toEqual([['token-file', 'a/token']]);
  });

  it('are none for what comes from the environment', () => {
    expect(given([])).toEqual([]);
  });
});
