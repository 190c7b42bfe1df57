// The table of configuration keys: the single source of flags, environment names, the file, `truemq config`, `--help` and the reference
// page. Values and words only; key-kinds.ts reads the values, derived-defaults.ts has the defaults that depend on other values. Implements
// CONFIG-011, CONFIG-013 and CONFIG-014.

import { DEFAULT_HOST, DEFAULT_PORT } from '../model/default-address.ts';
import { DeliveryMode, type DeliveryModeName } from '../model/delivery-mode.ts';
import { nameOfNumber } from '../model/named-numbers.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';
import { authenticationKeys } from './authentication-keys.ts';
import { isHostName } from './host-name.ts';
import type { KeyKind } from './key-kinds.ts';
import { tlsKeys } from './tls-keys.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const GIB = 1024 * MIB;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const INT32_MAX = 2_147_483_647;
/** The longest timeout of a timer of the runtime; a longer one would fire immediately. */
const MAX_TIMER_MS = 24 * DAY_MS;

const deliveryModeNames = Object.keys(DeliveryMode) as DeliveryModeName[];

export const configurationKeys = {
  host: {
    kind: 'text',
    section: 'Listening',
    default: DEFAULT_HOST,
    doc: 'Address or name that the broker listens on.',
  },
  port: {
    kind: 'port',
    section: 'Listening',
    default: DEFAULT_PORT,
    doc: 'TCP port that the broker listens on; 0 means any free port.',
  },
  maxConnections: {
    kind: 'count',
    section: 'Listening',
    derived: '1000, or 64 less than the files that the process may have open if that is less',
    min: 1,
    max: 1_000_000,
    doc: 'Maximum number of open connections; the broker answers one more by CONNECTION_LIMIT and closes it.',
  },
  handshakeTimeout: {
    kind: 'duration',
    section: 'Listening',
    default: 10 * SECOND_MS,
    min: 1,
    max: MAX_TIMER_MS,
    doc: 'The broker closes a connection on which no Connect arrives within this time.',
  },
  frameTimeout: {
    kind: 'duration',
    section: 'Listening',
    default: 30 * SECOND_MS,
    min: 1,
    max: MAX_TIMER_MS,
    doc: 'The broker closes a connection on which a frame takes longer than this from its first byte to its last.',
  },
  idleTimeout: {
    kind: 'duration',
    section: 'Listening',
    default: 5 * MINUTE_MS,
    min: 1,
    max: MAX_TIMER_MS,
    doc: 'The broker closes a connection on which the client sends no byte for this time.',
  },
  shutdownTimeout: {
    kind: 'duration',
    section: 'Listening',
    default: 30 * SECOND_MS,
    min: 0,
    max: MAX_TIMER_MS,
    doc: 'Maximum time that a stopping broker waits for the acknowledgments of messages in flight.',
  },

  ...tlsKeys,

  defaultDeliveryMode: {
    kind: 'choice',
    section: 'Queues',
    choices: deliveryModeNames,
    default: nameOfNumber(DeliveryMode, defaultQueueOptions.mode),
    doc: 'Delivery mode of a queue that is created without options.',
  },
  maxQueueSize: {
    kind: 'count',
    section: 'Queues',
    default: defaultQueueOptions.maxQueueSize,
    min: 1,
    max: INT32_MAX,
    doc: 'Maximum number of waiting messages of a queue that is created without options.',
  },
  enableAutoCreate: {
    kind: 'boolean',
    section: 'Queues',
    words: ['true', 'false'],
    default: true,
    doc: 'Whether a publish or a subscription to a missing queue creates it.',
  },
  maxQueues: {
    kind: 'count',
    section: 'Queues',
    default: 100_000,
    min: 1,
    max: 10_000_000,
    doc: 'Maximum number of queues.',
  },
  validatePayload: {
    kind: 'boolean',
    section: 'Queues',
    words: ['true', 'false'],
    default: true,
    doc: 'Whether the broker refuses a payload that is not one valid JSON text.',
  },
  storage: {
    kind: 'choice',
    section: 'Storage',
    choices: ['memory', 'sqlite', 'module'],
    derived: 'memory; module when storageModule is given',
    doc: 'Where the broker keeps messages: memory loses them at a restart, sqlite keeps them in a file, module keeps them in the store of storageModule.',
  },
  storageModule: {
    kind: 'text',
    section: 'Storage',
    default: '',
    mayBeEmpty: true,
    doc: 'An ES module that opens your own store: a path, absolute or beginning with ./ or ../ (relative to the working directory), or the name of a package that is installed beside truemq. Only with storage module.',
  },
  storagePath: {
    kind: 'text',
    section: 'Storage',
    derived: 'truemq.db; none with storage module',
    mayBeEmpty: true,
    doc: 'With storage sqlite: the file; the broker creates it if it does not exist. With storage module: a text that the broker passes to the module. Without any storage given, the broker refuses it.',
  },
  synchronous: {
    kind: 'choice',
    section: 'Storage',
    choices: ['full', 'normal'],
    default: 'full',
    doc: 'How safely sqlite saves: with full, confirmed messages survive a loss of power; with normal, only a crash of the broker; normal is faster.',
  },

  ackTimeout: {
    kind: 'duration',
    section: 'Delivery',
    default: 30 * SECOND_MS,
    min: 1,
    max: MAX_TIMER_MS,
    doc: 'How long the broker waits for the acknowledgment of a delivery.',
  },
  retryDelay: {
    kind: 'duration',
    section: 'Delivery',
    default: SECOND_MS,
    min: 0,
    max: MAX_TIMER_MS,
    doc: 'Pause after the first failed attempt, in addition to ackTimeout; it doubles with each further failed attempt.',
  },
  maxRetryDelay: {
    kind: 'duration',
    section: 'Delivery',
    default: 2 * MINUTE_MS,
    min: 0,
    max: MAX_TIMER_MS,
    doc: 'Maximum pause between two attempts, in addition to ackTimeout.',
  },
  maxInFlightPerSubscriber: {
    kind: 'count',
    section: 'Delivery',
    default: 256,
    min: 1,
    max: 65_536,
    doc: 'Maximum number of unacknowledged messages of one subscription.',
  },
  maxSubscriptionsPerConnection: {
    kind: 'count',
    section: 'Delivery',
    default: 1_000,
    min: 1,
    max: 1_000_000,
    doc: 'Maximum number of subscriptions of one connection.',
  },

  maxMessageSize: {
    kind: 'size',
    section: 'Memory',
    default: MIB,
    min: 256,
    max: 64 * MIB,
    doc: 'Maximum size of the body of a frame; existing clients read at most 1MiB. A broker does not start on a store with a larger message.',
  },
  maxDecompressedSize: {
    kind: 'size',
    section: 'Memory',
    derived: 'maxMessageSize',
    min: 256,
    max: 64 * MIB,
    doc: 'Maximum size of a decompressed body.',
  },
  maxQueuedBytes: {
    kind: 'size',
    section: 'Memory',
    derived: 'half of memoryLimit, or of 1.25 times the heap limit of Node.js if that is less',
    min: 1,
    max: 1024 * GIB,
    doc: 'Maximum number of bytes of all messages that the broker holds; it answers a publish beyond by MEMORY_LIMIT.',
  },
  maxBlockedPublishes: {
    kind: 'count',
    section: 'Memory',
    default: 1_024,
    min: 0,
    max: 1_000_000,
    doc: 'Maximum number of blocked publishes of one connection.',
  },
  maxBlockedBytes: {
    kind: 'size',
    section: 'Memory',
    default: 4 * MIB,
    min: 0,
    max: GIB,
    doc: 'Maximum number of bytes of the blocked publishes of one connection.',
  },
  maxOutboundBytes: {
    kind: 'size',
    section: 'Memory',
    default: 4 * MIB,
    min: 1,
    max: GIB,
    doc: 'Limit of the unsent bytes of one connection; above it the broker stops reading from the connection and delivering to it.',
  },
  maxPendingInputBytes: {
    kind: 'size',
    section: 'Memory',
    default: 4 * MIB,
    min: 1,
    max: GIB,
    doc: 'Limit of the bytes that the broker has read from one connection and not yet handled; above it the broker stops reading.',
  },
  maxStructureBytes: {
    kind: 'size',
    section: 'Memory',
    derived: 'an eighth of memoryLimit, or of 1.25 times the heap limit of Node.js if that is less',
    min: 1,
    max: 1024 * GIB,
    doc: 'Bytes of queues, subscriptions and deliveries in flight; a command that needs more gets MEMORY_LIMIT.',
  },
  maxBufferedBytes: {
    kind: 'size',
    section: 'Memory',
    derived: 'an eighth of memoryLimit, or of 1.25 times the heap limit of Node.js if that is less',
    min: 1,
    max: 1024 * GIB,
    doc: 'Unsent and unprocessed bytes of all connections; over it the broker reads and delivers less to each of them.',
  },
  memoryLimit: {
    kind: 'size',
    section: 'Memory',
    derived: "the container's, else the machine's",
    min: MIB,
    max: 1024 * GIB,
    doc: 'Memory that the broker may use; it is unhealthy when it uses 90 percent of it or more.',
  },

  rateLimit: {
    kind: 'boolean',
    section: 'Rate limits',
    words: ['on', 'off'],
    default: true,
    doc: 'Whether the broker applies the three limits below.',
  },
  maxConnectionsPerIpPerWindow: {
    kind: 'count',
    section: 'Rate limits',
    default: 20,
    min: 1,
    max: 1_000_000,
    doc: 'Maximum number of connections from one address within connectionWindow; the broker closes one more immediately. IPv6 addresses with the same /64 prefix count as one address.',
  },
  connectionWindow: {
    kind: 'duration',
    section: 'Rate limits',
    default: 60 * SECOND_MS,
    min: 1,
    max: MAX_TIMER_MS,
    doc: 'The window of maxConnectionsPerIpPerWindow.',
  },
  maxMessagesPerClientPerSecond: {
    kind: 'count',
    section: 'Rate limits',
    default: 1_000,
    min: 1,
    max: 10_000_000,
    doc: 'Maximum number of publishes of one connection per second; the broker answers one more by RATE_LIMITED.',
  },

  ...authenticationKeys,

  supportedCompressions: {
    kind: 'list',
    section: 'Compression',
    choices: ['brotli', 'gzip'],
    default: ['brotli', 'gzip'],
    doc: 'Compression algorithms that a client may negotiate; empty for none.',
  },
  compressionThreshold: {
    kind: 'size',
    section: 'Compression',
    default: 1_024,
    min: 0,
    max: 64 * MIB,
    doc: 'Minimum size of a body that the broker compresses.',
  },

  health: {
    kind: 'boolean',
    section: 'Health and metrics',
    words: ['on', 'off'],
    default: true,
    doc: 'Whether the broker starts the HTTP server for health and metrics.',
  },
  healthHost: {
    kind: 'text',
    section: 'Health and metrics',
    default: DEFAULT_HOST,
    doc: 'Address or name that the health server listens on.',
  },
  healthPort: {
    kind: 'port',
    section: 'Health and metrics',
    default: 2926,
    doc: 'TCP port that the health server listens on; 0 means any free port.',
  },
  allowedHosts: {
    kind: 'list',
    section: 'Health and metrics',
    derived: 'the names and addresses that the broker listens on, and localhost',
    form: {
      isRight: isHostName,
      words:
        'host names in ASCII such as broker.example, or IP addresses, separated by commas, without scheme, port and path',
    },
    doc: 'Names that an HTTP request may have in its Host header, besides IP addresses and localhost.',
  },
  dashboard: {
    kind: 'boolean',
    section: 'Dashboard',
    words: ['on', 'off'],
    default: true,
    doc: 'Whether the broker starts the HTTP server of the dashboard.',
  },
  dashboardHost: {
    kind: 'text',
    section: 'Dashboard',
    default: DEFAULT_HOST,
    doc: 'Address or name that the dashboard listens on. It asks for no credentials: whoever reaches it can read and delete messages.',
  },
  dashboardPort: {
    kind: 'port',
    section: 'Dashboard',
    default: 12_925,
    doc: 'TCP port that the dashboard listens on; 0 means any free port.',
  },
  dashboardAuthentication: {
    kind: 'boolean',
    section: 'Dashboard',
    words: ['on', 'off'],
    default: false,
    doc: 'Whether the dashboard asks for the name and password of a superuser, by HTTP Basic. The password can be read on the way.',
  },
  pathPrefix: {
    kind: 'text',
    section: 'Dashboard',
    default: '/',
    form: {
      isRight: (text) => /^\/((?!\.{1,2}\/)[-.\w~]+\/)*$/.test(text),
      words:
        'a path that begins and ends with a slash, of letters, digits, -, ., _ and ~, without . or .. as a segment',
    },
    doc: 'Path below which the dashboard serves its page and its API.',
  },

  logLevel: {
    kind: 'choice',
    section: 'Logging',
    choices: ['error', 'warn', 'info', 'debug'],
    default: 'info',
    doc: 'The broker logs messages of this level and of all more important ones.',
  },
  logFormat: {
    kind: 'choice',
    section: 'Logging',
    choices: ['pretty', 'json'],
    derived: 'pretty on a terminal, else json',
    doc: 'Format of the log lines, which the broker writes to stderr.',
  },
} as const satisfies Record<string, KeyKind>;

export type ConfigurationKey = keyof typeof configurationKeys;

/** Every key with its kind, in the order of the table. */
export const configurationKeyList = Object.entries(configurationKeys) as readonly (readonly [
  ConfigurationKey,
  KeyKind,
])[];

/** `maxQueueSize` as a flag: `max-queue-size`, without the dashes in front. */
export function flagName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `maxQueueSize` in the environment: `TRUEMQ_MAX_QUEUE_SIZE`. */
export function environmentName(key: string): string {
  return ENVIRONMENT_PREFIX + flagName(key).replaceAll('-', '_').toUpperCase();
}

export const ENVIRONMENT_PREFIX = 'TRUEMQ_';
