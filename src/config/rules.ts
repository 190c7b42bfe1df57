// Rules between keys: settings that are valid alone but not together, and those that may hurt. Each rule checks the whole configuration and
// returns its problem; the loader adds the origins of the values. Pure. Implements AUTH-056, AUTH-058, CONFIG-003, CONFIG-017, CONFIG-019
// and CONFIG-020.

import { resolve } from 'node:path';
import type { Configuration, Machine } from './configuration.ts';
import { OWN_FILES } from './derived-defaults.ts';
import type { ConfigurationKey } from './keys.ts';
import { formatSize } from './size.ts';
import { tlsRules } from './tls-rules.ts';

export type Conflict = {
  /** The conflicting keys, first the one that should be changed. */
  readonly keys: readonly [ConfigurationKey, ConfigurationKey];
  /** What is allowed, in words. */
  readonly allowed: string;
};

const MIN_ADVISED_TOKEN_LENGTH = 32;
/** Messages may take this part of the heap without a warning. Queues, deliveries and garbage need the rest. */
const MAX_HEAP_SHARE = 0.75;
const WILDCARD_HOSTS: readonly string[] = ['0.0.0.0', '::', '*'];

/** Whether a key was configured; false: its value is a default. */
export type IsGiven = (key: ConfigurationKey) => boolean;

/** All conflicts of a configuration. */
export function findConflicts(configuration: Configuration, isGiven: IsGiven): readonly Conflict[] {
  const rules = [
    storageModule,
    storagePath,
    unusedStoragePath,
    oneFileForBoth,
    retryDelays,
    decompressedSize,
    ports,
    ...tlsRules,
    credentials,
    users,
    unusedSuperuser,
    dashboardUsers,
  ];
  return rules.flatMap((rule) => rule(configuration, isGiven) ?? []);
}

/** What may hurt, one sentence each. */
export function findWarnings(configuration: Configuration, machine: Machine): readonly string[] {
  return [
    ...credentialWarnings(configuration),
    ...heapWarnings(configuration, machine),
    ...fileWarnings(configuration, machine),
  ];
}

function credentialWarnings({
  enableAuthentication,
  authToken,
  superuserPassword,
  authDatabasePath,
}: Configuration): readonly string[] {
  if (enableAuthentication) {
    const isShort = authToken !== '' && authToken.length < MIN_ADVISED_TOKEN_LENGTH;
    const advice = `authToken has fewer than ${MIN_ADVISED_TOKEN_LENGTH} characters; a longer one, of random characters, cannot be guessed`;
    return isShort ? [advice] : [];
  }
  const unused = Object.entries({ authToken, superuserPassword, authDatabasePath })
    .filter(([, value]) => value !== '')
    .map(([key]) => key);
  if (unused.length === 0) return [];
  return [
    `enableAuthentication is false: clients need no credentials, and these are not used: ${unused.join(', ')}`,
  ];
}

/** A process whose heap is full ends, and with it what no store has. */
function heapWarnings({ maxQueuedBytes }: Configuration, { heapLimitBytes }: Machine): readonly string[] {
  if (maxQueuedBytes <= MAX_HEAP_SHARE * heapLimitBytes) return [];
  return [
    `maxQueuedBytes is ${formatSize(maxQueuedBytes)}: messages below 4 KiB lie in the JavaScript heap, and beyond its limit of ` +
      `${formatSize(heapLimitBytes)} the process ends; raise that with NODE_OPTIONS=--max-old-space-size=<MiB>, or lower maxQueuedBytes`,
  ];
}

/** The runtime closes a connection for which the process has no file left: the client gets no answer, and the broker does not learn of it. */
function fileWarnings({ maxConnections }: Configuration, { openFileLimit }: Machine): readonly string[] {
  if (openFileLimit === undefined || maxConnections + OWN_FILES <= openFileLimit) return [];
  return [
    `maxConnections is ${maxConnections}, and the process may have ${openFileLimit} files open: connections for which there is none are ` +
      `closed without an answer; allow ${maxConnections + OWN_FILES} files (ulimit -n, LimitNOFILE), or lower maxConnections`,
  ];
}

/** Never replaces an explicitly configured store by another one: the messages would not be where the operator expects them. */
function storageModule({ storage, storageModule: module }: Configuration): Conflict | undefined {
  if (storage === 'module' && module === '') {
    return { keys: ['storageModule', 'storage'], allowed: 'a storageModule with storage module' };
  }
  if (storage === 'module' || module === '') return undefined;
  return { keys: ['storage', 'storageModule'], allowed: 'storage module, or no storageModule' };
}

function storagePath({ storage, storagePath: path }: Configuration): Conflict | undefined {
  if (storage !== 'sqlite') return undefined;
  if (path === '')
    return { keys: ['storagePath', 'storage'], allowed: 'the path of a file with storage sqlite' };
  if (!isNoFile(path)) return undefined;
  return {
    keys: ['storagePath', 'storage'],
    allowed:
      'the path of a file with storage sqlite, or storage memory, which keeps messages until the broker stops',
  };
}

