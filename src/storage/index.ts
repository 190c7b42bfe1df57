// What the package exports as `truemq/store`: the port for stores, and the contract suite that every store must pass.
// docs/guides/write-a-store.md shows how to use both.

export type { DeadLetterFacts, MessageContent } from '../broker/interface/message-content.ts';
export type {
  Generation,
  RecoveredRecord,
  StoredMessage,
  StoredQueue,
  StoreRecord,
} from '../broker/interface/store-record.ts';
export type { DeadLetterReason } from '../model/dead-letter-reason.ts';
export type { DeliveryMode } from '../model/delivery-mode.ts';
export type { OverflowStrategy } from '../model/overflow-strategy.ts';
export type { Priority } from '../model/priority.ts';
export type { QueueOptions } from '../model/queue-options.ts';
export type { ContractCase, StorePlace, StoreUnderTest } from './contract/contract-case.ts';
export { newFilePlace } from './contract/file-place.ts';
export { type ContractOptions, storageContract } from './storage-contract.ts';
export {
  type OpenModuleStore,
  type OpenModuleStoreOptions,
  type StorageProvider,
  StoreError,
} from './storage-provider.ts';
