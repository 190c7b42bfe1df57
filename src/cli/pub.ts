// `truemq pub`: publishes one message, or one per line of stdin, and reports each that was refused. Messages are sent in order, several at
// a time; a publish counts only after its PublishAck. Implements CLIENT-001 and CLIENT-040 for the command line.

import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../client/client.ts';
import { CommandError } from '../client/errors.ts';
import type { PublishOptions } from '../client/operation-options.ts';
import { Priority, type PriorityName } from '../model/priority.ts';
import { HeaderName } from '../protocol/header-name.ts';
import { type Arguments, parseArguments, parseChoice, parseCount, UsageError } from './arguments.ts';
import { CONNECTION_HELP, connectionFlags, parseAddress } from './broker-address.ts';
import { connectOrExplain } from './broker-connection.ts';
import { type Command, type CommandContext, ExitCode, exitCodeAfter } from './command.ts';
import { MESSAGE_SIZE_HELP, messageSizeFlags, parseMessageSize } from './message-size.ts';
import { type Item, isTooLong, jsonProblem, messageItems, valuesUntil } from './pub/message-items.ts';
import { PublishReport } from './pub/publish-report.ts';

/** Publishes that may wait for their PublishAck at the same time. */
const WINDOW_COUNT = 64;
/** Bytes of them: further ones wait until there are fewer. One message may have more alone. */
const WINDOW_BYTES = 8_388_608;
/** How long to wait before a publish over the rate limit is tried again. */
const RATE_LIMIT_PAUSE_MS = 200;
const PRIORITIES = Object.keys(Priority) as PriorityName[];

export const pub: Command = {
  help: `usage: truemq pub QUEUE [JSON] [flags]

Publishes JSON to QUEUE, and prints a line when the broker has confirmed it. Without JSON it publishes each line of stdin, which
must be one JSON text. It reports the number of a line that is not JSON and skips it; it also skips empty lines.

  --header K=V            a header of the message; may be given several times, with another K each time
  --priority ${PRIORITIES.join('|')}
                          the priority of the message [Normal]
  --count N               publish each message N times [1]
  --json                  print a line of JSON on stdout for each message: whether it is confirmed, its id or the error, its line
${MESSAGE_SIZE_HELP}
${CONNECTION_HELP}

Exit code: 0 when every message was confirmed, 1 when one was not, 2 for a wrong command line, 130 when it was interrupted (Ctrl-C) and
143 after SIGTERM: it then waits for the messages under way, and ends at once at the second signal.
A publish over the broker's rate limit is repeated until the broker accepts it; this may change the order of the messages.`,

  async run(argv, context) {
    const flags = {
      ...connectionFlags,
      ...messageSizeFlags,
      header: 'texts',
      priority: 'text',
      count: 'text',
      json: 'switch',
    } as const;
    const job = parseJob(parseArguments(argv, { flags, positionals: ['QUEUE', 'JSON?'] }), context);
    const client = await connectOrExplain(job.address, context, {
      maxMessageSizeBytes: job.maxBytes,
      // The window is kept here: the client refuses what waits beyond its own.
      publishWindow: { maxBytes: Number.POSITIVE_INFINITY },
    });
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
  readonly isJson: boolean;
  /** The largest message. */
  readonly maxBytes: number;
  readonly options: PublishOptions;
};

/** @throws UsageError */
function parseJob(given: Arguments, context: CommandContext): Job {
  const [queue = '', json] = given.positionals;
  const bytes = json === undefined ? undefined : Buffer.from(json);
  const problem = bytes === undefined ? undefined : jsonProblem(bytes);
  if (problem !== undefined)
    throw new UsageError(`${JSON.stringify(json)}: ${problem}; a text needs quotes, as in '"text"'`);
  const headers = parseHeaders(given.lists.get('header') ?? []);
  const priorityText = given.texts.get('priority');
  const priority = priorityText === undefined ? undefined : parseChoice('priority', priorityText, PRIORITIES);
  checkPriorityHeader(headers, priorityText);
  const count = parseCount('count', given.texts.get('count') ?? '1', 1);
  const options = { headers, ...(priority === undefined ? {} : { priority }) };
  return {
    address: parseAddress(given, context),
    queue,
    json: bytes,
    count,
    isJson: given.switches.has('json'),
    maxBytes: parseMessageSize(given),
    options,
  };
}

/** @throws UsageError */
function parseHeaders(texts: readonly string[]): Readonly<Record<string, string>> {
  const headers = new Map<string, string>();
  for (const [name, value] of texts.map(parseHeader)) {
    const other = headers.get(name);
    if (other !== undefined) {
      const came = `${JSON.stringify(other)} and ${JSON.stringify(value)}`;
      throw new UsageError(`--header: ${JSON.stringify(name)} came twice, with ${came}; give it one value`);
    }
    headers.set(name, value);
  }
  return Object.fromEntries(headers);
}

/** A broker takes an unknown priority for Normal, and says nothing (PUBLISH-023). @throws UsageError */
function checkPriorityHeader(headers: Readonly<Record<string, string>>, flag: string | undefined): void {
  const text = headers[HeaderName.Priority];
  if (text === undefined) return;
  if (flag !== undefined)
    throw new UsageError(`--priority: contradicts --header ${HeaderName.Priority}=${text}; give one of them`);
  parseChoice(`header ${HeaderName.Priority}`, text, PRIORITIES);
}

function parseHeader(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0 && at < text.length - 1) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(
    `--header: came ${JSON.stringify(text)}; allowed is NAME=VALUE, neither of them empty`,
  );
}

