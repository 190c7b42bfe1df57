// What the package exports as `truemq`: a broker that other programs start in their own process.

export { UserStoreError } from '../auth/user-store.ts';
export { ConfigurationError, type ConfigurationOptions } from '../config/configuration.ts';
export { ListenError } from '../http/listen-error.ts';
export type { LogFields, Logger } from '../model/logger.ts';
export { CertificateError } from '../net/certificate-error.ts';
export { StoreError } from '../storage/storage-provider.ts';
export { type BrokerOptions, createBroker, type EmbeddedBroker } from './create-broker.ts';
