// The engine's options out of the effective configuration: the one place where the two vocabularies meet.

import type { Configuration } from '../../config/configuration.ts';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { defaultLimits } from '../../protocol/limits.ts';
import type { EngineOptions } from './engine-options.ts';

export function engineOptions(configuration: Configuration, serverVersion: string): EngineOptions {
  const { maxMessageSizeBytes, maxDecompressedSizeBytes } = configuration;
  return {
    broker: brokerSettings(configuration),
    limits: { ...defaultLimits, maxMessageSizeBytes, maxDecompressedSizeBytes },
    timeouts: configuration,
    supportedCompressions: configuration.supportedCompressions,
    compressionThresholdBytes: configuration.compressionThresholdBytes,
    validatePayload: configuration.validatePayload,
    maxConnections: configuration.maxConnections,
    maxOutboundBytes: configuration.maxOutboundBytes,
    maxPendingInputBytes: configuration.maxPendingInputBytes,
    shutdownTimeoutMs: configuration.shutdownTimeoutMs,
    ...(configuration.rateLimit ? { rateLimit: configuration } : {}),
    serverVersion,
  };
}

function brokerSettings(configuration: Configuration): EngineOptions['broker'] {
  return {
    defaultDeliveryMode: DeliveryMode[configuration.defaultDeliveryMode],
    defaultMaxQueueSize: configuration.maxQueueSize,
    enableAutoCreate: configuration.enableAutoCreate,
    ackTimeoutMs: configuration.ackTimeoutMs,
    retryDelayMs: configuration.retryDelayMs,
    maxRetryDelayMs: configuration.maxRetryDelayMs,
    maxInFlightPerSubscriber: configuration.maxInFlightPerSubscriber,
    maxBlockedPublishes: configuration.maxBlockedPublishes,
    maxBlockedBytes: configuration.maxBlockedBytes,
    maxQueuedBytes: configuration.maxQueuedBytes,
    maxQueues: configuration.maxQueues,
    maxSubscriptionsPerConnection: configuration.maxSubscriptionsPerConnection,
    maxBurstBytes: configuration.maxOutboundBytes,
    maxContentBytes: configuration.maxMessageSizeBytes,
  };
}