/** What SQLite takes for a database in memory, for a temporary one, or for a URI, which may ask for either. */
function isNoFile(path: string): boolean {
  const name = path.trim();
  return name === '' || name === ':memory:' || name.startsWith('file:');
}

/** Whoever names a file expects the messages in it. An explicit `storage: memory` is the wish to have none. */
function unusedStoragePath(
  { storage, storagePath: path }: Configuration,
  isGiven: IsGiven,
): Conflict | undefined {
  if (storage !== 'memory' || isGiven('storage') || !isGiven('storagePath') || path === '') return undefined;
  return {
    keys: ['storage', 'storagePath'],
    allowed: 'storage sqlite with a storagePath, or storage memory given expressly',
  };
}

/** Found at the start of the store only, this would show a new superuser's password once, for a broker that then ends. */
function oneFileForBoth(configuration: Configuration): Conflict | undefined {
  const { enableAuthentication, authDatabasePath, storage, storagePath: path } = configuration;
  if (!enableAuthentication || storage !== 'sqlite' || authDatabasePath === '') return undefined;
  if (resolve(authDatabasePath) !== resolve(path)) return undefined;
  return {
    keys: ['authDatabasePath', 'storagePath'],
    allowed: 'a file for users and another one for messages',
  };
}

function retryDelays(configuration: Configuration): Conflict | undefined {
  if (configuration.retryDelayMs <= configuration.maxRetryDelayMs) return undefined;
  return { keys: ['retryDelay', 'maxRetryDelay'], allowed: 'retryDelay at most maxRetryDelay' };
}

function decompressedSize(configuration: Configuration): Conflict | undefined {
  if (configuration.maxDecompressedSizeBytes >= configuration.maxMessageSizeBytes) return undefined;
  return {
    keys: ['maxDecompressedSize', 'maxMessageSize'],
    allowed: 'maxDecompressedSize at least maxMessageSize',
  };
}

type Listening = { readonly key: ConfigurationKey; readonly host: string; readonly port: number };

function ports(configuration: Configuration): Conflict | undefined {
  const { host, port, health, healthHost, healthPort, dashboard, dashboardHost, dashboardPort } =
    configuration;
  const servers: readonly Listening[] = [
    { key: 'port', host, port },
    ...(health ? [{ key: 'healthPort', host: healthHost, port: healthPort } as const] : []),
    ...(dashboard ? [{ key: 'dashboardPort', host: dashboardHost, port: dashboardPort } as const] : []),
  ];
  for (const [index, later] of servers.entries()) {
    const earlier = servers.slice(0, index).find((other) => isSamePort(other, later));
    if (earlier !== undefined)
      return { keys: [later.key, earlier.key], allowed: 'a different port for each, or 0' };
  }
  return undefined;
}

function isSamePort(one: Listening, other: Listening): boolean {
  const hosts = [one.host, other.host];
  const overlap = one.host === other.host || hosts.some((name) => WILDCARD_HOSTS.includes(name));
  return one.port !== 0 && one.port === other.port && overlap;
}

/** Whoever asks for authentication must not get a broker that lets everybody in. */
function credentials({
  enableAuthentication,
  authToken,
  authDatabasePath,
}: Configuration): Conflict | undefined {
  if (!enableAuthentication || authToken !== '' || authDatabasePath !== '') return undefined;
  return {
    keys: ['superuserPassword', 'enableAuthentication'],
    allowed: 'authToken, superuserPassword or authDatabasePath with enableAuthentication true',
  };
}

/** Whoever names the superuser expects that there is one. An explicit `enableAuthentication: false` is the wish to let everybody in. */
function unusedSuperuser({ enableAuthentication }: Configuration, isGiven: IsGiven): Conflict | undefined {
  if (enableAuthentication || isGiven('enableAuthentication') || !isGiven('superuserUsername'))
    return undefined;
  return {
    keys: ['superuserUsername', 'enableAuthentication'],
    allowed:
      'superuserPassword or authDatabasePath with a superuserUsername, or enableAuthentication false given expressly',
  };
}

/** Without users nobody could use a dashboard that asks for one. */
function dashboardUsers({ dashboardAuthentication, authDatabasePath }: Configuration): Conflict | undefined {
  if (!dashboardAuthentication || authDatabasePath !== '') return undefined;
  return {
    keys: ['dashboardAuthentication', 'authDatabasePath'],
    allowed: 'superuserPassword or authDatabasePath with dashboardAuthentication on',
  };
}

function users({ superuserPassword, authDatabasePath }: Configuration): Conflict | undefined {
  if (superuserPassword === '' || authDatabasePath !== '') return undefined;
  return {
    keys: ['authDatabasePath', 'superuserPassword'],
    allowed: 'the path of a file, or :memory:, with superuserPassword',
  };
}
