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
  /** Unsent bytes of one connection above which the broker stops reading from it. */
  readonly maxOutboundBytes: number;
  /** Bytes of pending commands of one connection above which the broker stops reading from it. */
  readonly maxPendingInputBytes: number;
  /** Bytes that received input and unsent output of all connections may take. */
  readonly maxBufferedBytes: number;
  readonly shutdownTimeoutMs: number;
  /** Undefined: no limit. */
  readonly rateLimit?: {
    readonly maxConnectionsPerIpPerWindow: number;
    readonly connectionWindowMs: number;
    readonly maxMessagesPerClientPerSecond: number;
  };
  /** Sent in ConnectAck. */
  readonly serverVersion: string;
};

/** Takes the gateway's options from the effective configuration. */
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
