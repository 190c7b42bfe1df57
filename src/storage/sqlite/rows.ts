// The rows of the store as they are in the file, and the conversion of records to rows and back. The names in the JSON of a queue's options
// are part of the file format: they are fixed by the schema version (schema.ts) and do not follow the types of the broker. Reading checks
// every field: a value that this version never writes is a StoreError. Pure. Implements DURABLE-008 to DURABLE-012 for the SQLite store.

import type { DeadLetterFacts } from '../../broker/interface/message-content.ts';
import type { RecoveredRecord, StoredMessage, StoredQueue } from '../../broker/interface/store-record.ts';
import { type DeadLetterReason, deadLetterReasons } from '../../model/dead-letter-reason.ts';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import { Priority } from '../../model/priority.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import { StoreError } from '../storage-provider.ts';

/** A row of `queues`, in the order of QUEUE_COLUMNS. */
export type QueueRow = readonly [generation: number, name: string, options: string, createdAt: number];

/** The JSON in `queues.options`, since version 1 of the schema. */
type QueueOptionsJson = {
  readonly mode: number;
  readonly maxQueueSize: number;
  readonly messageTtlMs?: number;
  readonly enableDeadLetterQueue: boolean;
  readonly deadLetterQueueName?: string;
  readonly overflowStrategy: number;
  readonly maxRetryAttempts: number;
};

type MessageColumns = readonly [
  sequence: number,
  generation: number,
  id: string,
  priority: number,
  acceptedAt: number,
  failedAttempts: number,
  content: Uint8Array,
];

/** In the order of FACT_COLUMNS. */
type FactColumns = readonly [reason: string, source: string, attempts: number, deadLetteredAt: number];

/** A row of `messages`, in the order of MESSAGE_COLUMNS. Creating an array takes two thirds of the time of an object. */
export type MessageRow = MessageColumns;
/** A row of `dead_letters`: MESSAGE_COLUMNS, then FACT_COLUMNS. */
export type DeadLetterRow = readonly [...MessageColumns, ...FactColumns];

export const QUEUE_COLUMNS = 'generation, name, options, created_at';
export const MESSAGE_COLUMNS = 'sequence, generation, id, priority, accepted_at, failed_attempts, content';
export const FACT_COLUMNS = 'reason, source, attempts, dead_lettered_at';

export function queueRow({ generation, name, options, createdWallAt }: StoredQueue): QueueRow {
  return [generation, name, optionsText(options), createdWallAt];
}

function optionsText(options: QueueOptions): string {
  const json: QueueOptionsJson = {
    mode: options.mode,
    maxQueueSize: options.maxQueueSize,
    ...(options.messageTtlMs === undefined ? {} : { messageTtlMs: options.messageTtlMs }),
    enableDeadLetterQueue: options.enableDeadLetterQueue,
    ...(options.deadLetterQueueName === undefined
      ? {}
      : { deadLetterQueueName: options.deadLetterQueueName }),
    overflowStrategy: options.overflowStrategy,
    maxRetryAttempts: options.maxRetryAttempts,
  };
  return JSON.stringify(json);
}

export function messageRow(stored: StoredMessage, failedAttempts: number): MessageRow {
  const { sequence, generation, id, priority, acceptedWallAt, content } = stored;
  return [sequence, generation, id, priority, acceptedWallAt, failedAttempts, content.toBytes()];
}

export function factColumns({ reason, source, attempts, deadLetteredWallAt }: DeadLetterFacts): FactColumns {
  return [reason, source, attempts, deadLetteredWallAt];
}

/** @throws StoreError that names the row and the field, when the row has a value that is never written */
export function recoveredQueue(row: readonly unknown[]): RecoveredRecord {
  const where = `queue ${JSON.stringify(row[1])} (generation ${row[0]})`;
  return {
    kind: 'queue',
    generation: count(row[0], 'generation', where),
    name: text(row[1], 'name', where),
    options: optionsOf(row[2], where),
    createdWallAt: instant(row[3], 'created_at', where),
  };
}

