// `truemq dlq`: shows the dead letters of a queue and moves them back to where they come from, through the dashboard API of a running broker.

import { findAction, flagOfOtherActions, flagsByAction } from './actions.ts';
import { type Arguments, type FlagKind, parseArguments, UsageError } from './arguments.ts';
import { CONNECTION_HELP, connectionFlags, parseAddress } from './broker-address.ts';
import { type Command, type CommandContext, ExitCode } from './command.ts';
import { DASHBOARD_HELP, dashboardFlags } from './dashboard/dashboard-address.ts';
import type { DashboardApi, DeadLetter, WantedDeadLetter } from './dashboard/dashboard-api.ts';
import { dashboardOf, withDashboard } from './dashboard/dashboard-of-broker.ts';
import { DashboardError } from './dashboard/dashboard-request.ts';
import { tableOf } from './table.ts';
import { cutTo, escaped } from './top/shown-text.ts';

/** Payloads are cut to this in a table. */
const MAX_PAYLOAD_CELLS = 60;
/** Refusals that are printed; the others are counted. */
const MAX_SHOWN = 20;

type Job = {
  readonly api: DashboardApi;
  readonly given: Arguments;
  /** What the command line names: a queue, or a dead letter queue. */
  readonly queue: string;
  readonly context: CommandContext;
};

type Action = {
  readonly positionals: readonly string[];
  readonly flags: Readonly<Record<string, FlagKind>>;
  /** @throws UsageError */
  readonly check: (given: Arguments) => void;
  readonly run: (job: Job) => Promise<ExitCode>;
};

const actions: Readonly<Record<string, Action>> = {
  list: { positionals: ['QUEUE'], flags: {}, check: () => undefined, run: list },
  requeue: { positionals: ['QUEUE', 'ID?'], flags: { all: 'switch' }, check: checkRequeue, run: requeue },
};

export const dlq: Command = {
  help: `usage: truemq dlq list QUEUE
       truemq dlq requeue QUEUE ID
       truemq dlq requeue QUEUE --all

Shows the dead letters of QUEUE, or moves them back to the queue that they come from. QUEUE may also be a dead letter queue itself. It uses
the dashboard of the broker.

  list     lists the dead letters that wait, the oldest first, with the reason and the number of failed attempts
  requeue  moves the dead letter with this ID, or all, to the end of the queue that they come from, as new messages

  --all                   requeue: all dead letters that wait when the command starts
  --json                  print the result as one JSON document, with the payloads
${DASHBOARD_HELP}
${CONNECTION_HELP}

Exit code: 0 when it was done, 1 when the dashboard did not answer or a message was not moved, 2 for a wrong command line.`,

  actionFlags: flagsByAction(actions),

  async run(argv, context) {
    const [name, ...rest] = argv;
    const { positionals, flags, check, run } = findAction(name, actions);
    const allFlags = { ...connectionFlags, ...dashboardFlags, json: 'switch', ...flags } as const;
    const given = parseArguments(rest, {
      flags: allFlags,
      positionals,
      explainUnknown: (flag) => flagOfOtherActions(flag, name, actions),
    });
    check(given);
    const [queue = ''] = given.positionals;
    const dashboard = await dashboardOf(parseAddress(given, context), context);
    return withDashboard(dashboard, context, (api) => run({ api, given, queue, context }));
  },
};

/** @throws UsageError */
function checkRequeue({ positionals: [, id], switches }: Arguments): void {
  if (id === undefined && !switches.has('all'))
    throw new UsageError('ID is missing; --all moves all dead letters');
  if (id !== undefined && switches.has('all'))
    throw new UsageError(`--all: contradicts the ID ${JSON.stringify(id)}; give one of them`);
}

async function list({ api, given, queue, context }: Job): Promise<ExitCode> {
  const { letters } = await lettersOf(api, queue);
  const rows = letters.map(letterRow);
  const head = ['ID', 'FROM', 'REASON', 'ATTEMPTS', 'SINCE', 'PAYLOAD'];
  context.stdout.write(given.switches.has('json') ? lettersJson(letters) : tableOf(head, rows));
  return ExitCode.Done;
}

