// `truemq serve`: starts the broker, says where it listens, and ends it in good order on SIGINT or SIGTERM. Implements CONFIG-008,
// CONFIG-010, SHUTDOWN-001, SHUTDOWN-009, SHUTDOWN-010 and TLS-008.

import { constants } from 'node:os';
import type { Configuration } from '../config/configuration.ts';
import { flagHelp } from '../config/reference.ts';
import { formatAddress } from '../http/listen-error.ts';
import { DEFAULT_HOST, DEFAULT_PORT } from '../model/default-address.ts';
import type { Logger } from '../model/logger.ts';
import { type RunningBroker, startBroker } from '../server/start-broker.ts';
import { isStartFailure } from '../server/start-failure.ts';
import { VERSION } from '../server/version.ts';
import { parseArguments } from './arguments.ts';
import { type Command, type CommandContext, ExitCode } from './command.ts';
import { configurationArguments, loadEffectiveConfiguration } from './configuration-flags.ts';
import { contextWithHangup, ReloadRequests } from './hangup.ts';
import { createProcessLogger } from './process-log.ts';

export const serve: Command = {
  help: `usage: truemq serve [--config FILE] [--print-ready] [flags]

Starts the broker. At the first Ctrl-C (or SIGTERM) it waits for the acks of messages in flight, then ends. The second ends it immediately.
SIGHUP reads the TLS certificates again, for new connections.

  --config FILE                          a file of keys, in JSON or YAML; flags and environment override it
  --print-ready                          print one line of JSON when all servers listen, instead of lines for people

${flagHelp()}`,

  async run(argv, outerContext) {
    const { texts, switches } = parseArguments(argv, configurationArguments({ 'print-ready': 'switch' }));
    const { configuration, warnings } = await loadEffectiveConfiguration(texts, outerContext);
    const context = contextWithHangup(outerContext, configuration);
    const reloadRequests = new ReloadRequests(context);
    const logger = createProcessLogger(configuration, context);
    for (const warning of warnings) logger.warn(warning);
    try {
      const broker = await startOrExplain(configuration, logger, context);
      if (typeof broker === 'number') return broker;
      const describe = switches.has('print-ready') ? readyLine : linesForPeople;
      const announcement = describe(broker, context, configuration);
      await serveUntilSignal({ broker, logger, reloadRequests, announcement }, context);
      return ExitCode.Done;
    } finally {
      reloadRequests.release();
    }
  },
};

/** The line of `--print-ready`. */
export function readyLine({ tcp, health, dashboard }: RunningBroker): string {
  const ready = {
    ready: true,
    pid: process.pid,
    tcp: { host: tcp.host, port: tcp.port, tls: tcp.tls },
    health,
    dashboard,
  };
  return `${JSON.stringify(ready)}\n`;
}

export type Serving = {
  readonly broker: RunningBroker;
  readonly logger: Logger;
  readonly reloadRequests: ReloadRequests;
  /** Written to stdout after the signal handlers are installed: the reader may send a signal immediately. */
  readonly announcement: string;
};

/** Serves until a signal comes, then ends the broker; a second signal ends the process. */
export async function serveUntilSignal(
  { broker, logger, reloadRequests, announcement }: Serving,
  { stdout, onStopSignal, exitNow }: CommandContext,
): Promise<void> {
  let stop: () => void = () => undefined;
  const stopped = new Promise<void>((resolve) => {
    stop = resolve;
  });
  let isStopping = false;
  const release = onStopSignal((signal) => {
    if (isStopping) exitNow(128 + constants.signals[signal]);
    isStopping = true;
    stop();
  });
  reloadRequests.passTo(() => void broker.reloadCertificates());
  stdout.write(announcement);
  logger.info('started', { version: VERSION, pid: process.pid });
  await stopped;
  const { inFlightCount } = broker.view.stats();
  logger.info('stopping; a second signal ends it at once', { inFlight: inFlightCount });
  await broker.stop();
  logger.info('stopped');
  release();
}

/** The running broker, or the exit code if it did not start. A signal cancels the start, a second signal ends the process. */
async function startOrExplain(
  configuration: Configuration,
  logger: Logger,
  { stderr, onStopSignal, exitNow }: CommandContext,
): Promise<RunningBroker | ExitCode> {
  const cancellation = new AbortController();
  const release = onStopSignal((signal) => {
    if (cancellation.signal.aborted) exitNow(128 + constants.signals[signal]);
    cancellation.abort();
  });
  try {
    const tellOperator = (text: string) => void stderr.write(text);
    return await startBroker(configuration, logger, cancellation.signal, tellOperator);
  } catch (error) {
    if (cancellation.signal.aborted) {
      logger.info('stopped while starting');
      return ExitCode.Done;
    }
    if (!isStartFailure(error)) throw error;
    stderr.write(`truemq: ${error.message}\n`);
    // The author of a storage module needs the place of the error.
    if (error.cause instanceof Error) logger.debug('the cause', { stack: error.cause.stack });
    return ExitCode.Failed;
  } finally {
    release();
  }
}

function linesForPeople(
  { tcp, health, dashboard }: RunningBroker,
  { environment }: CommandContext,
  configuration: Configuration,
): string {
  // In a clone of the repository the command is not on the path; npm's variables show that.
  const truemq = environment['npm_lifecycle_event'] === undefined ? 'truemq' : 'npx truemq';
  const flags = [
    ...addressFlagsFor(tcp),
    ...tlsFlagsFor(configuration),
    ...credentialFlagsFor(configuration),
  ];
  const address = flags.map((flag) => ` ${flag}`).join('');
  return [
    `TrueMQ ${VERSION} listens on ${formatAddress(tcp)}${tcp.tls ? ' with TLS' : ''}`,
    ...(health === undefined ? [] : [`health and metrics: ${health.url}/health/ and ${health.url}/metrics/`]),
    ...(dashboard === undefined ? [] : [`dashboard: ${dashboard.url}`]),
    'try it, in two other terminals:',
    `  ${truemq} sub hello${address}`,
    `  ${truemq} pub hello '{"n":1}'${address}`,
    'stop it with Ctrl-C',
    '',
  ].join('\n');
}

/** Addresses at which a client of this machine finds the broker without being told. */
const FOUND_HOSTS: readonly string[] = [DEFAULT_HOST, '0.0.0.0', '::'];

/** What a client adds to its command so that it finds the broker. */
function addressFlagsFor({ host, port }: RunningBroker['tcp']): readonly string[] {
  return [
    ...(FOUND_HOSTS.includes(host) ? [] : [`--host ${host}`]),
    ...(port === DEFAULT_PORT ? [] : [`--port ${port}`]),
  ];
}

function tlsFlagsFor({ tlsEnabled, tlsClientCaPath }: Configuration): readonly string[] {
  if (!tlsEnabled) return [];
  const own = tlsClientCaPath === '' ? [] : ['--tls-certificate FILE --tls-key FILE'];
  return ['--tls --tls-ca FILE', ...own];
}

/** What a client adds so that the broker lets it in; the password is asked for. */
function credentialFlagsFor(configuration: Configuration): readonly string[] {
  const { enableAuthentication, authToken, superuserUsername } = configuration;
  if (!enableAuthentication) return [];
  return [authToken === '' ? `--username ${superuserUsername}` : '--auth-token-file FILE'];
}
