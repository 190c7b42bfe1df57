// The options of a client, and their defaults. Implements CLIENT-003, CLIENT-004, CLIENT-008, CLIENT-009,
// CLIENT-028 and CLIENT-034.

import type { Duplex } from 'node:stream';
import { ZlibCompressor } from '../compression/zlib-compressor.ts';
import type { Algorithm, Compressor } from '../protocol/compression.ts';
import { defaultLimits, type ProtocolLimits } from '../protocol/limits.ts';
import type { CallOptions } from './abort.ts';
import type { DeclarationOptions } from './declarations/apply-declarations.ts';
import type { QueueDifference } from './declarations/differences.ts';
import {
  type ConflictStrategy,
  checkDeclarations,
  type QueueDeclaration,
} from './declarations/queue-declaration.ts';
import { sequentialIds } from './ids.ts';
import {
  checkEntry,
  checkHeaderText,
  checkId,
  checkInteger,
  checkKeys,
  checkNumber,
  checkOneOf,
  checkSignal,
  checkType,
  type KeysOf,
  shown,
} from './option-checks.ts';
import { callSafely, warn } from './process-warning.ts';
import { type PublishWindowOptions, toPublishWindow } from './publish-window.ts';
import {
  MAX_INT32,
  type ReconnectOptions,
  type ReconnectSettings,
  toReconnectSettings,
} from './reconnect-schedule.ts';
import { checkTlsOptions, type TlsOptions } from './tls-options.ts';

export type ConnectOptions = TlsOptions & {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 2925. */
  readonly port?: number;
  /** An open stream to a broker, in place of host and port. The client owns it from then on, and does not reconnect. */
  readonly stream?: Duplex;
  /** Opens a stream to a broker, in place of host and port, for the first connection and for each attempt to reconnect. */
  readonly openStream?: (signal: AbortSignal) => Promise<Duplex>;
  /** When and how often the client reconnects; false: never. */
  readonly reconnect?: false | ReconnectOptions;
  /** Publishes that wait for their PublishAck when the connection is lost: sent again with the same id (default), or rejected. */
  readonly onInterruptedPublish?: 'resend' | 'reject';
  readonly publishWindow?: PublishWindowOptions;
  /** The queues that must exist, each with the options that it should have; a name alone stands for the broker's defaults. */
  readonly queues?: readonly (string | QueueDeclaration)[];
  /** What becomes of an existing queue with a Soft or Hard difference to its declaration. Default Ignore. */
  readonly conflictStrategy?: ConflictStrategy;
  /** Called with each difference, of every severity, at the first connection. Its failure becomes a warning of the process. */
  readonly onQueueDifference?: (difference: QueueDifference) => void;
  /** How long opening a stream, the handshake, and then each command, may take: 1 to 2,147,483,647 ms each. Default 10 s. */
  readonly commandTimeoutMs?: number;
  /** How often a Ping is sent: every 1 to 2,147,483,647 ms. Default 30 s. */
  readonly keepAliveIntervalMs?: number;
  /** In descending preference; empty for no compression. Default brotli, gzip. */
  readonly compressions?: readonly Algorithm[];
  /** Shorter bodies are sent uncompressed: 0 bytes and more. Default 1024. */
  readonly compressionThresholdBytes?: number;
  readonly authToken?: string;
  readonly username?: string;
  readonly password?: string;
  /** Free text for the broker's log. */
  readonly clientVersion?: string;
  /** Longest message that is sent or accepted: 256 to 2,147,483,647 bytes. Default 1 MiB. */
  readonly maxMessageSizeBytes?: number;
  /** Creates the ids of messages and commands: unique texts of 1 to 256 bytes. Default: a random text and a number. */
  readonly createId?: () => string;
  /** Called when a handler fails; may be async. Its own failure becomes a warning of the process. Default: such a warning. */
  readonly onHandlerError?: (error: unknown) => void;
};

/** Options with every default filled in. */
export type ClientSettings = {
  readonly commandTimeoutMs: number;
  readonly keepAliveIntervalMs: number;
  readonly compressor: Compressor;
  readonly compressions: readonly Algorithm[];
  readonly compressionThresholdBytes: number;
  /** Undefined: the client does not reconnect. */
  readonly reconnect: ReconnectSettings | undefined;
  /** Whether publishes that a lost connection interrupted are sent on the next one. */
  readonly resendsPublishes: boolean;
  readonly publishWindow: Required<PublishWindowOptions>;
  readonly declarations: DeclarationOptions;
  readonly connectHeaders: ReadonlyMap<string, string>;
  readonly limits: ProtocolLimits;
  readonly createId: () => string;
  /** The user gave `createId`, which may repeat an id that is under way. */
  readonly mayRepeatIds: boolean;
  /** Never throws. */
  readonly onHandlerError: (error: unknown) => void;
};

/** A broker has no smaller limit of its own (`maxMessageSize`). */
const MIN_MESSAGE_SIZE_BYTES = 256;

/** @throws TypeError for an unknown option or a value of another type; RangeError for one that is not in its range; DeclarationError */
export function toSettings(options: ConnectOptions & CallOptions): ClientSettings {
  checkOptions(options);
  const reconnect = toReconnect(options);
  const maxMessageSizeBytes = options.maxMessageSizeBytes ?? defaultLimits.maxMessageSizeBytes;
  return {
    commandTimeoutMs: options.commandTimeoutMs ?? 10_000,
    keepAliveIntervalMs: options.keepAliveIntervalMs ?? 30_000,
    compressor: new ZlibCompressor(),
    compressions: options.compressions ?? ['brotli', 'gzip'],
    compressionThresholdBytes: options.compressionThresholdBytes ?? 1_024,
    reconnect,
    resendsPublishes: reconnect !== undefined && options.onInterruptedPublish !== 'reject',
    publishWindow: toPublishWindow(options.publishWindow),
    declarations: toDeclarations(options),
    connectHeaders: connectHeaders(options),
    limits: { ...defaultLimits, maxMessageSizeBytes, maxDecompressedSizeBytes: maxMessageSizeBytes },
    createId: options.createId === undefined ? sequentialIds() : checkedIds(options.createId),
    mayRepeatIds: options.createId !== undefined,
    onHandlerError: reportTo(options.onHandlerError),
  };
}

