// The flags and environment variables with which the runner gets the credentials for a broker that it does not configure. A secret is read
// from a file or from the environment, never from the command line, which other users of the machine can read. Area: AUTH.
import { readFileSync } from 'node:fs';
import type { Target } from '../target/target-file.ts';
import { UsageError } from '../usage-error.ts';
import type { Credentials } from '../wire/credentials.ts';
import type { Flag, ParsedFlags } from './flags.ts';

export const credentialFlags: readonly Flag[] = [
  {
    name: 'username',
    kind: 'text',
    value: 'NAME',
    help: 'the user for an attached broker (or CONFORMANCE_USERNAME)',
  },
  {
    name: 'password-file',
    kind: 'text',
    value: 'FILE',
    help: 'a file with its password (or CONFORMANCE_PASSWORD)',
  },
  {
    name: 'token-file',
    kind: 'text',
    value: 'FILE',
    help: 'a file with the token for an attached broker (or CONFORMANCE_TOKEN)',
  },
];

type Environment = Readonly<Record<string, string | undefined>>;

/** Throws a UsageError for a file that cannot be read, and for a user without a password or the other way round. */
export function readCredentials(flags: ParsedFlags, environment: Environment = process.env): Credentials {
  const authUsername = flags.text('username') ?? environment['CONFORMANCE_USERNAME'];
  const authPassword = secretIn(flags, 'password-file') ?? environment['CONFORMANCE_PASSWORD'];
  const authToken = secretIn(flags, 'token-file') ?? environment['CONFORMANCE_TOKEN'];
  if ((authUsername === undefined) !== (authPassword === undefined))
    throw new UsageError(
      'credentials: a user needs --username and --password-file (or CONFORMANCE_PASSWORD)',
    );
  const given = { authUsername, authPassword, authToken };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The flags that gave credentials, with their values: the name of a user and paths, never a secret. What the environment gave is not among them. */
export function givenCredentials(flags: ParsedFlags): readonly (readonly [name: string, value: string])[] {
  return credentialFlags.flatMap(({ name }) => {
    const value = flags.text(name);
    return value === undefined ? [] : [[name, value] as const];
  });
}

/** Throws a UsageError if there are credentials for a broker that the runner starts itself. */
export function refuseUnusedCredentials({ lifecycle }: Target, credentials: Credentials): void {
  if (lifecycle.kind !== 'spawn' || Object.keys(credentials).length === 0) return;
  throw new UsageError(
    'credentials: with lifecycle.kind "spawn" the runner chooses those of the broker itself',
  );
}

/** The content of the file that the flag names, without the end of its line. */
function secretIn(flags: ParsedFlags, name: string): string | undefined {
  const path = flags.text(name);
  if (path === undefined) return undefined;
  try {
    const secret = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (secret !== '') return secret;
  } catch (error) {
    throw new UsageError(`--${name}: ${(error as Error).message}`);
  }
  throw new UsageError(`--${name}: ${path} is empty`);
}
