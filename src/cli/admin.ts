// `truemq admin`: shows and changes the users of a running broker and their rights, as a user of that broker. Finds the action, connects, and
// reports what the broker says. Implements CLIENT-001 for admin commands on the command line.

import type { User } from '../client/admin-answers.ts';
import type { Client } from '../client/client.ts';
import { ClientError, CommandError } from '../client/errors.ts';
import { QueueOperation, type QueueOperationName } from '../model/access.ts';
import { findAction, flagOfOtherActions, flagsByAction } from './actions.ts';
import { type Arguments, type FlagKind, parseArguments, UsageError } from './arguments.ts';
import { CONNECTION_HELP, connectionFlags, parseAddress } from './broker-address.ts';
import { withBroker } from './broker-session.ts';
import { type Command, type CommandContext, ExitCode } from './command.ts';
import { readNewPassword } from './credentials.ts';
import { tableOf } from './table.ts';
import { escaped } from './top/shown-text.ts';

/** Patterns that a message names. */
const MAX_SHOWN = 20;

type Job = {
  readonly client: Client;
  readonly given: Arguments;
  /** Reports what was done, for people. */
  readonly say: (text: string) => void;
  /** Prints a result: as a table, or with --json as it is. */
  readonly print: (value: unknown, head: readonly string[], rows: readonly (readonly string[])[]) => void;
};

type Action = {
  readonly positionals: readonly string[];
  readonly flags?: Readonly<Record<string, FlagKind>>;
  /** Checks the command line before the broker is asked, and asks for what is missing. @throws UsageError */
  readonly prepare?: (given: Arguments, context: CommandContext) => Promise<string> | string;
  /** `prepared`: what `prepare` returned. */
  readonly run: (job: Job, prepared: string) => Promise<void>;
};

const operationNames = Object.keys(QueueOperation) as QueueOperationName[];

const actions: Readonly<Record<string, Action>> = {
  users: {
    positionals: [],
    flags: { json: 'switch' },
    run: async ({ client, print }) => {
      const users = await client.listUsers();
      const rows = users.map(({ username, isSuperuser, createdAt }) => [
        username,
        isSuperuser ? 'yes' : 'no',
        createdAt.toISOString().slice(0, 19).concat('Z'),
      ]);
      print(users, ['USER', 'SUPERUSER', 'CREATED'], rows);
    },
  },
  add: {
    positionals: ['USER'],
    flags: { 'new-password-file': 'text' },
    prepare: readNewPassword,
    run: async ({ client, given, say }, password) => {
      const [user = ''] = given.positionals;
      await client.createUser(user, password);
      say(`user ${user} created; it has no rights yet`);
    },
  },
  remove: {
    positionals: ['USER'],
    run: async ({ client, given, say }) => {
      const [user = ''] = given.positionals;
      await client.deleteUser(user);
      say(`user ${user} removed`);
    },
  },
  passwd: {
    positionals: ['USER'],
    flags: { 'new-password-file': 'text' },
    prepare: readNewPassword,
    run: async ({ client, given, say }, password) => {
      const [user = ''] = given.positionals;
      await client.changePassword(user, password);
      say(`password of user ${user} changed`);
    },
  },
  grant: {
    positionals: ['USER', 'PATTERN', 'OPERATIONS'],
    prepare: ({ positionals }) => parseOperations(positionals[2] ?? '').join(','),
    run: async ({ client, given, say }, prepared) => {
      const [user = '', pattern = ''] = given.positionals;
      await client.grant(user, pattern, parseOperations(prepared));
      say(`user ${user} may now do on ${pattern}: ${prepared.replaceAll(',', ', ')}`);
    },
  },
  revoke: {
    positionals: ['USER', 'PATTERN'],
    run: async ({ client, given, say }) => {
      const [user = '', pattern = ''] = given.positionals;
      await requirePattern(client, user, pattern);
      await client.revoke(user, pattern);
      say(`user ${user} has no rights by the pattern ${pattern} any more`);
    },
  },
  permissions: {
    positionals: ['USER'],
    flags: { json: 'switch' },
    run: async ({ client, given, print }) => {
      const [user = ''] = given.positionals;
      const permissions = await client.permissionsOf(user);
      if (permissions.length === 0) await requireUser(client, user);
      const rows = permissions.map(({ queuePattern, operations }) => [queuePattern, operations.join(', ')]);
      print(permissions, ['PATTERN', 'OPERATIONS'], rows);
    },
  },
};

