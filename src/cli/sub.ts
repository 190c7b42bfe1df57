// `truemq sub`: prints the messages of a queue, one per line, until it is stopped or has printed enough. Acknowledges a message after
// stdout has accepted its line, so no message is lost in a pipe or on a full disk. Implements CLIENT-001 and CLIENT-005 for the command line.

import type { Writable } from 'node:stream';
import type { Client } from '../client/client.ts';
import { ClientError } from '../client/errors.ts';
import type { ReceivedMessage } from '../client/received-message.ts';
import { parseArguments, parseCount } from './arguments.ts';
import { CONNECTION_HELP, connectionFlags, parseAddress } from './broker-address.ts';
import { connectOrExplain, withFlags } from './broker-connection.ts';
import { type Command, type CommandContext, ExitCode } from './command.ts';
import { MESSAGE_SIZE_HELP, messageSizeFlags, parseMessageSize } from './message-size.ts';
import { isClosedByReader } from './standard-output.ts';
import { escaped } from './top/shown-text.ts';

/** How long the reader of stdout may take for the last line after a signal. */
const LAST_LINE_MS = 500;

/** Maximum of messages in flight when only a few messages are wanted. */
const SMALL_WINDOW_COUNT = 8;

export const sub: Command = {
  help: `usage: truemq sub QUEUE [flags]

Prints the payload of each message of QUEUE on a separate line, and acknowledges it, until it is stopped (Ctrl-C).

  --count N               stop after N messages
  --json                  print id, queue, headers, attempts and payload, as one JSON object per line
${MESSAGE_SIZE_HELP}
${CONNECTION_HELP}

Exit code: 0 when it was stopped or has printed N messages, 1 when the connection failed or stdout could
not be written, 2 for a wrong command line.`,

  async run(argv, context) {
    const flags = { ...connectionFlags, ...messageSizeFlags, count: 'text', json: 'switch' } as const;
    const given = parseArguments(argv, { flags, positionals: ['QUEUE'] });
    const [queue = ''] = given.positionals;
    const countText = given.texts.get('count');
    const count = countText === undefined ? Number.POSITIVE_INFINITY : parseCount('count', countText, 1);
    const maxMessageSizeBytes = parseMessageSize(given);
    const client = await connectOrExplain(parseAddress(given, context), context, { maxMessageSizeBytes });
    if (client === undefined) return ExitCode.Failed;
    return printMessages(client, { queue, count, isJson: given.switches.has('json') }, context);
  },
};

type Job = { readonly queue: string; readonly count: number; readonly isJson: boolean };

/** Why printing ended. */
type End = 'enough' | 'stopped' | 'nobody reads' | 'not writable' | 'disconnected';

async function printMessages(client: Client, job: Job, context: CommandContext): Promise<ExitCode> {
  let finish: (end: End) => void = () => undefined;
  const ended = new Promise<End>((resolve) => {
    finish = resolve;
  });
  const release = watchForEnd(client, context, finish);
  try {
    await client.subscribe(job.queue, createPrinter(job, context.stdout, finish), windowFor(client, job));
    const end = await ended;
    if (end === 'disconnected') await tellWhy(client, context);
    if (end === 'stopped') leaveWhatNobodyReads(context);
    // What hinders stdout is said for all commands in one place.
    return end === 'disconnected' || end === 'not writable' ? ExitCode.Failed : ExitCode.Done;
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    context.stderr.write(`truemq: cannot subscribe to ${job.queue}: ${escaped(withFlags(error.message))}\n`);
    return ExitCode.Failed;
  } finally {
    await client.close();
    release();
  }
}

/** A signal stops in good order, a second one immediately. A reader that closes the pipe (`truemq sub q | head`) is a normal end too. */
function watchForEnd(
  client: Client,
  { stdout, onStopSignal, exitNow }: CommandContext,
  finish: (end: End) => void,
): () => void {
  let signalCount = 0;
  const release = onStopSignal(() => {
    signalCount += 1;
    if (signalCount > 1) exitNow(ExitCode.Failed);
    finish('stopped');
  });
  // The write reports the error too, but without a listener the stream would throw it in the process.
  stdout.on('error', (error) => finish(endAfter(error, stdout)));
  void client.closed.then(() => finish('disconnected'));
  // The connection ends with it, for the same reason; without a listener the process would warn of it as well.
  client.on('subscriptionLost', () => undefined);
  return release;
}

/** A line that nobody reads is not acknowledged, and must not keep the process. */
function leaveWhatNobodyReads({ stdout, exitNow }: CommandContext): void {
  if (stdout.writableLength === 0) return;
  const giveUp = setTimeout(() => exitNow(ExitCode.Done), LAST_LINE_MS);
  stdout.write('', () => clearTimeout(giveUp));
}

/** What a failed write means. */
function endAfter(error: unknown, stdout: Writable): End {
  return isClosedByReader(error, stdout) ? 'nobody reads' : 'not writable';
}

function createPrinter({ count, isJson }: Job, stdout: Writable, finish: (end: End) => void) {
  let remainingCount = count;
  return async (delivery: ReceivedMessage): Promise<void> => {
    // More than `count`, and what could not be written: not acknowledged, so the broker redelivers it when the connection ends.
    const neverAcknowledged = new Promise<void>(() => undefined);
    if (remainingCount === 0) return neverAcknowledged;
    try {
      await writeLine(stdout, isJson ? jsonLine(delivery) : oneLine(delivery.payload));
    } catch (error) {
      finish(endAfter(error, stdout));
      return neverAcknowledged;
    }
    remainingCount -= 1;
    if (remainingCount === 0) finish('enough');
  };
}

/** Resolves when the stream has accepted the whole line; rejects when it has not. */
function writeLine(stdout: Writable, line: string): Promise<void> {
  return new Promise((resolve, reject) => {
    stdout.write(`${line}\n`, (error) => (error ? reject(error) : resolve()));
  });
}

/** With the payload as it was published: no number and no spelling changes. */
function jsonLine({ id, queue, headers, attemptCount, payload }: ReceivedMessage): string {
  const head = JSON.stringify({ id, queue, headers: Object.fromEntries(headers), attemptCount });
  return `${head.slice(0, -1)},"payload":${payload.length === 0 ? 'null' : oneLine(payload)}}`;
}

/** Replaces line breaks, which a JSON text has between its tokens only, by spaces. */
function oneLine(payload: Buffer): string {
  return payload.toString().replace(/[\r\n]+/g, ' ');
}

function windowFor({ capabilities }: Client, { count }: Job) {
  return capabilities.has('maxInFlight') && count < SMALL_WINDOW_COUNT ? { maxInFlight: count } : {};
}

async function tellWhy(client: Client, { stderr }: CommandContext): Promise<void> {
  const { error, reason } = await client.closed;
  // The message of the error says that the connection ended, too.
  const said = reason === undefined && error !== undefined ? withFlags(error.message) : undefined;
  const text = said ?? `the broker ended the connection: ${reason ?? 'it gave no reason'}`;
  stderr.write(`truemq: ${escaped(text)}\n`);
}
