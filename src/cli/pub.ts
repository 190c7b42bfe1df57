// `truemq pub`: publishes one message, or one per line of stdin, and reports each that was refused. Messages are sent in order, several at
// a time; a publish counts only after its PublishAck. Implements CLIENT-001 and CLIENT-040 for the command line.

import { setTimeout as delay } from 'node:timers/promises';
import type { Client, PublishOptions } from '../client/client.ts';
import { CommandError, ConnectionError } from '../client/errors.ts';
import { Priority, type PriorityName } from '../model/priority.ts';
import { type Arguments, parseArguments, parseChoice, parseCount, UsageError } from './arguments.ts';
import { CONNECTION_HELP, connectionFlags, parseAddress } from './broker-address.ts';
import { connectOrExplain } from './broker-connection.ts';
import { type Command, type CommandContext, ExitCode } from './command.ts';
import { readLines } from './lines.ts';

/** Publishes that may wait for their PublishAck at the same time. */
const WINDOW_COUNT = 64;
/** How long to wait before a publish over the rate limit is tried again. */
const RATE_LIMIT_PAUSE_MS = 200;
const PRIORITIES = Object.keys(Priority) as PriorityName[];

export const pub: Command = {
  help: `usage: truemq pub QUEUE [JSON] [flags]

Publishes JSON to QUEUE, and prints a line when the broker has confirmed it. Without JSON it publishes each line of stdin, which
must be one JSON text. It reports the number of a line that is not JSON and skips it; it also skips empty lines.

  --header K=V      a header of the message; may be given several times
  --priority ${PRIORITIES.join('|')}
                    the priority of the message [Normal]
  --count N         publish each message N times [1]
${CONNECTION_HELP}

Exit code: 0 when every message was confirmed, 1 when one was not, 2 for a wrong command line.
A publish over the broker's rate limit is repeated until the broker accepts it; this may change the order of the messages.`,

  async run(argv, context) {
    const flags = { ...connectionFlags, header: 'texts', priority: 'text', count: 'text' } as const;
    const job = parseJob(parseArguments(argv, { flags, positionals: ['QUEUE', 'JSON?'] }), context);
    const client = await connectOrExplain(job.address, context);
    if (client === undefined) return ExitCode.Failed;
    const report = await publishAll(client, job, context);
    await client.close();
    return report;
  },
};

type Job = {
  readonly address: ReturnType<typeof parseAddress>;
  readonly queue: string;
  /** Undefined: read stdin. */
  readonly json: Buffer | undefined;
  readonly count: number;
  readonly options: PublishOptions;
};

/** @throws UsageError */
function parseJob(given: Arguments, context: CommandContext): Job {
  const [queue = '', json] = given.positionals;
  const bytes = json === undefined ? undefined : Buffer.from(json);
  const problem = bytes === undefined ? undefined : jsonProblem(bytes);
  if (problem !== undefined)
    throw new UsageError(`${JSON.stringify(json)}: ${problem}; a text needs quotes, as in '"text"'`);
  const headers = Object.fromEntries((given.lists.get('header') ?? []).map(parseHeader));
  const priorityText = given.texts.get('priority');
  const priority = priorityText === undefined ? undefined : parseChoice('priority', priorityText, PRIORITIES);
  const count = parseCount('count', given.texts.get('count') ?? '1', 1);
  const options = { headers, ...(priority === undefined ? {} : { priority }) };
  return { address: parseAddress(given, context), queue, json: bytes, count, options };
}

function parseHeader(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(
    `--header: came ${JSON.stringify(text)}; allowed is NAME=VALUE, neither of them empty`,
  );
}

/** Why a text cannot be published; undefined if it is JSON in UTF-8. */
function jsonProblem(bytes: Buffer): string | undefined {
  try {
    JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    return undefined;
  } catch (error) {
    return error instanceof SyntaxError ? `not JSON (${error.message})` : 'not UTF-8';
  }
}

/** One message of the input, with its name in reports. */
type Item = { readonly name: string; readonly bytes: Buffer };

async function publishAll(client: Client, job: Job, { stdin, stderr }: CommandContext): Promise<ExitCode> {
  const say = (text: string) => void stderr.write(`truemq: ${text}\n`);
  const underWay = new Set<Promise<void>>();
  const tally = { confirmedCount: 0, failedCount: 0 };
  let lost: ConnectionError | undefined;
  const publish = async ({ name, bytes }: Item) => {
    try {
      await publishPatiently(client, job, bytes);
      tally.confirmedCount += 1;
    } catch (error) {
      tally.failedCount += 1;
      if (error instanceof ConnectionError) lost = error;
      say(`${name}not confirmed: ${error instanceof Error ? error.message : String(error)}`);
    }
  };
  for await (const item of items(job, stdin)) {
    if (lost !== undefined) break;
    const problem = jsonProblem(item.bytes);
    if (problem !== undefined) {
      tally.failedCount += 1;
      say(`${item.name}not published: ${problem}`);
      continue;
    }
    const publishing = publish(item).finally(() => underWay.delete(publishing));
    underWay.add(publishing);
    if (underWay.size >= WINDOW_COUNT) await Promise.race(underWay);
  }
  await Promise.all(underWay);
  if (lost !== undefined) say('the connection is lost; what follows in the input was not published');
  say(
    `${tally.confirmedCount} ${tally.confirmedCount === 1 ? 'message' : 'messages'} published to ${job.queue}`,
  );
  return tally.failedCount === 0 ? ExitCode.Done : ExitCode.Failed;
}

/** Publishes a message again when the rate limit refused it: nothing was stored then. */
async function publishPatiently(client: Client, { queue, options }: Job, bytes: Buffer): Promise<void> {
  for (;;) {
    try {
      await client.publish(queue, bytes, options);
      return;
    } catch (error) {
      if (!(error instanceof CommandError) || error.code !== 'RATE_LIMITED') throw error;
      await delay(RATE_LIMIT_PAUSE_MS);
    }
  }
}

async function* items({ json, count }: Job, stdin: CommandContext['stdin']): AsyncGenerator<Item> {
  if (json !== undefined) {
    for (let copy = 0; copy < count; copy += 1) yield { name: '', bytes: json };
    return;
  }
  let lineNumber = 0;
  for await (const line of readLines(stdin)) {
    lineNumber += 1;
    if (line.length === 0) continue;
    for (let copy = 0; copy < count; copy += 1) yield { name: `line ${lineNumber}: `, bytes: line };
  }
}
