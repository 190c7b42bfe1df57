// The settings of a core that checks the records of a store: the defaults, because no setting limits what a store may hold.

import { brokerSettings } from '../../backend/local/broker-settings.ts';
import type { BrokerSettings } from '../../broker/interface/settings.ts';
import { loadConfiguration } from '../../config/load.ts';

export function defaultBrokerSettings(): BrokerSettings {
  const machine = {
    memoryBytes: Number.MAX_SAFE_INTEGER,
    heapLimitBytes: Number.MAX_SAFE_INTEGER,
    isTerminal: false,
  };
  const { configuration } = loadConfiguration({ flags: new Map(), environment: {}, machine });
  return brokerSettings(configuration);
}
