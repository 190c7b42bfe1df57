// `truemq queues`: lists, describes, creates, deletes and empties the queues of a running broker. Empties through the dashboard API, because the
// protocol has no command for it. Implements CLIENT-001 (queue commands) for the command line.

import type { Client, QueueDetails } from '../client/index.ts';
import { CommandError } from '../client/index.ts';
import { findAction, flagOfOtherActions, flagsByAction } from './actions.ts';
import { type Arguments, type FlagKind, parseArguments } from './arguments.ts';
import { type BrokerAddress, CONNECTION_HELP, connectionFlags, parseAddress } from './broker-address.ts';
import { withBroker } from './broker-session.ts';
import { type Command, type CommandContext, ExitCode } from './command.ts';
import { isConfirmed } from './confirmation.ts';
import { DASHBOARD_HELP, dashboardFlags } from './dashboard/dashboard-address.ts';
import { dashboardOf, withDashboard } from './dashboard/dashboard-of-broker.ts';
import { parseQueueOptions, QUEUE_FLAGS_HELP, queueFlags } from './queues/queue-flags.ts';
import { queueFacts, queueHead, queueRecord, queueRow } from './queues/queue-record.ts';
import { tableOf } from './table.ts';

/** Questions about queues that may wait for their answers at the same time. */
const WINDOW_COUNT = 64;

type Job = {
  readonly queue: string;
  readonly given: Arguments;
  readonly address: BrokerAddress;
  readonly context: CommandContext;
  /** Writes one JSON document with --json, else the text. */
  readonly print: (document: unknown, text: string) => void;
};

type Action = {
  readonly positionals: readonly string[];
  readonly flags: Readonly<Record<string, FlagKind>>;
  readonly run: (job: Job) => Promise<ExitCode>;
};

const actions: Readonly<Record<string, Action>> = {
  list: { positionals: [], flags: { names: 'switch' }, run: list },
  info: { positionals: ['QUEUE'], flags: {}, run: info },
  create: { positionals: ['QUEUE'], flags: queueFlags, run: create },
  delete: { positionals: ['QUEUE'], flags: { yes: 'switch' }, run: remove },
  purge: { positionals: ['QUEUE'], flags: { yes: 'switch', ...dashboardFlags }, run: purge },
};

export const queues: Command = {
  help: `usage: truemq queues list [--names]
       truemq queues info QUEUE
       truemq queues create QUEUE [flags]
       truemq queues delete QUEUE [--yes]
       truemq queues purge QUEUE [--yes]

Shows and changes the queues of a running broker. On a terminal, delete and purge ask before they do it; in a pipe or a script they do not.

  list    lists the queues with what waits in them
  info    shows the options of a queue and what waits in it
  create  creates a queue; the options of an existing queue cannot be changed
  delete  deletes a queue with all its messages
  purge   removes the messages that wait in a queue; those in flight stay. It uses the dashboard of the broker

  --names                 list: only the names, one a line
${QUEUE_FLAGS_HELP}
  --yes                   delete, purge: do not ask
${DASHBOARD_HELP}
  --json                  print the result as one JSON document
${CONNECTION_HELP}

Exit code: 0 when it was done, 1 when it was not, 2 for a wrong command line.`,

  actionFlags: flagsByAction(actions),

  async run(argv, context) {
    const [name, ...rest] = argv;
    const { positionals, flags, run } = findAction(name, actions);
    const given = parseArguments(rest, {
      flags: { ...connectionFlags, json: 'switch', ...flags },
      positionals,
      explainUnknown: (flag) => flagOfOtherActions(flag, name, actions),
    });
    const [queue = ''] = given.positionals;
    const print: Job['print'] = (document, text) =>
      void context.stdout.write(given.switches.has('json') ? `${JSON.stringify(document, null, 2)}\n` : text);
    return run({ queue, given, address: parseAddress(given, context), context, print });
  },
};

function list({ given, address, context, print }: Job): Promise<ExitCode> {
  return withBroker(address, context, async (client) => {
    const names = [...(await client.listQueues())].sort();
    if (given.switches.has('names')) {
      print(names, names.map((name) => `${name}\n`).join(''));
      return ExitCode.Done;
    }
    const found = await detailsOf(client, names);
    const rows = found.map(({ name, details }) => (details === undefined ? [name] : queueRow(details)));
    const records = found.map(({ name, details }) =>
      details === undefined ? { name } : queueRecord(details),
    );
    print(records, tableOf(queueHead, rows));
    return ExitCode.Done;
  });
}

type Found = { readonly name: string; readonly details: QueueDetails | undefined };

/** Without the queues that were deleted meanwhile. No details: this user may not see them. */
async function detailsOf(client: Client, names: readonly string[]): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (let start = 0; start < names.length; start += WINDOW_COUNT) {
    const some = await Promise.all(names.slice(start, start + WINDOW_COUNT).map((name) => ask(client, name)));
    found.push(...some.flat());
  }
  return found;
}

async function ask(client: Client, name: string): Promise<readonly Found[]> {
  try {
    const details = await client.queueInfo(name);
    return details === undefined ? [] : [{ name, details }];
  } catch (error) {
    if (error instanceof CommandError && error.code === 'NOT_AUTHORIZED')
      return [{ name, details: undefined }];
    throw error;
  }
}

function info({ queue, address, context, print }: Job): Promise<ExitCode> {
  return withBroker(address, context, async (client) => {
    const details = await client.queueInfo(queue);
    if (details === undefined) throw new CommandError('QUEUE_NOT_FOUND', `queue ${queue} does not exist`);
    const facts = queueFacts(details).map(([fact, value]) => `${`${fact}:`.padEnd(18)} ${value}\n`);
    print(queueRecord(details), facts.join(''));
    return ExitCode.Done;
  });
}

function create({ queue, given, address, context, print }: Job): Promise<ExitCode> {
  const options = parseQueueOptions(queue, given);
  return withBroker(address, context, async (client) => {
    await client.createQueue(queue, options);
    print({ queue, isCreated: true }, `queue ${queue} created\n`);
    return ExitCode.Done;
  });
}

async function remove(job: Job): Promise<ExitCode> {
  const { queue, address, context, print } = job;
  if (!(await isSure(`delete queue ${queue} with all its messages`, job))) return ExitCode.Failed;
  return withBroker(address, context, async (client) => {
    // The broker confirms the deletion of a queue that there is not, too.
    const isThere = (await ask(client, queue)).length > 0;
    await client.deleteQueue(queue);
    const text = isThere ? `queue ${queue} deleted\n` : `there was no queue ${queue}; nothing was deleted\n`;
    print({ queue, isDeleted: isThere }, text);
    return ExitCode.Done;
  });
}

async function purge(job: Job): Promise<ExitCode> {
  const { queue, address, context, print } = job;
  const dashboard = await dashboardOf(address, context);
  if (!(await isSure(`remove all messages that wait in queue ${queue}`, job))) return ExitCode.Failed;
  return withDashboard(dashboard, context, async (api) => {
    await api.purge(queue);
    print({ queue, isPurged: true }, `queue ${queue} purged\n`);
    return ExitCode.Done;
  });
}

function isSure(what: string, { given, context }: Job): Promise<boolean> {
  return isConfirmed(what, { isSure: given.switches.has('yes') }, context);
}
