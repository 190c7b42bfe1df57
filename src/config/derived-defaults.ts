// The defaults that depend on the machine or on other values. One function per key whose table entry says `derived`; they run in the order
// of the table below, after every given value is known. Pure. Implements CONFIG-014 for derived defaults, and CONFIG-021.

import type { Configuration, Machine } from './configuration.ts';
import { isHostName } from './host-name.ts';
import type { ConfigurationKey, configurationKeys } from './keys.ts';

type DerivedKey = {
  [Key in ConfigurationKey]: (typeof configurationKeys)[Key] extends { readonly derived: string }
    ? Key
    : never;
}[ConfigurationKey];

/** The values that a derived default may use: all given values, all fixed defaults, and the defaults above it in this table. */
export type Known = Configuration;

/** Small messages, queues and subscriptions lie in the JavaScript heap, so that they must fit into it however much memory there is. */
function usableBytes({ memoryLimitBytes }: Known, { heapLimitBytes }: Machine): number {
  return Math.min(memoryLimitBytes, 1.25 * heapLimitBytes);
}

/** Files that a broker has open without clients, at most: its store, its servers, the runtime's own, and some HTTP requests. */
export const OWN_FILES = 64;
const MAX_DEFAULT_CONNECTIONS = 1_000;

/** The file of users that is used if a superuser is configured, or if it is there. */
export const DEFAULT_USER_DATABASE = 'auth.db';

export const derivedDefaults = {
  storage: (known: Known) => (known.storageModule === '' ? 'memory' : 'module'),
  storagePath: (known: Known) => (known.storage === 'module' ? '' : 'truemq.db'),
  tlsEnabled: (known: Known) => known.tlsCertificatePath !== '',
  maxConnections: (_known: Known, { openFileLimit = Number.POSITIVE_INFINITY }: Machine) =>
    Math.max(1, Math.min(MAX_DEFAULT_CONNECTIONS, openFileLimit - OWN_FILES)),
  memoryLimit: (_known: Known, machine: Machine) => machine.memoryBytes,
  maxQueuedBytes: (known: Known, machine: Machine) => Math.floor(usableBytes(known, machine) / 2),
  maxStructureBytes: (known: Known, machine: Machine) => Math.floor(usableBytes(known, machine) / 8),
  maxBufferedBytes: (known: Known, machine: Machine) => Math.floor(usableBytes(known, machine) / 8),
  maxDecompressedSize: (known: Known) => known.maxMessageSizeBytes,
  // A file that is there counts: a broker whose superuser password was taken from the configuration must not let everybody in.
  authDatabasePath: (known: Known, machine: Machine) =>
    known.superuserPassword !== '' || machine.hasUserDatabase === true ? DEFAULT_USER_DATABASE : '',
  enableAuthentication: (known: Known) => known.authToken !== '' || known.authDatabasePath !== '',
  authConcurrency: (_known: Known, { coreCount = 1 }: Machine) => Math.max(1, coreCount - 1),
  // The loader takes these values for given ones when it reads what "truemq config" prints. A name in other letters is in no Host header as it is.
  allowedHosts: (known: Known) => {
    const hosts = [known.host, known.healthHost, known.dashboardHost, 'localhost'];
    return [...new Set(hosts.map((host) => host.replace(/\.$/, '')).filter(isHostName))];
  },
  logFormat: (_known: Known, machine: Machine) => (machine.isTerminal ? 'pretty' : 'json'),
} as const satisfies Record<DerivedKey, (known: Known, machine: Machine) => unknown>;