function optionsOf(value: unknown, where: string): QueueOptions {
  const json = parsed(value, where);
  const ttl = json['messageTtlMs'];
  const deadLetterQueueName = json['deadLetterQueueName'];
  return {
    mode: oneOf(json['mode'], Object.values(DeliveryMode), 'options.mode', where),
    maxQueueSize: count(json['maxQueueSize'], 'options.maxQueueSize', where),
    ...(ttl === undefined ? {} : { messageTtlMs: finite(ttl, 'options.messageTtlMs', where) }),
    enableDeadLetterQueue: flag(json['enableDeadLetterQueue'], 'options.enableDeadLetterQueue', where),
    ...(deadLetterQueueName === undefined
      ? {}
      : { deadLetterQueueName: text(deadLetterQueueName, 'options.deadLetterQueueName', where) }),
    overflowStrategy: oneOf(
      json['overflowStrategy'],
      Object.values(OverflowStrategy),
      'options.overflowStrategy',
      where,
    ),
    maxRetryAttempts: count(json['maxRetryAttempts'], 'options.maxRetryAttempts', where),
  };
}

function parsed(value: unknown, where: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text(value, 'options', where));
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) {
      return json as Readonly<Record<string, unknown>>;
    }
  } catch (error) {
    if (error instanceof StoreError) throw error;
  }
  throw damaged('options', value, where);
}

/** @throws StoreError that names the row and the field, when the row has a value that is never written */
export function recoveredMessage(row: readonly unknown[]): RecoveredRecord {
  const [sequence, generation, id, priority, acceptedAt, failedAttempts, content] = row;
  // Created only for an error: there may be millions of rows.
  const where = () => `message ${JSON.stringify(id)} (sequence ${sequence})`;
  const message = {
    kind: 'message' as const,
    sequence: count(sequence, 'sequence', where),
    generation: count(generation, 'generation', where),
    id: text(id, 'id', where),
    priority: oneOf(priority, PRIORITIES, 'priority', where),
    content: bytes(content, where),
    acceptedWallAt: instant(acceptedAt, 'accepted_at', where),
    failedAttempts: count(failedAttempts, 'failed_attempts', where),
  };
  return row.length === MESSAGE_LENGTH ? message : { ...message, deadLetter: factsOf(row, where) };
}

const MESSAGE_LENGTH = 7;
const PRIORITIES: readonly Priority[] = Object.values(Priority);

function factsOf(row: readonly unknown[], where: Where): DeadLetterFacts {
  const [reason, source, attempts, deadLetteredAt] = row.slice(MESSAGE_LENGTH);
  return {
    reason: oneOf<DeadLetterReason>(reason, deadLetterReasons, 'reason', where),
    source: text(source, 'source', where),
    attempts: count(attempts, 'attempts', where),
    deadLetteredWallAt: instant(deadLetteredAt, 'dead_lettered_at', where),
  };
}

type Where = string | (() => string);

function damaged(field: string, value: unknown, where: Where): StoreError {
  const row = typeof where === 'string' ? where : where();
  const shown =
    value instanceof Uint8Array ? `${value.byteLength} bytes` : (JSON.stringify(value) ?? 'nothing');
  return new StoreError(
    `${row}: ${field} is ${shown}, which this version never writes; keep a copy of the file and restore a backup, or correct the row with the sqlite3 command`,
  );
}

function count(value: unknown, field: string, where: Where): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw damaged(field, value, where);
}

/** Milliseconds since 1970; before 1970 where the clock of the machine was wrong. */
function instant(value: unknown, field: string, where: Where): number {
  return finite(value, field, where);
}

function finite(value: unknown, field: string, where: Where): number {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw damaged(field, value, where);
}

function flag(value: unknown, field: string, where: Where): boolean {
  if (typeof value === 'boolean') return value;
  throw damaged(field, value, where);
}

function text(value: unknown, field: string, where: Where): string {
  if (typeof value === 'string') return value;
  throw damaged(field, value, where);
}

function bytes(value: unknown, where: Where): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw damaged('content', value, where);
}

function oneOf<Value>(value: unknown, values: readonly Value[], field: string, where: Where): Value {
  const found = values.find((each) => each === value);
  if (found !== undefined) return found;
  throw damaged(field, value, where);
}
