// Queue options and queue info between their JSON on the wire and the model's types, for broker and client. Reads the options; the core
// decides whether they are allowed. Implements QUEUE-001, QUEUE-021 to QUEUE-023, QUEUE-041, QUEUE-043 and BODY-034 to BODY-037.

import { DeliveryMode } from '../model/delivery-mode.ts';
import { nameOfNumber } from '../model/named-numbers.ts';
import { OverflowStrategy } from '../model/overflow-strategy.ts';
import type { QueueInfo } from '../model/queue-info.ts';
import { defaultQueueOptions, type QueueOptions } from '../model/queue-options.ts';
import { choices, enumValue, type Properties, parseJson, parseObject } from './json-properties.ts';
import { formatTimeSpan, formatTimestamp, parseTimeSpan } from './time-span.ts';

/** The options, or why the payload is not valid. A property that is missing or null has its default. */
export type ReadOptions = { readonly options: QueueOptions } | { readonly invalid: string };

export function readQueueOptions(payload: Buffer): ReadOptions {
  const properties = parseObject(payload);
  if (properties === undefined) return { invalid: 'the payload must be a JSON object of queue options' };
  return readOptions(properties);
}

function readOptions(properties: Properties): ReadOptions {
  const problem = readers.map((check) => check(properties)).find((found) => found !== undefined);
  return problem === undefined ? { options: optionsOf(properties) } : { invalid: problem };
}

/** The payload of a QueueInfo answer: names in camelCase, enumerations as numbers, absent values left out. */
export function queueInfoPayload(info: QueueInfo): Buffer {
  const { options } = info;
  return Buffer.from(
    JSON.stringify({
      name: info.name,
      messageCount: info.messageCount,
      subscriberCount: info.subscriberCount,
      deliveryMode: options.mode,
      maxSize: options.maxQueueSize,
      createdAt: formatTimestamp(info.createdWallAt),
      messageTtl: options.messageTtlMs === undefined ? undefined : formatTimeSpan(options.messageTtlMs),
      enableDeadLetterQueue: options.enableDeadLetterQueue,
      deadLetterQueueName: options.deadLetterQueueName,
      overflowStrategy: options.overflowStrategy,
      maxRetryAttempts: options.maxRetryAttempts,
    }),
  );
}

/** The options as a CreateQueue payload that means the same, with names for the enumerations. */
export function queueOptionsJson(options: QueueOptions): Properties {
  return {
    ...optionProperties(options),
    mode: nameOfNumber(DeliveryMode, options.mode),
    overflowStrategy: nameOfNumber(OverflowStrategy, options.overflowStrategy),
  };
}

/** The payload of CreateQueue; what is absent is left out, and has the broker's default. */
export function createQueuePayload(options: Partial<QueueOptions>): Buffer {
  return Buffer.from(JSON.stringify(optionProperties(options)));
}

/** The payload of a QueueInfo answer as a value; undefined when it does not have the form that `queueInfoPayload` writes. */
export function readQueueInfo(payload: Buffer): QueueInfo | undefined {
  const properties = parseObject(payload);
  if (properties === undefined) return undefined;
  const { name, messageCount, subscriberCount, createdAt, deliveryMode, maxSize } = properties;
  const read = readOptions({ ...properties, mode: deliveryMode, maxQueueSize: maxSize });
  const createdWallAt = typeof createdAt === 'string' ? Date.parse(createdAt) : Number.NaN;
  const required = [deliveryMode, properties['overflowStrategy']];
  const counts = [messageCount, subscriberCount, maxSize, properties['maxRetryAttempts']];
  if (typeof name !== 'string' || Number.isNaN(createdWallAt) || 'invalid' in read) return undefined;
  if (required.some(isAbsent) || !counts.every(Number.isSafeInteger)) return undefined;
  return {
    name,
    messageCount: messageCount as number,
    subscriberCount: subscriberCount as number,
    createdWallAt,
    options: read.options,
  };
}

/** The payload of a ListQueues answer; undefined when it is not a JSON array of texts. */
export function readQueueNames(payload: Buffer): readonly string[] | undefined {
  const names = parseJson(payload);
  return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : undefined;
}

function optionProperties(options: Partial<QueueOptions>): Properties {
  const ttl = options.messageTtlMs;
  return {
    mode: options.mode,
    maxQueueSize: options.maxQueueSize,
    messageTtl: ttl === undefined ? undefined : formatTimeSpan(ttl),
    enableDeadLetterQueue: options.enableDeadLetterQueue,
    deadLetterQueueName: options.deadLetterQueueName,
    overflowStrategy: options.overflowStrategy,
    maxRetryAttempts: options.maxRetryAttempts,
  };
}

function optionsOf(properties: Properties): QueueOptions {
  const ttl = properties['messageTtl'];
  const name = properties['deadLetterQueueName'];
  return {
    mode: enumValue(DeliveryMode, properties['mode']) ?? defaultQueueOptions.mode,
    maxQueueSize: (properties['maxQueueSize'] ?? defaultQueueOptions.maxQueueSize) as number,
    ...(typeof ttl === 'string' ? { messageTtlMs: parseTimeSpan(ttl) ?? Number.NaN } : {}),
    enableDeadLetterQueue: (properties['enableDeadLetterQueue'] ?? false) as boolean,
    ...(typeof name === 'string' ? { deadLetterQueueName: name } : {}),
    overflowStrategy:
      enumValue(OverflowStrategy, properties['overflowStrategy']) ?? defaultQueueOptions.overflowStrategy,
    maxRetryAttempts: (properties['maxRetryAttempts'] ?? defaultQueueOptions.maxRetryAttempts) as number,
  };
}

const readers: readonly ((properties: Properties) => string | undefined)[] = [
  isOf('mode', (value) => enumValue(DeliveryMode, value) !== undefined, `one of ${choices(DeliveryMode)}`),
  isOf('maxQueueSize', (value) => typeof value === 'number', 'a number'),
  isOf(
    'messageTtl',
    (value) => typeof value === 'string' && parseTimeSpan(value) !== undefined,
    'a time span such as 00:30:00 or 1.00:00:00',
  ),
  isOf('enableDeadLetterQueue', (value) => typeof value === 'boolean', 'true or false'),
  isOf('deadLetterQueueName', (value) => typeof value === 'string', 'a text'),
  isOf(
    'overflowStrategy',
    (value) => enumValue(OverflowStrategy, value) !== undefined,
    `one of ${choices(OverflowStrategy)}`,
  ),
  isOf('maxRetryAttempts', (value) => typeof value === 'number', 'a number'),
];

/** Checks one property: why its value is not valid, or undefined when it is valid or absent. */
function isOf(property: string, fits: (value: unknown) => boolean, allowed: string) {
  return (properties: Properties): string | undefined => {
    const value = properties[property];
    return isAbsent(value) || fits(value) ? undefined : `${property} must be ${allowed}`;
  };
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
