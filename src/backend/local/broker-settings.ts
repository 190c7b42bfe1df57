// Takes the core's settings from the effective configuration: the one place that knows both vocabularies.

import type { BrokerSettings } from '../../broker/interface/settings.ts';
import type { Configuration } from '../../config/configuration.ts';
import { DeliveryMode } from '../../model/delivery-mode.ts';

export function brokerSettings(configuration: Configuration): BrokerSettings {
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
    maxStructureBytes: configuration.maxStructureBytes,
    maxQueues: configuration.maxQueues,
    maxSubscriptionsPerConnection: configuration.maxSubscriptionsPerConnection,
    maxBurstBytes: configuration.maxOutboundBytes,
    maxTotalBurstBytes: Math.floor(configuration.maxBufferedBytes / 2),
    maxContentBytes: configuration.maxMessageSizeBytes,
  };
}