/** Why publishing ended before the input did. */
type End = { readonly signal: NodeJS.Signals } | 'disconnected';

async function publishAll(client: Client, job: Job, context: CommandContext): Promise<ExitCode> {
  const report = new PublishReport(job.queue, job.isJson, context);
  const { ended, release } = watchForEnd(client, context);
  const end = await publishItems(client, job, { report, ended, stdin: context.stdin });
  release();
  // An open pipe would keep the process alive.
  if (end !== undefined) context.stdin.destroy();
  if (end === 'disconnected')
    report.say('the connection is lost; what follows in the input was not published');
  const signal = end === undefined || end === 'disconnected' ? undefined : end.signal;
  if (signal !== undefined) report.say('interrupted; what follows in the input was not published');
  report.end();
  if (signal !== undefined) return exitCodeAfter(signal);
  return end === undefined && report.failedCount === 0 ? ExitCode.Done : ExitCode.Failed;
}

/** The first signal stops in good order, a second one immediately. */
function watchForEnd(client: Client, { onStopSignal, exitNow }: CommandContext) {
  let release: () => void = () => undefined;
  const stopped = new Promise<End>((resolve) => {
    let signalCount = 0;
    release = onStopSignal((signal) => {
      signalCount += 1;
      if (signalCount > 1) exitNow(exitCodeAfter(signal));
      resolve({ signal });
    });
  });
  const disconnected = client.closed.then((): End => 'disconnected');
  return { ended: Promise.race([stopped, disconnected]), release };
}

type Progress = {
  readonly report: PublishReport;
  readonly ended: Promise<End>;
  readonly stdin: CommandContext['stdin'];
};

/** Resolves when everything that was sent is answered: with why it ended early, or with nothing. */
async function publishItems(client: Client, job: Job, { report, ended, stdin }: Progress) {
  const underWay = new Set<Promise<void>>();
  let underWayBytes = 0;
  let isComplete = false;
  let end: End | undefined;
  void ended.then((reason) => {
    end = reason;
  });
  const onLast = () => {
    isComplete = true;
  };
  const publish = (item: Item): void => {
    underWayBytes += item.bytes.length;
    const publishing = publishPatiently(client, job, item.bytes)
      .then((id) => report.confirmed(item, id))
      .catch((error: unknown) => report.notConfirmed(item, error))
      .finally(() => {
        underWayBytes -= item.bytes.length;
        underWay.delete(publishing);
      });
    underWay.add(publishing);
  };
  try {
    for await (const item of valuesUntil(
      messageItems(job.json, job.count, stdin, job.maxBytes),
      ended,
      onLast,
    )) {
      if (end !== undefined) break;
      const tooLong = isTooLong(item, job.maxBytes);
      const problem = tooLong ? undefined : jsonProblem(item.bytes);
      if (tooLong) report.tooLong(item, job.maxBytes);
      else if (problem === undefined) publish(item);
      else report.notPublished(item, problem);
      while (underWay.size >= WINDOW_COUNT || underWayBytes >= WINDOW_BYTES) await Promise.race(underWay);
    }
  } catch (error) {
    // Only the input fails here: what happens to a publish is reported as it comes.
    report.unreadable(error);
  }
  await Promise.all(underWay);
  return isComplete && (end !== 'disconnected' || report.failedCount === 0) ? undefined : end;
}

/** Publishes a message again when the rate limit refused it: nothing was stored then. Resolves with its id. */
async function publishPatiently(client: Client, { queue, options }: Job, bytes: Buffer): Promise<string> {
  for (;;) {
    try {
      return await client.publish(queue, bytes, options);
    } catch (error) {
      if (!(error instanceof CommandError) || error.code !== 'RATE_LIMITED') throw error;
      await delay(RATE_LIMIT_PAUSE_MS);
    }
  }
}
