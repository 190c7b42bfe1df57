// `truemq adapter`: starts this broker for the conformance runner. Reads one line of JSON from stdin (a neutral configuration), answers
// with one line on stdout (the addresses, and the unsupported settings), and ends with a signal or when stdin closes. The protocol is
// documented with the runner; adapter-request.ts translates it.

import type { Readable } from 'node:stream';
import { ConfigurationError } from '../config/configuration.ts';
import type { Logger } from '../model/logger.ts';
import { type RunningBroker, startBroker } from '../server/start-broker.ts';
import { isStartFailure } from '../server/start-failure.ts';
import { VERSION } from '../server/version.ts';
import { type AdapterSettings, parseAdapterRequest } from './adapter-request.ts';
import { parseArguments } from './arguments.ts';
import { type Command, type CommandContext, ExitCode } from './command.ts';
import { loadAdapterConfiguration } from './configuration-flags.ts';
import { ReloadRequests } from './hangup.ts';
import { readLines } from './lines.ts';
import { createProcessLogger } from './process-log.ts';
import { serveUntilSignal } from './serve.ts';

export const adapter: Command = {
  help: `usage: truemq adapter

Implements version 1 of the adapter protocol of truemq-conformance: reads one line of JSON from stdin, starts the broker that
the line describes, answers with one line of JSON on stdout, and runs until SIGTERM or the end of stdin. Logs go to stderr.`,

  async run(argv, context) {
    parseArguments(argv, { flags: {}, positionals: [] });
    const reloadRequests = new ReloadRequests(context);
    const line = await firstLine(context.stdin);
    try {
      const { answer, started } = await answerRequest(line, context);
      if (started === undefined) {
        context.stdout.write(answer);
        return ExitCode.Failed;
      }
      const serving = { ...started, reloadRequests, announcement: answer };
      await serveUntilSignal(serving, stoppedByClosedInput(context));
      return ExitCode.Done;
    } finally {
      reloadRequests.release();
      // An open pipe would keep the process alive.
      context.stdin.destroy();
    }
  },
};

export type Answered = {
  /** One line of JSON, with its end. */
  readonly answer: string;
  /** Undefined when the answer is a refusal. */
  readonly started?: { readonly broker: RunningBroker; readonly logger: Logger };
};

/** Starts the broker that a request line describes. The answer is a refusal, with a reason for people, if it cannot be started. */
export async function answerRequest(line: Buffer, context: CommandContext): Promise<Answered> {
  try {
    const settings = parseAdapterRequest(line);
    const { configuration } = loadAdapterConfiguration(settings.entries, context);
    const logger = createProcessLogger(configuration, context);
    const broker = await startBroker(configuration, logger);
    return { answer: jsonLine(readyAnswer(broker, settings)), started: { broker, logger } };
  } catch (error) {
    if (!isForPeople(error)) throw error;
    return { answer: jsonLine({ protocol: 1, ready: false, error: error.message }) };
  }
}

function isForPeople(error: unknown): error is Error {
  return error instanceof ConfigurationError || isStartFailure(error);
}

function readyAnswer({ tcp, health, dashboard }: RunningBroker, { unsupported }: AdapterSettings) {
  return {
    protocol: 1,
    ready: true,
    broker: { name: 'TrueMQ', version: VERSION },
    tcp: { host: tcp.host, port: tcp.port, tls: tcp.tls },
    health: health ?? null,
    dashboard: dashboard ?? null,
    unsupported,
  };
}

function jsonLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** The first line of a stream, which is not closed. */
async function firstLine(stdin: Readable): Promise<Buffer> {
  const lines = readLines({ [Symbol.asyncIterator]: () => stdin.iterator({ destroyOnReturn: false }) });
  const { value } = await lines.next();
  // Detaches from the stream, which would otherwise never emit `end`.
  await lines.return(undefined);
  return value ?? Buffer.alloc(0);
}

/** The end of stdin acts as a signal, unless there was one already, so that a runner that has died leaves no brokers behind. */
function stoppedByClosedInput(context: CommandContext): CommandContext {
  return {
    ...context,
    onStopSignal(handle) {
      let hasCome = false;
      const release = context.onStopSignal((signal) => {
        hasCome = true;
        handle(signal);
      });
      const onEnd = () => {
        if (!hasCome) handle('SIGTERM');
        hasCome = true;
      };
      if (context.stdin.readableEnded) setImmediate(onEnd);
      context.stdin.on('end', onEnd).resume();
      return () => {
        context.stdin.off('end', onEnd);
        release();
      };
    },
  };
}