/** The dead letters of a queue, and the queue that they wait in. A dead letter queue may have those of several queues. */
async function lettersOf(
  api: DashboardApi,
  queue: string,
): Promise<{ readonly letters: readonly DeadLetter[]; readonly heldBy: string }> {
  const heldBy = await api.deadLetterQueueOf(queue);
  const letters: DeadLetter[] = [];
  for await (const letter of api.deadLettersIn(heldBy)) {
    if (heldBy === queue || letter.source === queue) letters.push(letter);
  }
  return { letters, heldBy };
}

function letterRow({
  id,
  source,
  reason,
  attemptCount,
  deadLetteredAt,
  payload,
}: DeadLetter): readonly string[] {
  const shown = cutTo(escaped(oneLine(payload)), MAX_PAYLOAD_CELLS);
  const cells = [
    id,
    source,
    reason,
    attemptCount === null ? '-' : String(attemptCount),
    deadLetteredAt ?? '-',
  ];
  return [...cells, shown];
}

/** Without the line breaks and tabs of a JSON text, which are between its parts only. */
function oneLine(json: string): string {
  return json.replaceAll(/[\t\r\n][ \t\r\n]*/g, ' ');
}

/** The payloads keep their spelling: of a value, JSON.stringify would write other numbers and another order of keys. */
function lettersJson(letters: readonly DeadLetter[]): string {
  const texts = letters.map(({ payload, ...facts }) => {
    const head = JSON.stringify(facts, null, 2).slice(0, -2).replaceAll('\n', '\n  ');
    return `${head},\n    "payload": ${payload}\n  }`;
  });
  return texts.length === 0 ? '[]\n' : `[\n  ${texts.join(',\n  ')}\n]\n`;
}

type Refused = { readonly id: string; readonly error: string };

async function requeue({ api, given, queue, context }: Job): Promise<ExitCode> {
  const [, id] = given.positionals;
  const { letters, heldBy } = await chosenLetters(api, queue, id);
  const requeued: string[] = [];
  const refused: Refused[] = [];
  try {
    // One after another: the messages keep their order.
    for (const letter of letters) {
      const error = await requeueOne(api, heldBy, letter);
      if (error === undefined) requeued.push(letter.id);
      else refused.push({ id: letter.id, error });
    }
  } finally {
    // Also when the dashboard goes away meanwhile: the operator must know how far it went.
    const text = `${countedMessages(requeued.length)} requeued\n`;
    context.stdout.write(given.switches.has('json') ? jsonText({ requeued, refused }) : text);
    complain(refused, context);
  }
  return refused.length === 0 ? ExitCode.Done : ExitCode.Failed;
}

/** Each with its source, because a dead letter queue may have another of the same id that comes from another queue. */
async function chosenLetters(
  api: DashboardApi,
  queue: string,
  id: string | undefined,
): Promise<{ readonly letters: readonly WantedDeadLetter[]; readonly heldBy: string }> {
  if (id === undefined) return lettersOf(api, queue);
  const heldBy = await api.deadLetterQueueOf(queue);
  return { letters: [{ id, source: heldBy === queue ? undefined : queue }], heldBy };
}

/** Why it was refused; undefined: it was requeued. */
async function requeueOne(
  api: DashboardApi,
  heldBy: string,
  letter: WantedDeadLetter,
): Promise<string | undefined> {
  try {
    await api.requeue(heldBy, letter);
    return undefined;
  } catch (error) {
    // Only these concern one message.
    const isRefusal =
      error instanceof DashboardError && (error.statusCode === 404 || error.statusCode === 409);
    if (isRefusal) return error.message;
    throw error;
  }
}

function complain(refused: readonly Refused[], { stderr }: CommandContext): void {
  for (const { id, error } of refused.slice(0, MAX_SHOWN))
    stderr.write(`truemq: ${escaped(id)}: not requeued: ${error}\n`);
  const hiddenCount = refused.length - MAX_SHOWN;
  if (hiddenCount > 0) stderr.write(`truemq: and ${hiddenCount} more were not requeued\n`);
}

function countedMessages(count: number): string {
  return `${count} ${count === 1 ? 'message' : 'messages'}`;
}

function jsonText(document: unknown): string {
  return `${JSON.stringify(document, null, 2)}\n`;
}
