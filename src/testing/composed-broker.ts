// Composes a whole broker for tests: a gateway on a local backend, with the options of both in one object. Another backend may be inserted
// between them.

import type { Authenticator } from '../auth/authenticator.ts';
import type { UserAdministration } from '../auth/user-administration.ts';
import type { Backend } from '../backend/backend.ts';
import { brokerSettings } from '../backend/local/broker-settings.ts';
import { LocalBackend } from '../backend/local/local-backend.ts';
import type { MessagePacking } from '../broker/interface/message-packing.ts';
import type { BrokerSettings } from '../broker/interface/settings.ts';
import type { Configuration } from '../config/configuration.ts';
import { ContentPacking } from '../gateway/content-packing.ts';
import { Gateway } from '../gateway/gateway.ts';
import { type GatewayOptions, gatewayOptions } from '../gateway/gateway-options.ts';
import { KeptContent } from '../gateway/kept-content.ts';
import type { Environment } from '../model/environment.ts';
import type { Logger } from '../model/logger.ts';
import type { Compressor } from '../protocol/compression.ts';
import type { OpenStore } from '../storage/storage-provider.ts';

export type BrokerOptions = GatewayOptions & { readonly broker: BrokerSettings };

export type BrokerParts = {
  /** Absent: as without authentication. */
  readonly authenticator?: Authenticator;
  readonly administration?: UserAdministration;
  readonly environment: Environment;
  /** That of the gateway, if it is not the backend's. */
  readonly gatewayEnvironment?: Environment;
  readonly openStore: OpenStore;
  readonly compressor: Compressor;
  readonly logger: Logger;
  /** Default: packs after few messages, so that short scenarios see it. */
  readonly packing?: MessagePacking;
  /** The backend that the gateway gets in place of the local one. Default: the local one. */
  readonly between?: (local: Backend) => Backend;
};

export function composeBroker(
  options: BrokerOptions,
  {
    environment,
    gatewayEnvironment = environment,
    openStore,
    compressor,
    logger,
    packing = new ContentPacking({ minWaiting: 3, maxCount: 4, maxBytes: 4096 }),
    between,
    ...users
  }: BrokerParts,
): Gateway {
  const keepContent = (bytes: Buffer) => KeptContent.copyOf(bytes);
  const local = new LocalBackend(
    { ...options.broker, packing },
    { environment, openStore, logger, keepContent },
  );
  const backend = between === undefined ? local : between(local);
  return new Gateway(options, { environment: gatewayEnvironment, backend, compressor, logger, ...users });
}

/** The options of a broker with this configuration. */
export function brokerOptions(configuration: Configuration): BrokerOptions {
  return { ...gatewayOptions(configuration, 'test'), broker: brokerSettings(configuration) };
}
