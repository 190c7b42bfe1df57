// What the package exports: the client library. Area CLIENT.

export type { Algorithm, Compressor } from '../protocol/compression.ts';
export { Client, connect, type PublishOptions, type SubscribeOptions } from './client.ts';
export type { ClosedReason } from './connection.ts';
export { Delivery, type Handler } from './delivery.ts';
export {
  ClientError,
  CommandError,
  CommandTimeoutError,
  ConnectionError,
  DeserializationError,
  ProtocolError,
} from './errors.ts';
export type { ConnectOptions } from './options.ts';
export type { DeliveryMode, OverflowStrategy, QueueInfo, QueueOptions } from './queue-options.ts';