export const admin: Command = {
  help: `usage: truemq admin users [--json]
       truemq admin add USER
       truemq admin remove USER
       truemq admin passwd USER
       truemq admin grant USER PATTERN OPERATIONS
       truemq admin revoke USER PATTERN
       truemq admin permissions USER [--json]

Shows and changes the users of a running broker and their rights. Changes apply at once, also to connected clients.

  users        lists the users
  add          creates a user without rights
  remove       deletes a user and closes its connections; a superuser cannot be deleted
  passwd       sets a new password and closes the connections of the user
  grant        allows OPERATIONS, and no others, on the queues that PATTERN matches; other patterns of the user stay
  revoke       takes back what was granted for exactly this PATTERN, in the same case; fails when the user does not have it
  permissions  lists what a user may do

  PATTERN                   * stands for any run of characters; everything else for itself, in any case
  OPERATIONS                all, or some of these with commas between them:
                            ${operationNames.join(', ')}
  --new-password-file FILE  a file that contains the new password; else TRUEMQ_NEW_PASSWORD has it, or it is asked for
  --json                    print the result as JSON
${CONNECTION_HELP}

All but passwd and permissions for oneself need a superuser: --username names it.
Exit code: 0 when it was done, 1 when the broker refused, the connection failed or there was nothing to revoke, 2 for a wrong command line.`,

  actionFlags: flagsByAction(actions),

  async run(argv, context) {
    const [name, ...rest] = argv;
    const { positionals, flags = {}, prepare, run } = findAction(name, actions);
    const given = parseArguments(rest, {
      flags: { ...connectionFlags, ...flags },
      positionals,
      explainUnknown: (flag) => flagOfOtherActions(flag, name, actions),
    });
    const address = parseAddress(given, context);
    const prepared = (await prepare?.(given, context)) ?? '';
    return withBroker(address, context, async (client) => {
      await run(jobOf(client, given, context), prepared);
      return ExitCode.Done;
    });
  },
};

function jobOf(client: Client, given: Arguments, context: CommandContext): Job {
  const { stdout, stderr } = context;
  return {
    client,
    given,
    say: (text) => void stderr.write(`truemq: ${text}\n`),
    print: (value, head, rows) => {
      stdout.write(given.switches.has('json') ? `${JSON.stringify(value, null, 2)}\n` : tableOf(head, rows));
    },
  };
}

/** The broker has no rights for a user that it does not know. Who may not list the users cannot be told more. @throws ClientError */
async function requireUser(client: Client, user: string): Promise<void> {
  const users = await client.listUsers().catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    return undefined;
  });
  if (users === undefined || users.some(({ username }) => username === user)) return;
  const isSimilar = ({ username }: User): boolean => username.toLowerCase() === user.toLowerCase();
  const similar = users.find(isSimilar)?.username;
  // Some brokers compare names in any case. One that has rights for the other spelling only does not.
  if (similar !== undefined && (await client.permissionsOf(similar)).length === 0) return;
  const hint = similar === undefined ? '' : ` is ${escaped(similar)} meant?`;
  throw new ClientError('USER_NOT_FOUND', `there is no user ${user};${hint} "truemq admin users" lists them`);
}

/** The broker confirms the revocation of a pattern that there is not, too (AUTH-025): a mistyped one would seem to be revoked. @throws ClientError */
async function requirePattern(client: Client, user: string, pattern: string): Promise<void> {
  const patterns = (await client.permissionsOf(user)).map(({ queuePattern }) => queuePattern);
  if (patterns.includes(pattern)) return;
  if (patterns.length === 0) await requireUser(client, user);
  const shown = patterns.slice(0, MAX_SHOWN).map(escaped).join(', ');
  const hiddenCount = patterns.length - MAX_SHOWN;
  const those = `its patterns are ${shown}${hiddenCount > 0 ? ` and ${hiddenCount} more` : ''}`;
  throw new ClientError(
    'PATTERN_NOT_FOUND',
    `nothing was revoked: user ${user} has no pattern ${pattern}; ${shown === '' ? 'it has none at all' : those}`,
  );
}

/** Names in any case. @throws UsageError */
function parseOperations(text: string): readonly QueueOperationName[] {
  if (text.toLowerCase() === 'all') return operationNames;
  return text.split(',').map((part) => {
    const wanted = part.trim().toLowerCase();
    const name = operationNames.find((one) => one.toLowerCase() === wanted);
    if (name !== undefined) return name;
    throw new UsageError(
      `OPERATIONS: came ${JSON.stringify(part)}; allowed is all, ${operationNames.join(', ')}`,
    );
  });
}
