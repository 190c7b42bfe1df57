// The options of a client, and their defaults. Implements CLIENT-003, CLIENT-004, CLIENT-008, CLIENT-009 and CLIENT-034.

import { randomUUID } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { format } from 'node:util';
import type { Algorithm, Compressor } from '../protocol/compression.ts';
import { defaultLimits, type ProtocolLimits } from '../protocol/limits.ts';
import type { TlsOptions } from './tls-options.ts';

export type ConnectOptions = TlsOptions & {
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
  /** The compressor; without it the client offers no compression. */
  readonly compressor?: Compressor;
  /** In descending preference. Default brotli, gzip. */
  readonly compressions?: readonly Algorithm[];
  /** Shorter bodies are sent uncompressed. Default 1024. */
  readonly compressionThresholdBytes?: number;
  readonly authToken?: string;
  readonly username?: string;
  readonly password?: string;
  /** Free text for the broker's log. */
  readonly clientVersion?: string;
  /** Longest message that is sent or accepted. Default 1 MiB. */
  readonly maxMessageSizeBytes?: number;
  /** Creates the ids of messages and commands; must be unique. Default: random UUIDs. */
  readonly createId?: () => string;
  /** Called when a handler fails; may be async. Its own failure becomes a warning of the process. Default: such a warning. */
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
  /** Never throws. */
  readonly onHandlerError: (error: unknown) => void;
};

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
    onHandlerError: reportTo(options.onHandlerError ?? warnAboutHandler),
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

/** Wraps the user's callback: neither an exception nor a rejection of it stops the handling of messages. */
function reportTo(callback: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    const report = async () => callback(error);
    report().catch((failure: unknown) => warn('onHandlerError failed', failure));
  };
}

/** Warns of the failure and continues, because the broker redelivers the message. */
function warnAboutHandler(error: unknown): void {
  warn('a message handler failed', error);
}

function warn(what: string, error: unknown): void {
  process.emitWarning(format('%s: %s', what, error instanceof Error ? error.message : error));
}
