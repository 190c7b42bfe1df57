// The table of configuration keys: the single source of flags, environment names, the file, `truemq config`, `--help` and the reference
// page. Values and words only; key-kinds.ts reads the values, derived-defaults.ts has the defaults that depend on other values. Implements
// CONFIG-011, CONFIG-013 and CONFIG-014.

import { DEFAULT_HOST, DEFAULT_PORT } from '../model/default-address.ts';
import { DeliveryMode, type DeliveryModeName } from '../model/delivery-mode.ts';
import { nameOfNumber } from '../model/named-numbers.ts';
import { defaultQueueOptions } from '../model/queue-options.ts';
import type { KeyKind } from './key-kinds.ts';

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
    doc: 'TCP port that the broker listens on; 0 takes any free one.',
  },
  maxConnections: {
    kind: 'count',
    section: 'Listening',
    default: 1_000,
    min: 1,
    max: 1_000_000,
    doc: 'Connections open at once; one more gets CONNECTION_LIMIT and is closed.',
  },
  handshakeTimeout: {
    kind: 'duration',
    section: 'Listening',
    default: 10 * SECOND_MS,
    min: 1,
    max: MAX_TIMER_MS,
    doc: 'How long a new connection may take until its Connect has arrived.',
  },
  frameTimeout: {
    kind: 'duration',
    section: 'Listening',
    default: 30 * SECOND_MS,
    min: 1,
    max: MAX_TIMER_MS,
    doc: 'How long a frame may take from its first byte to its last.',
  },
  idleTimeout: {
    kind: 'duration',
    section: 'Listening',
    default: 5 * MINUTE_MS,
    min: 1,
    max: MAX_TIMER_MS,
    doc: 'How long a connection may be silent before it is closed.',
  },
  shutdownTimeout: {
    kind: 'duration',
    section: 'Listening',
    default: 30 * SECOND_MS,
    min: 0,
    max: MAX_TIMER_MS,
    doc: 'How long a stopping broker waits for the acknowledgments of messages in flight.',
  },

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
    doc: 'Messages that may wait in a queue that is created without options.',
  },
  enableAutoCreate: {
    kind: 'boolean',
    section: 'Queues',
    words: ['true', 'false'],
    default: true,
    doc: 'Whether publishing to a missing queue, or subscribing to it, creates it.',
  },
  maxQueues: {
    kind: 'count',
    section: 'Queues',
    default: 100_000,
    min: 1,
    max: 10_000_000,
    doc: 'Queues that may exist at once.',
  },
  validatePayload: {
    kind: 'boolean',
    section: 'Queues',
    words: ['true', 'false'],
    default: true,
    doc: 'Whether a payload that is not one valid JSON text is refused.',
  },
  storage: {
    kind: 'choice',
    section: 'Storage',
    choices: ['memory', 'sqlite', 'module'],
    derived: 'memory; module when storageModule is given',
    doc: 'Where messages are kept: memory keeps nothing over a restart, sqlite keeps everything in a file, module is the store of storageModule.',
  },
  storageModule: {
    kind: 'text',
    section: 'Storage',
    default: '',
    mayBeEmpty: true,
    doc: 'An ES module with a store of your own: a path, absolute or beginning with ./ or ../ (from the working directory), or the name of a package that is installed beside truemq. Only with storage module.',
  },
  storagePath: {
    kind: 'text',
    section: 'Storage',
    derived: 'truemq.db; none with storage module',
    mayBeEmpty: true,
    doc: 'The file of the sqlite storage; it is created when it is not there. With storage module: a text that is passed to the module.',
  },
  synchronous: {
    kind: 'choice',
    section: 'Storage',
    choices: ['full', 'normal'],
    default: 'full',
    doc: 'What sqlite waits for: full survives a loss of power, normal a crash of the broker, and is faster.',
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
    doc: 'Pause after the first failed attempt, beyond ackTimeout; it doubles with each further one.',
  },
  maxRetryDelay: {
    kind: 'duration',
    section: 'Delivery',
    default: 2 * MINUTE_MS,
    min: 0,
    max: MAX_TIMER_MS,
    doc: 'Longest pause between two attempts, beyond ackTimeout.',
  },
  maxInFlightPerSubscriber: {
    kind: 'count',
    section: 'Delivery',
    default: 256,
    min: 1,
    max: 65_536,
    doc: 'Unacknowledged messages that one subscription may hold.',
  },
  maxSubscriptionsPerConnection: {
    kind: 'count',
    section: 'Delivery',
    default: 1_000,
    min: 1,
    max: 1_000_000,
    doc: 'Queues that one connection may be subscribed to.',
  },

  maxMessageSize: {
    kind: 'size',
    section: 'Memory',
    default: MIB,
    min: 256,
    max: 64 * MIB,
    doc: 'Longest body of a frame; existing clients read at most 1MiB.',
  },
  maxDecompressedSize: {
    kind: 'size',
    section: 'Memory',
    derived: 'maxMessageSize',
    min: 256,
    max: 64 * MIB,
    doc: 'Longest body that a compressed frame may hold.',
  },
  maxQueuedBytes: {
    kind: 'size',
    section: 'Memory',
    derived: 'half of memoryLimit',
    min: 1,
    max: 1024 * GIB,
    doc: 'Bytes of all messages held; a publish beyond gets MEMORY_LIMIT.',
  },
  maxBlockedPublishes: {
    kind: 'count',
    section: 'Memory',
    default: 1_024,
    min: 0,
    max: 1_000_000,
    doc: 'Publishes of one connection that may wait for room in full queues.',
  },
  maxBlockedBytes: {
    kind: 'size',
    section: 'Memory',
    default: 4 * MIB,
    min: 0,
    max: GIB,
    doc: "Bytes of one connection's publishes that may wait for room in full queues.",
  },
  maxOutboundBytes: {
    kind: 'size',
    section: 'Memory',
    default: 4 * MIB,
    min: 1,
    max: GIB,
    doc: 'Unsent bytes of one connection; over it the broker stops reading from it and delivering to it.',
  },
  maxPendingInputBytes: {
    kind: 'size',
    section: 'Memory',
    default: 4 * MIB,
    min: 1,
    max: GIB,
    doc: "Bytes of one connection's commands that were read and not yet carried out; over it the broker stops reading.",
  },
  maxStructureBytes: {
    kind: 'size',
    section: 'Memory',
    derived: 'an eighth of memoryLimit',
    min: 1,
    max: 1024 * GIB,
    doc: 'Bytes of queues, subscriptions and deliveries in flight; a command that needs more gets MEMORY_LIMIT.',
  },
  maxBufferedBytes: {
    kind: 'size',
    section: 'Memory',
    derived: 'an eighth of memoryLimit',
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
    doc: 'Memory that the broker may use; health is unhealthy from 90 percent of it on.',
  },

  rateLimit: {
    kind: 'boolean',
    section: 'Rate limits',
    words: ['on', 'off'],
    default: true,
    doc: 'Whether the three limits below are kept.',
  },
  maxConnectionsPerIpPerWindow: {
    kind: 'count',
    section: 'Rate limits',
    default: 20,
    min: 1,
    max: 1_000_000,
    doc: 'Connections from one address within connectionWindow; one more is closed at once.',
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
    doc: 'Publishes of one connection per second; one more gets RATE_LIMITED.',
  },

  supportedCompressions: {
    kind: 'list',
    section: 'Compression',
    choices: ['brotli', 'gzip'],
    default: ['brotli', 'gzip'],
    doc: 'Compressions that a client may negotiate; empty for none.',
  },
  compressionThreshold: {
    kind: 'size',
    section: 'Compression',
    default: 1_024,
    min: 0,
    max: 64 * MIB,
    doc: 'Shortest body that is compressed.',
  },

  health: {
    kind: 'boolean',
    section: 'Health and metrics',
    words: ['on', 'off'],
    default: true,
    doc: 'Whether the HTTP server for health and metrics is started.',
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
    doc: 'TCP port that the health server listens on; 0 takes any free one.',
  },
  allowedHosts: {
    kind: 'list',
    section: 'Health and metrics',
    derived: 'the names and addresses it listens on, and localhost',
    doc: 'Names that an HTTP request may carry in its Host header, beside IP addresses and localhost.',
  },
  dashboard: {
    kind: 'boolean',
    section: 'Health and metrics',
    words: ['on', 'off'],
    default: false,
    unavailable: { on: 'the dashboard is not available in this version' },
    doc: 'Whether the dashboard is started.',
  },

  logLevel: {
    kind: 'choice',
    section: 'Logging',
    choices: ['error', 'warn', 'info', 'debug'],
    default: 'info',
    doc: 'The least important level that is logged.',
  },
  logFormat: {
    kind: 'choice',
    section: 'Logging',
    choices: ['pretty', 'json'],
    derived: 'pretty on a terminal, else json',
    doc: 'How log lines look; they go to stderr.',
  },
} as const satisfies Record<string, KeyKind>;

export type ConfigurationKey = keyof typeof configurationKeys;

/** Every key with its kind, in the order of the table. */
export const configurationKeyList = Object.entries(configurationKeys) as readonly (readonly [
  ConfigurationKey,
  KeyKind,
])[];

/** Keys of later versions: refused with a better reason than "unknown". */
export const keysOfLaterVersions: readonly string[] = [
  'enableAuthentication',
  'authConcurrency',
  'passwordCost',
  'authToken',
  'authTokenFile',
  'superuserUsername',
  'superuserPassword',
  'superuserPasswordFile',
  'authDatabasePath',
  'tlsCertificatePath',
  'tlsCertificatePassword',
  'tlsKeyPath',
  'tlsClientCaPath',
  'dashboardHost',
  'dashboardPort',
  'pathPrefix',
];

/** `maxQueueSize` as a flag: `max-queue-size`, without the dashes in front. */
export function flagName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `maxQueueSize` in the environment: `TRUEMQ_MAX_QUEUE_SIZE`. */
export function environmentName(key: string): string {
  return ENVIRONMENT_PREFIX + flagName(key).replaceAll('-', '_').toUpperCase();
}

export const ENVIRONMENT_PREFIX = 'TRUEMQ_';
