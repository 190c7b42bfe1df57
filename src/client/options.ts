// What a client can be told when it connects, and the defaults. Area CLIENT (CLIENT-003, CLIENT-004, CLIENT-008, CLIENT-009,
// CLIENT-034).

import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type { Algorithm, Compressor } from '../protocol/compression.ts';
import { defaultLimits, type ProtocolLimits } from '../protocol/limits.ts';

export type ConnectOptions = {
  /** Default 127.0.0.1. */
  readonly host?: string;
  /** Default 2925. */
  readonly port?: number;
  /** An open stream to a broker, in place of host and port. The client owns it from then on. */
  readonly stream?: Duplex;
  /** How long a command, and the handshake, may wait for its answer. Default 10 s. */
  readonly commandTimeoutMs?: number;
  /** How often a Ping is sent. Default 30 s. */
  readonly keepAliveIntervalMs?: number;
  /** What compresses; without it nothing is offered and nothing compressed. */
  readonly compressor?: Compressor;
  /** In falling preference. Default brotli, gzip. */
  readonly compressions?: readonly Algorithm[];
  /** Shorter bodies are sent uncompressed. Default 1024. */
  readonly compressionThresholdBytes?: number;
  readonly authToken?: string;
  readonly username?: string;
  readonly password?: string;
  /** Free text for the broker's log. */
  readonly clientVersion?: string;
  /** Longest message that is sent or taken. Default 1 MiB. */
  readonly maxMessageSizeBytes?: number;
  /** Names messages and commands; must not repeat itself. Default: random UUIDs. */
  readonly createId?: () => string;
  /** Told about handlers that failed. Default: a warning of the process. */
  readonly onHandlerError?: (error: unknown) => void;
};

/** Options with every default filled in. */
export type ClientSettings = {
  readonly commandTimeoutMs: number;
  readonly keepAliveIntervalMs: number;
  readonly compressor: Compressor | undefined;
  readonly compressions: readonly Algorithm[];
  readonly compressionThresholdBytes: number;
  readonly connectHeaders: ReadonlyMap<string, string>;
  readonly limits: ProtocolLimits;
  readonly createId: () => string;
  readonly onHandlerError: (error: unknown) => void;
};

export const DEFAULT_HOST = '127.0.0.1';
export const DEFAULT_PORT = 2925;

export function toSettings(options: ConnectOptions): ClientSettings {
  const maxMessageSizeBytes = options.maxMessageSizeBytes ?? defaultLimits.maxMessageSizeBytes;
  return {
    commandTimeoutMs: options.commandTimeoutMs ?? 10_000,
    keepAliveIntervalMs: options.keepAliveIntervalMs ?? 30_000,
    compressor: options.compressor,
    compressions: options.compressor === undefined ? [] : (options.compressions ?? ['brotli', 'gzip']),
    compressionThresholdBytes: options.compressionThresholdBytes ?? 1_024,
    connectHeaders: connectHeaders(options),
    limits: { ...defaultLimits, maxMessageSizeBytes, maxDecompressedSizeBytes: maxMessageSizeBytes },
    createId: options.createId ?? randomUUID,
    onHandlerError: options.onHandlerError ?? warnAboutHandler,
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

/** A failed handler must not go unnoticed, and must not end the process either: the broker will send the message again. */
function warnAboutHandler(error: unknown): void {
  process.emitWarning(`a message handler failed: ${error instanceof Error ? error.message : String(error)}`);
}
