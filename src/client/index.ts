// The public API of the client library, exported by the package.

export type { QueueOperationName } from '../model/access.ts';
export type { DeliveryModeName } from '../model/delivery-mode.ts';
export type { OverflowStrategyName } from '../model/overflow-strategy.ts';
export type { PriorityName } from '../model/priority.ts';
export type { Algorithm } from '../protocol/compression.ts';
export type { CallOptions } from './abort.ts';
export type { Permission, User } from './admin-answers.ts';
export { Client, connect } from './client.ts';
export type { ClosedReason } from './client-connection.ts';
export type { ClientEvents, EventListener, EventName } from './client-events.ts';
export type { AckMode } from './client-subscription.ts';
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
  MessageTooLargeError,
  ProtocolError,
  PublishBufferFullError,
  SubscriptionReplacedError,
} from './errors.ts';
export type { PublishOptions, SubscribeOptions } from './operation-options.ts';
export type { ConnectOptions } from './options.ts';
export type { PublishWindowOptions } from './publish-window.ts';
export type { CreateQueueOptions, QueueDetails } from './queue-answers.ts';
export { type Handler, type NackReason, ReceivedMessage } from './received-message.ts';
export type { ReconnectOptions } from './reconnect-schedule.ts';
export type { Pem, TlsOptions } from './tls-options.ts';
