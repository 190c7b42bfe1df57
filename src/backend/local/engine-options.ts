// Immutable, validated settings of the engine: settings of the core, limits of the protocol, timeouts and limits of connections.

import type { BrokerSettings } from '../../broker/interface/settings.ts';
import type { TimeoutSettings } from '../../gateway/connection-timeouts.ts';
import type { Algorithm } from '../../protocol/compression.ts';
import type { ProtocolLimits } from '../../protocol/limits.ts';

export type EngineOptions = {
  readonly broker: BrokerSettings;
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
