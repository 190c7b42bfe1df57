// The credentials of the commands that connect: from flags that name a user or a file, from a connection string, from the environment, or asked on the
// terminal. There is no flag for a password alone: every user of the machine sees the arguments of a process. Implements AUTH-054 for the command line.

import { readSecretFile } from '../config/secret-file.ts';
import { type Arguments, type FlagKind, UsageError } from './arguments.ts';
import type { CommandContext } from './command.ts';

export const credentialFlags = {
  username: 'text',
  'password-file': 'text',
  'auth-token-file': 'text',
} as const satisfies Readonly<Record<string, FlagKind>>;

export const CREDENTIALS_HELP = `  --username NAME         connect as this user; the password comes from --password-file, from TRUEMQ_PASSWORD, or is asked for
  --password-file FILE    a file that contains the password
  --auth-token-file FILE  a file that contains the token that all clients share; TRUEMQ_AUTH_TOKEN may hold it too`;

/** What the client library connects with. */
export type Credentials = {
  readonly authToken?: string;
  readonly username?: string;
  readonly password?: string;
};

/**
 * `inUrl`: the name and password of a connection string. Its password is for its own name only.
 * @throws UsageError when a file cannot be read, or when there is no password for a user
 */
export async function readCredentials(
  { texts }: Arguments,
  context: CommandContext,
  inUrl: Pick<Credentials, 'username' | 'password'> = {},
): Promise<Credentials> {
  const authToken = secretOf(texts, 'auth-token-file') ?? variable(context, 'TRUEMQ_AUTH_TOKEN');
  const token = authToken === undefined ? {} : { authToken };
  const username = texts.get('username') ?? inUrl.username;
  if (username === undefined) {
    if (texts.has('password-file')) throw new UsageError('--password-file: needs --username');
    return token;
  }
  const urlPassword = username === inUrl.username ? inUrl.password : undefined;
  const given = secretOf(texts, 'password-file') ?? urlPassword ?? variable(context, 'TRUEMQ_PASSWORD');
  const password = given ?? (await ask(context, `password of ${username}: `));
  if (password !== undefined) return { ...token, username, password };
  throw new UsageError(
    '--username: the password is missing; TRUEMQ_PASSWORD or --password-file gives it, and a terminal asks for it',
  );
}

/** The new password of a user, by the same ways; asked for twice on a terminal. @throws UsageError */
export async function readNewPassword({ texts }: Arguments, context: CommandContext): Promise<string> {
  const given = secretOf(texts, 'new-password-file') ?? variable(context, 'TRUEMQ_NEW_PASSWORD');
  if (given !== undefined) return given;
  const first = await ask(context, 'new password: ');
  if (first === undefined) {
    throw new UsageError(
      'the new password is missing; TRUEMQ_NEW_PASSWORD or --new-password-file gives it, and a terminal asks for it',
    );
  }
  if ((await ask(context, 'the same again: ')) === first) return first;
  throw new UsageError('the two passwords differ');
}

function ask({ askSecret }: CommandContext, question: string): Promise<string> | undefined {
  return askSecret?.(question);
}

/** An empty variable counts as absent: no secret is empty. */
function variable({ environment }: CommandContext, name: string): string | undefined {
  return environment[name] || undefined;
}

function secretOf(texts: Arguments['texts'], flag: string): string | undefined {
  const path = texts.get(flag);
  if (path === undefined) return undefined;
  const read = readSecretFile(path);
  if (read.ok) return read.text;
  throw new UsageError(`--${flag}: ${path} ${read.reason}`);
}
