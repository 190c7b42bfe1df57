// Translates the adapter protocol's neutral configuration to this broker's keys. Settings that this version does not have are listed as
// unsupported, by the protocol's dotted names. The configuration loader validates the values. Pure.

import { join } from 'node:path';
import { ConfigurationError } from '../config/configuration.ts';

type Entries = ReadonlyMap<string, unknown>;
type JsonObject = Readonly<Record<string, unknown>>;

export type AdapterSettings = {
  /** By configuration key, as in a configuration file. */
  readonly entries: Entries;
  /** Dotted names of requested settings that are not supported. */
  readonly unsupported: readonly string[];
};

/** The protocol's dotted names and the keys that they set. */
const KEYS: Readonly<Record<string, string>> = {
  'tcp.host': 'host',
  'tcp.port': 'port',
  'authentication.token': 'authToken',
  'authentication.passwordCost': 'passwordCost',
  'health.host': 'healthHost',
  'health.port': 'healthPort',
  'dashboard.host': 'dashboardHost',
  'dashboard.port': 'dashboardPort',
  'tls.certificatePath': 'tlsCertificatePath',
  'tls.certificatePassword': 'tlsCertificatePassword',
  'tls.keyPath': 'tlsKeyPath',
  'rateLimit.maxConnectionsPerIpPerWindow': 'maxConnectionsPerIpPerWindow',
  'rateLimit.connectionWindowMs': 'connectionWindow',
  'rateLimit.maxMessagesPerClientPerSecond': 'maxMessagesPerClientPerSecond',
  'limits.maxConnections': 'maxConnections',
  'limits.maxMessageSizeBytes': 'maxMessageSize',
  'limits.maxInFlightPerSubscriber': 'maxInFlightPerSubscriber',
  'limits.maxBlockedPublishes': 'maxBlockedPublishes',
  'limits.maxQueuedBytes': 'maxQueuedBytes',
  'limits.maxQueues': 'maxQueues',
  'limits.maxSubscriptionsPerConnection': 'maxSubscriptionsPerConnection',
  'limits.maxOutboundBytes': 'maxOutboundBytes',
  'limits.maxStructureBytes': 'maxStructureBytes',
  'limits.memoryLimitBytes': 'memoryLimit',
  'queueDefaults.deliveryMode': 'defaultDeliveryMode',
  'queueDefaults.maxQueueSize': 'maxQueueSize',
  'queueDefaults.enableAutoCreate': 'enableAutoCreate',
  'timing.ackTimeoutMs': 'ackTimeout',
  'timing.retryDelayMs': 'retryDelay',
  'timing.maxRetryDelayMs': 'maxRetryDelay',
  'timing.handshakeTimeoutMs': 'handshakeTimeout',
  'timing.frameTimeoutMs': 'frameTimeout',
  'timing.idleTimeoutMs': 'idleTimeout',
  'timing.shutdownTimeoutMs': 'shutdownTimeout',
};

/** Settings that are always present, and need no support because they request nothing. */
const WITHOUT_EFFECT: readonly string[] = ['protocol', 'dataDirectory', 'storage'];

/** The protocol's names for a store that survives a restart. */
const DURABLE: readonly unknown[] = ['sqlite', 'durable'];

/** A group of settings within a section. */
const SUPERUSER = 'authentication.superuser';

/** @throws ConfigurationError when the line is not a request of protocol version 1 */
export function parseAdapterRequest(line: Buffer): AdapterSettings {
  const request = parseJsonObject(line);
  if (request['protocol'] !== 1) {
    throw new ConfigurationError([
      `adapter request: protocol came ${JSON.stringify(request['protocol'])}; allowed is 1`,
    ]);
  }
  const entries = new Map<string, unknown>([
    // Null means off here; everywhere else it means the broker's default.
    ['rateLimit', isGiven(request['rateLimit'])],
    ['dashboard', isGiven(request['dashboard'])],
  ]);
  const unsupported: string[] = [];
  const { storage, dataDirectory } = request;
  if (DURABLE.includes(storage)) {
    entries.set('storage', 'sqlite');
    if (typeof dataDirectory === 'string') entries.set('storagePath', join(dataDirectory, 'truemq.db'));
  } else if (isGiven(storage) && storage !== 'memory') unsupported.push('storage');
  for (const [key, value] of usersIn(request)) entries.set(key, value);
  for (const [section, value] of Object.entries(request)) {
    if (!isGiven(value) || WITHOUT_EFFECT.includes(section)) continue;
    for (const [name, setting] of namesIn(section, value)) {
      const key = KEYS[name];
      if (key !== undefined) entries.set(key, setting);
      else if (name !== SUPERUSER) unsupported.push(name);
    }
  }
  return { entries, unsupported };
}

/** The superuser, and the file of users in the folder that the next broker gets too. */
function usersIn({ authentication, dataDirectory }: JsonObject): Entries {
  const superuser = isObject(authentication) ? authentication['superuser'] : undefined;
  if (!isObject(superuser)) return new Map();
  const path = typeof dataDirectory === 'string' ? join(dataDirectory, 'auth.db') : ':memory:';
  return new Map<string, unknown>([
    ['superuserUsername', superuser['username']],
    ['superuserPassword', superuser['password']],
    ['authDatabasePath', path],
  ]);
}

/** The settings of a section by their dotted names; an empty section is returned by its own name. */
function namesIn(section: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (!isObject(value)) return [[section, value]];
  return Object.entries(value)
    .filter(([, setting]) => isGiven(setting))
    .map(([name, setting]) => [`${section}.${name}`, setting]);
}

function parseJsonObject(line: Buffer): JsonObject {
  try {
    const value: unknown = JSON.parse(line.toString());
    if (isObject(value)) return value;
  } catch {
    // Reported below, like any other value that is not an object.
  }
  throw new ConfigurationError(['adapter request: not one JSON object on one line']);
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}
