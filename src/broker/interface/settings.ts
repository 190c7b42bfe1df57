// What the core is told once, at its making. Values were checked by whoever read the configuration.

import type { DeliveryMode } from '../../model/delivery-mode.ts';
import type { MessagePacking } from './message-packing.ts';

export type BrokerSettings = {
  /** Options of a queue that is created without any: by a publish, a subscribe, or a CreateQueue without payload. */
  readonly defaultDeliveryMode: DeliveryMode;
  readonly defaultMaxQueueSize: number;
  /** Whether a publish or subscribe creates a queue that is missing. */
  readonly enableAutoCreate: boolean;
  /** How long a delivery waits for its ack before the attempt counts as failed. */
  readonly ackTimeoutMs: number;
  /** The pause before the second attempt; it doubles with every further one, up to maxRetryDelayMs. */
  readonly retryDelayMs: number;
  readonly maxRetryDelayMs: number;
  /** The widest window of unacknowledged messages that a subscription can grow to or ask for. */
  readonly maxInFlightPerSubscriber: number;
  /** Blocked publishes that one connection may have, by number and by content bytes. */
  readonly maxBlockedPublishes: number;
  readonly maxBlockedBytes: number;
  /** Bytes of all messages held, waiting, in flight and blocked, in all queues. */
  readonly maxQueuedBytes: number;
  /** Bytes of queues, subscriptions, deliveries in flight and repeats of blocked publishes. */
  readonly maxStructureBytes: number;
  readonly maxQueues: number;
  readonly maxSubscriptionsPerConnection: number;
  /** Bytes that one connection is sent at most, beyond its windows, before it is asked whether it takes more. */
  readonly maxBurstBytes: number;
  /** Bytes that all connections together are sent at most without acknowledgments, before they are asked whether they take more. */
  readonly maxTotalBurstBytes: number;
  /** The largest content that can be sent to a subscriber, in bytes. */
  readonly maxContentBytes: number;
  /** Packs messages that will wait for long. Absent: none is packed. */
  readonly packing?: MessagePacking;
};
