// The queue types of the client's API: the model's types with names in place of numbers. protocol/queue-options-json.ts has their JSON on
// the wire. Pure. Implements CLIENT-001 (queue commands).

import { DeliveryMode, type DeliveryModeName } from '../model/delivery-mode.ts';
import { nameOfNumber, numberOfName } from '../model/named-numbers.ts';
import { OverflowStrategy, type OverflowStrategyName } from '../model/overflow-strategy.ts';
import type { QueueOptions } from '../model/queue-options.ts';
import { createQueuePayload, readQueueInfo, readQueueNames } from '../protocol/queue-options-json.ts';
import { ClientError } from './errors.ts';
import { isPlain, shown } from './option-checks.ts';

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

// Callers in JavaScript are not type-checked.
const types: Readonly<Record<keyof CreateQueueOptions, string>> = {
  mode: 'string',
  maxQueueSize: 'number',
  messageTtlMs: 'number',
  enableDeadLetterQueue: 'boolean',
  deadLetterQueueName: 'string',
  overflowStrategy: 'string',
  maxRetryAttempts: 'number',
};

/** An unknown option, a value of another type, a name that there is not; undefined when there is none of these. */
export function problemOfOptions(options: CreateQueueOptions): string | undefined {
  if (!isPlain(options)) return `came ${shown(options)}; allowed is an object of options`;
  for (const [option, value] of Object.entries(options)) {
    const type = Object.hasOwn(types, option) ? types[option as keyof typeof types] : undefined;
    if (type === undefined) return `unknown option ${option}; options are ${Object.keys(types).join(', ')}`;
    if (value !== undefined && typeof value !== type)
      return `${option} must be a ${type}; it is ${shown(value)}`;
  }
  const { mode, overflowStrategy } = options;
  return (
    problemOfName('mode', DeliveryMode, mode) ??
    problemOfName('overflowStrategy', OverflowStrategy, overflowStrategy)
  );
}

function problemOfName(option: string, table: object, name: string | undefined): string | undefined {
  if (name === undefined || Object.hasOwn(table, name)) return undefined;
  return `${option} must be one of ${Object.keys(table).join(', ')}; it is ${shown(name)}`;
}

/** The payload of CreateQueue. @throws TypeError for an unknown option, a value of another type, or a name that there is not */
export function encodeQueueOptions(options: CreateQueueOptions): Buffer {
  const problem = problemOfOptions(options) ?? problemOfNumbers(options);
  if (problem !== undefined) throw new TypeError(`createQueue: ${problem}`);
  const { mode, overflowStrategy, ...rest } = options;
  return createQueuePayload({
    ...rest,
    ...(mode === undefined ? {} : { mode: numberOfName(DeliveryMode, mode) }),
    ...(overflowStrategy === undefined
      ? {}
      : { overflowStrategy: numberOfName(OverflowStrategy, overflowStrategy) }),
  });
}

/** JSON has no other numbers; null would mean the default. */
function problemOfNumbers(options: CreateQueueOptions): string | undefined {
  const odd = Object.entries(options).find(
    ([, value]) => typeof value === 'number' && !Number.isFinite(value),
  );
  return odd && `${odd[0]} must be a finite number; it is ${odd[1]}`;
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
