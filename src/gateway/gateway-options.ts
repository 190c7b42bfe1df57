// Immutable, validated settings of the gateway: limits of the protocol, timeouts and limits of connections.

import type { Configuration } from '../config/configuration.ts';
import type { Algorithm } from '../protocol/compression.ts';
import { defaultLimits, type ProtocolLimits } from '../protocol/limits.ts';
import type { TimeoutSettings } from './connection-timeouts.ts';

export type GatewayOptions = {
  readonly limits: ProtocolLimits;
  readonly timeouts: TimeoutSettings;
  readonly supportedCompressions: readonly Algorithm[];
  readonly compressionThresholdBytes: number;
  readonly validatePayload: boolean;
  readonly maxConnections: number;
  /** Bytes that may wait to be sent on one connection before nothing more is read from it. */
  readonly maxOutboundBytes: number;
  /** Bytes of commands of one connection that may wait for their batch before nothing more is read from it. */
  readonly maxPendingInputBytes: number;
  /** Bytes that all connections together may take for received input and unsent output. */
  readonly maxBufferedBytes: number;
  readonly shutdownTimeoutMs: number;
  /** Absent: no limit. */
  readonly rateLimit?: {
    readonly maxConnectionsPerIpPerWindow: number;
    readonly connectionWindowMs: number;
    readonly maxMessagesPerClientPerSecond: number;
  };
  /** Told to clients in ConnectAck. */
  readonly serverVersion: string;
};

/** The gateway's options out of the effective configuration. */
export function gatewayOptions(configuration: Configuration, serverVersion: string): GatewayOptions {
  const { maxMessageSizeBytes, maxDecompressedSizeBytes } = configuration;
  return {
    limits: { ...defaultLimits, maxMessageSizeBytes, maxDecompressedSizeBytes },
    timeouts: configuration,
    supportedCompressions: configuration.supportedCompressions,
    compressionThresholdBytes: configuration.compressionThresholdBytes,
    validatePayload: configuration.validatePayload,
    maxConnections: configuration.maxConnections,
    maxOutboundBytes: configuration.maxOutboundBytes,
    maxPendingInputBytes: configuration.maxPendingInputBytes,
    maxBufferedBytes: configuration.maxBufferedBytes,
    shutdownTimeoutMs: configuration.shutdownTimeoutMs,
    ...(configuration.rateLimit ? { rateLimit: configuration } : {}),
    serverVersion,
  };
}
