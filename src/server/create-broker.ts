// `createBroker`: a broker inside another program, for its tests above all. Turns options into a configuration and a running broker into a small
// object. Reads no environment and no configuration file, installs no signal handlers, and never ends the process.

import { ConfigurationError, type ConfigurationOptions } from '../config/configuration.ts';
import { loadConfiguration } from '../config/load.ts';
import { readSecretFile } from '../config/secret-file.ts';
import { writtenValue } from '../config/written-value.ts';
import { formatAddress } from '../http/listen-error.ts';
import type { Logger } from '../model/logger.ts';
import { guardedLogger } from './guarded-logger.ts';
import { type RunningBroker, startBroker } from './start-broker.ts';
import { thisMachine } from './this-machine.ts';

/** The keys of the configuration, and what only a program can give. */
export type BrokerOptions = ConfigurationOptions & {
  /** Receives the log. Its first failure is a warning of the process, and ends nothing. Default: there is none. */
  readonly logger?: Logger | undefined;
  /**
   * Shows a generated superuser password, which must not go to a log. The broker waits for a promise that it returns; when it fails, there is
   * no superuser, and no broker. Default: stderr.
   */
  readonly tellOperator?: ((text: string) => void | Promise<void>) | undefined;
};

export type EmbeddedBroker = {
  /** The address that the broker listens on. */
  readonly host: string;
  /** The actual port. */
  readonly port: number;
  /** `vibemq://127.0.0.1:40123`, for clients on this machine; it ends with `?tls=true` if they must use TLS. */
  readonly url: string;
  /** `http://127.0.0.1:40124`, without a slash at the end; absent when health is off. */
  readonly health?: string;
  /** The URL of the page; absent when the dashboard is off. */
  readonly dashboard?: string;
  /**
   * Stops as `truemq serve` does at SIGTERM: waits for the acks of messages in flight, at most `shutdownTimeout`, then closes everything. All calls
   * return the same promise. It rejects with the error of a part that could not be closed, e.g. of the store, when all others are closed.
   * A commit of the store is waited for without a bound.
   */
  stop(): Promise<void>;
  /** The same as `stop`, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
};

/**
 * Starts a broker in this process, on a free port of 127.0.0.1 and in memory unless the options say otherwise. Health and dashboard are off by
 * default, and use free ports if they are on.
 * @throws ConfigurationError for options that are not valid; ListenError, StoreError, UserStoreError, CertificateError for what cannot be used; what `tellOperator` throws.
 * Nothing is open then.
 */
export async function createBroker(options: BrokerOptions = {}): Promise<EmbeddedBroker> {
  checkOptions(options);
  const { logger: givenLogger, tellOperator, ...given } = options;
  const logger = givenLogger === undefined ? silentLogger : guardedLogger(givenLogger);
  checkTellOperator(tellOperator);
  const { configuration, warnings } = loadConfiguration({
    options: new Map([...Object.entries(defaultsFor(given)), ...checked(given)]),
    flags: new Map(),
    environment: {},
    machine: thisMachine(false),
    readSecretFile,
  });
  for (const warning of warnings) logger.warn(warning);
  return embedded(await startBroker(configuration, logger, new AbortController().signal, tellOperator));
}

/** Callers in JavaScript are not type-checked. What has entries of its own, as a list or a Map, would be taken for options without keys. */
function checkOptions(options: unknown): void {
  if (typeof options === 'object' && options !== null && !(Symbol.iterator in options)) return;
  throw new ConfigurationError([
    `the options of createBroker: came ${writtenValue(options)}; allowed is an object of options`,
  ]);
}

function checkTellOperator(tellOperator: unknown): void {
  if (tellOperator === undefined || typeof tellOperator === 'function') return;
  throw new ConfigurationError([
    `tellOperator (option): came ${writtenValue(tellOperator)}; allowed is a function`,
  ]);
}

/** Nobody expects a file of users from a broker that keeps everything else in memory. */
function defaultsFor({
  superuserPassword,
  superuserPasswordFile,
}: ConfigurationOptions): ConfigurationOptions {
  const isWithUsers = superuserPassword !== undefined || superuserPasswordFile !== undefined;
  return {
    port: 0,
    health: false,
    healthPort: 0,
    dashboard: false,
    dashboardPort: 0,
    ...(isWithUsers ? { authDatabasePath: ':memory:' } : {}),
  };
}

const silentLogger: Logger = {
  error: () => undefined,
  warn: () => undefined,
  info: () => undefined,
  debug: () => undefined,
  writesDebug: false,
};

/** The options that have a value. Programs without types may give keys that have no effect here, which must not go unnoticed. */
function checked(given: ConfigurationOptions): readonly (readonly [string, unknown])[] {
  const withValue = Object.entries(given).filter(([, value]) => value !== undefined);
  const ofTheLog = withValue.filter(([key]) => key === 'logLevel' || key === 'logFormat');
  if (ofTheLog.length === 0) return withValue;
  throw new ConfigurationError(
    ofTheLog.map(([key]) => `${key} (option): has no effect in a program; allowed is a logger instead`),
  );
}

function embedded({ tcp, health, dashboard, stop }: RunningBroker): EmbeddedBroker {
  const { host, port, tls } = tcp;
  let stopped: Promise<void> | undefined;
  const stopOnce = () => {
    stopped ??= stop();
    return stopped;
  };
  return {
    host,
    port,
    url: `vibemq://${formatAddress({ host: reachable(host), port })}${tls ? '?tls=true' : ''}`,
    ...(health === undefined ? {} : { health: health.url }),
    ...(dashboard === undefined ? {} : { dashboard: dashboard.url }),
    stop: stopOnce,
    [Symbol.asyncDispose]: stopOnce,
  };
}

/** An address to connect to: a wildcard address only says where to listen. */
function reachable(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}
