// The public API of the client library, exported by the package.

export type { QueueOperationName } from '../model/access.ts';
export type { DeliveryModeName } from '../model/delivery-mode.ts';
export type { OverflowStrategyName } from '../model/overflow-strategy.ts';
export type { PriorityName } from '../model/priority.ts';
export type { Algorithm, Compressor } from '../protocol/compression.ts';
export type { Permission, User } from './admin-answers.ts';
export { Client, connect, type PublishOptions, type SubscribeOptions } from './client.ts';
export type { ClosedReason } from './client-connection.ts';
export {
  ConnectionStringError,
  type ConnectionStringOptions,
  parseConnectionString,
} from './connection-string.ts';
export type { DeclaredOption, DifferenceSeverity, QueueDifference } from './declarations/differences.ts';
export { QueueConflictError } from './declarations/queue-conflict-error.ts';
export {
  type ConflictStrategy,
  DeclarationError,
  type QueueDeclaration,
} from './declarations/queue-declaration.ts';
export {
  ClientError,
  CommandError,
  CommandTimeoutError,
  ConnectionError,
  DeserializationError,
  ProtocolError,
} from './errors.ts';
export type { ConnectOptions } from './options.ts';
export type { CreateQueueOptions, QueueDetails } from './queue-answers.ts';
export { type Handler, ReceivedMessage } from './received-message.ts';
export type { Pem, TlsOptions } from './tls-options.ts';