const optionKeys: KeysOf<ConnectOptions & CallOptions> = {
  host: true,
  port: true,
  stream: true,
  openStream: true,
  username: true,
  password: true,
  authToken: true,
  reconnect: true,
  onInterruptedPublish: true,
  queues: true,
  conflictStrategy: true,
  onQueueDifference: true,
  publishWindow: true,
  commandTimeoutMs: true,
  keepAliveIntervalMs: true,
  compressions: true,
  compressionThresholdBytes: true,
  maxMessageSizeBytes: true,
  onHandlerError: true,
  clientVersion: true,
  createId: true,
  useTls: true,
  tlsCa: true,
  tlsServerName: true,
  tlsCertificate: true,
  tlsKey: true,
  tlsKeyPassword: true,
  skipCertificateValidation: true,
  signal: true,
};

/** @throws TypeError */
export function checkConnectKeys(options: ConnectOptions & CallOptions): void {
  checkKeys('the options of connect', options, optionKeys);
}

function checkOptions(options: ConnectOptions & CallOptions): void {
  checkConnectKeys(options);
  const { commandTimeoutMs = 1, keepAliveIntervalMs = 1, compressionThresholdBytes = 0 } = options;
  // A timer of Node.js that is given a longer delay, or none, waits 1 ms.
  checkNumber('commandTimeoutMs', commandTimeoutMs, 1, MAX_INT32);
  checkNumber('keepAliveIntervalMs', keepAliveIntervalMs, 1, MAX_INT32);
  checkNumber('compressionThresholdBytes', compressionThresholdBytes, 0, Number.POSITIVE_INFINITY);
  const { maxMessageSizeBytes = MIN_MESSAGE_SIZE_BYTES, port = 1 } = options;
  checkInteger('maxMessageSizeBytes', maxMessageSizeBytes, MIN_MESSAGE_SIZE_BYTES, MAX_INT32);
  checkInteger('port', port, 1, 65_535);
  checkOneOf('onInterruptedPublish', options.onInterruptedPublish, ['resend', 'reject']);
  checkCompressions(options.compressions);
  for (const name of ['authToken', 'username', 'password', 'clientVersion'] as const)
    if (options[name] !== undefined) checkHeaderText(name, options[name]);
  for (const name of ['createId', 'onHandlerError', 'onQueueDifference', 'openStream'] as const)
    checkType(name, options[name], 'function');
  for (const name of ['useTls', 'skipCertificateValidation'] as const)
    checkType(name, options[name], 'boolean');
  for (const name of ['host', 'tlsServerName', 'tlsKeyPassword'] as const)
    checkType(name, options[name], 'string');
  // Node.js takes it for this machine.
  if (options.host === '')
    throw new RangeError('host: came an empty text; allowed is a host name or an IP address');
  checkTlsOptions(options);
  checkSignal(options.signal);
}

function checkCompressions(compressions: unknown): void {
  if (compressions === undefined) return;
  if (!Array.isArray(compressions))
    throw new TypeError(
      `compressions: came ${shown(compressions)}; allowed is a list of 'brotli' and 'gzip', [] for none`,
    );
  for (const name of compressions) checkEntry('compressions', name, ['brotli', 'gzip']);
}

/** Ids that a broker would refuse, or that its answer would not repeat, fail where they are made. */
function checkedIds(createId: () => string): () => string {
  return () => {
    const id = createId();
    checkId('the id from createId', id);
    return id;
  };
}

function toReconnect({ stream, reconnect = {} }: ConnectOptions): ReconnectSettings | undefined {
  const settings = reconnect === false ? undefined : toReconnectSettings(reconnect);
  return stream === undefined ? settings : undefined;
}

function toDeclarations({
  queues = [],
  conflictStrategy,
  onQueueDifference,
}: ConnectOptions): DeclarationOptions {
  if (!Array.isArray(queues))
    throw new TypeError(`queues: came ${shown(queues)}; allowed is a list of names and declarations`);
  const declared = queues.map((queue) => (typeof queue === 'string' ? { name: queue } : queue));
  checkDeclarations(declared, conflictStrategy);
  return {
    queues: declared,
    ...(conflictStrategy !== undefined && { strategy: conflictStrategy }),
    ...(onQueueDifference !== undefined && {
      onDifference: (difference) => callSafely('onQueueDifference', () => onQueueDifference(difference)),
    }),
  };
}

function connectHeaders(options: ConnectOptions): ReadonlyMap<string, string> {
  const given = {
    authToken: options.authToken,
    authUsername: options.username,
    authPassword: options.password,
    clientVersion: options.clientVersion,
  };
  return new Map(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined));
}

/** A handler's failure ends nothing, because the broker sends the message again; neither does a failure of the user's callback. */
function reportTo(callback: ((error: unknown) => void) | undefined): (error: unknown) => void {
  if (callback === undefined) return (error) => warn('a message handler failed', error);
  return (error) => callSafely('onHandlerError', () => callback(error));
}
