// The queue types of the client's API: the model's types with names in place of numbers. protocol/queue-options-json.ts has their JSON on
// the wire. Pure. Implements CLIENT-001 (queue commands).

import { DeliveryMode, type DeliveryModeName } from '../model/delivery-mode.ts';
import { nameOfNumber, numberOfName } from '../model/named-numbers.ts';
import { OverflowStrategy, type OverflowStrategyName } from '../model/overflow-strategy.ts';
import type { QueueOptions } from '../model/queue-options.ts';
import { createQueuePayload, readQueueInfo, readQueueNames } from '../protocol/queue-options-json.ts';
import { ClientError } from './errors.ts';

/** Omitted options have the broker's default. */
export type CreateQueueOptions = Partial<Omit<QueueOptions, 'mode' | 'overflowStrategy'>> & {
  readonly mode?: DeliveryModeName;
  readonly overflowStrategy?: OverflowStrategyName;
};

export type QueueDetails = {
  readonly name: string;
  /** Waiting messages, without those in flight. */
  readonly messageCount: number;
  readonly subscriberCount: number;
  readonly deliveryMode: DeliveryModeName;
  readonly maxSize: number;
  readonly createdAt: Date;
  readonly messageTtlMs: number | undefined;
  readonly enableDeadLetterQueue: boolean;
  readonly deadLetterQueueName: string | undefined;
  readonly overflowStrategy: OverflowStrategyName;
  readonly maxRetryAttempts: number;
};

/** The payload of CreateQueue. @throws TypeError when mode or overflow strategy is not a known name */
export function encodeQueueOptions({ mode, overflowStrategy, ...rest }: CreateQueueOptions): Buffer {
  return createQueuePayload({
    ...rest,
    ...(mode === undefined ? {} : { mode: numberOfName(DeliveryMode, mode) }),
    ...(overflowStrategy === undefined
      ? {}
      : { overflowStrategy: numberOfName(OverflowStrategy, overflowStrategy) }),
  });
}

/**
 * The payload of a QueueInfo answer.
 * @throws ClientError (`UNREADABLE_ANSWER`) when it is not the JSON that the protocol says
 */
export function decodeQueueDetails(payload: Buffer): QueueDetails {
  const { options, ...info } = readable(readQueueInfo(payload));
  return {
    name: info.name,
    messageCount: info.messageCount,
    subscriberCount: info.subscriberCount,
    deliveryMode: nameOfNumber(DeliveryMode, options.mode),
    maxSize: options.maxQueueSize,
    createdAt: new Date(info.createdWallAt),
    messageTtlMs: options.messageTtlMs,
    enableDeadLetterQueue: options.enableDeadLetterQueue,
    deadLetterQueueName: options.deadLetterQueueName,
    overflowStrategy: nameOfNumber(OverflowStrategy, options.overflowStrategy),
    maxRetryAttempts: options.maxRetryAttempts,
  };
}

/** The payload of a ListQueues answer. @throws ClientError as {@link decodeQueueDetails} */
export function decodeQueueNames(payload: Buffer): readonly string[] {
  return readable(readQueueNames(payload));
}

/** @throws ClientError (`UNREADABLE_ANSWER`) when there is no value */
export function readable<Value>(value: Value | undefined): Value {
  if (value !== undefined) return value;
  throw new ClientError(
    'UNREADABLE_ANSWER',
    "the broker's answer does not have the form that the protocol requires",
  );
}
