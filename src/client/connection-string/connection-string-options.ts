// The options that a connection string can set. Types only.

import type { Algorithm } from '../../protocol/compression.ts';

/** Absent options were not in the connection string and have the client's default. */
export type ConnectionStringOptions = {
  /** A name, or an IP address without brackets. */
  readonly host: string;
  readonly port?: number;
  readonly username?: string;
  readonly password?: string;
  readonly useTls?: boolean;
  readonly skipCertificateValidation?: boolean;
  readonly keepAliveIntervalMs?: number;
  readonly commandTimeoutMs?: number;
  /** In descending preference; empty: no compression. */
  readonly compressions?: readonly Algorithm[];
  readonly compressionThresholdBytes?: number;
  readonly reconnect?: {
    /** 0: the client does not reconnect. */
    readonly maxAttempts?: number;
    readonly initialDelayMs?: number;
    readonly maxDelayMs?: number;
    readonly exponentialBackoff?: boolean;
  };
  /** Names of queues to declare. */
  readonly queues?: readonly string[];
};
