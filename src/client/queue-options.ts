// Queue options and queue info as a user of the client sees them, and as JSON on the wire (camelCase, enums as numbers, time
// spans as text). Pure. Area CLIENT over QUEUE.

import { ClientError } from './errors.ts';

const DELIVERY_MODES = ['RoundRobin', 'FanOutWithAck', 'FanOutWithoutAck', 'PriorityBased'] as const;
const OVERFLOW_STRATEGIES = ['DropOldest', 'DropNewest', 'BlockPublisher', 'RedirectToDlq'] as const;
const SPAN_FORM = /^(?:(\d+)\.)?(\d\d):(\d\d):(\d\d)(?:\.(\d{1,7}))?$/;
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export type DeliveryMode = (typeof DELIVERY_MODES)[number];
export type OverflowStrategy = (typeof OVERFLOW_STRATEGIES)[number];

/** What is left out has the broker's default. */
export type QueueOptions = {
  readonly mode?: DeliveryMode;
  readonly maxQueueSize?: number;
  /** Whole milliseconds. */
  readonly messageTtlMs?: number;
  readonly enableDeadLetterQueue?: boolean;
  readonly deadLetterQueueName?: string;
  readonly overflowStrategy?: OverflowStrategy;
  readonly maxRetryAttempts?: number;
};

export type QueueInfo = {
  readonly name: string;
  /** Messages that wait; those in flight are not among them. */
  readonly messageCount: number;
  readonly subscriberCount: number;
  readonly deliveryMode: DeliveryMode;
  readonly maxSize: number;
  readonly createdAt: Date;
  readonly messageTtlMs: number | undefined;
  readonly enableDeadLetterQueue: boolean;
  readonly deadLetterQueueName: string | undefined;
  readonly overflowStrategy: OverflowStrategy;
  readonly maxRetryAttempts: number;
};

/** The payload of CreateQueue. */
export function encodeQueueOptions({ mode, overflowStrategy, messageTtlMs, ...rest }: QueueOptions): Buffer {
  return Buffer.from(
    JSON.stringify({
      ...rest,
      ...(mode === undefined ? {} : { mode: DELIVERY_MODES.indexOf(mode) }),
      ...(overflowStrategy === undefined
        ? {}
        : { overflowStrategy: OVERFLOW_STRATEGIES.indexOf(overflowStrategy) }),
      ...(messageTtlMs === undefined ? {} : { messageTtl: formatTimeSpan(messageTtlMs) }),
    }),
  );
}

/**
 * The payload of a QueueInfo answer.
 * @throws ClientError (`UNREADABLE_ANSWER`) when it is not the JSON that the protocol says
 */
export function decodeQueueInfo(payload: Buffer): QueueInfo {
  const record = parseRecord(payload);
  return {
    name: text(record['name']),
    messageCount: count(record['messageCount']),
    subscriberCount: count(record['subscriberCount']),
    deliveryMode: named(DELIVERY_MODES, record['deliveryMode']),
    maxSize: count(record['maxSize']),
    createdAt: new Date(text(record['createdAt'])),
    messageTtlMs: optional(record['messageTtl'], (value) => parseTimeSpan(text(value))),
    enableDeadLetterQueue: record['enableDeadLetterQueue'] === true,
    deadLetterQueueName: optional(record['deadLetterQueueName'], text),
    overflowStrategy: named(OVERFLOW_STRATEGIES, record['overflowStrategy']),
    maxRetryAttempts: count(record['maxRetryAttempts']),
  };
}

/** The payload of a ListQueues answer. @throws ClientError as {@link decodeQueueInfo} */
export function decodeQueueNames(payload: Buffer): readonly string[] {
  const names = parseJson(payload);
  if (!Array.isArray(names)) throw unreadable();
  return names.map(text);
}

/** `[d.]hh:mm:ss[.fffffff]` of whole milliseconds; a fraction only where there is one. */
export function formatTimeSpan(milliseconds: number): string {
  const two = (value: number) => String(Math.floor(value)).padStart(2, '0');
  const days = Math.floor(milliseconds / DAY_MS);
  const clock = [
    (milliseconds % DAY_MS) / HOUR_MS,
    (milliseconds % HOUR_MS) / MINUTE_MS,
    (milliseconds % MINUTE_MS) / SECOND_MS,
  ];
  const fraction = milliseconds % SECOND_MS;
  const tail = fraction === 0 ? '' : `.${String(fraction).padStart(3, '0')}0000`;
  return `${days > 0 ? `${days}.` : ''}${clock.map(two).join(':')}${tail}`;
}

function parseTimeSpan(span: string): number {
  const match = SPAN_FORM.exec(span);
  if (match === null) throw unreadable();
  const [days, hours, minutes, seconds] = [match[1] ?? '0', match[2], match[3], match[4]].map(Number);
  const fractionMs = Number(`0.${match[5] ?? '0'}`) * SECOND_MS;
  return (
    (days ?? 0) * DAY_MS +
    (hours ?? 0) * HOUR_MS +
    (minutes ?? 0) * MINUTE_MS +
    (seconds ?? 0) * SECOND_MS +
    fractionMs
  );
}

function parseRecord(payload: Buffer): Readonly<Record<string, unknown>> {
  const value = parseJson(payload);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unreadable();
  return value as Readonly<Record<string, unknown>>;
}

function parseJson(payload: Buffer): unknown {
  try {
    return JSON.parse(payload.toString());
  } catch (error) {
    throw unreadable(error);
  }
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw unreadable();
  return value;
}

function count(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw unreadable();
  return value;
}

/** An enum value: a number, or a name in any case where a broker prefers those. */
function named<Name extends string>(names: readonly Name[], value: unknown): Name {
  const name =
    typeof value === 'number'
      ? names[value]
      : names.find((candidate) => candidate.toLowerCase() === String(value).toLowerCase());
  if (name === undefined) throw unreadable();
  return name;
}

function optional<Value>(value: unknown, read: (value: unknown) => Value): Value | undefined {
  return value === undefined || value === null ? undefined : read(value);
}

function unreadable(cause?: unknown): ClientError {
  return new ClientError(
    'UNREADABLE_ANSWER',
    "the broker's answer does not have the form that the protocol says",
    { cause },
  );
}
