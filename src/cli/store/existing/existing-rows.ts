// Reads the rows of an existing broker's database: each becomes what this broker stores, or the reason why it cannot be taken. Takes nothing that a
// client could not have published, so that every message that is taken can be delivered. Pure.

import type { DeadLetterFacts } from '../../../broker/interface/message-content.ts';
import { type DeadLetterReason, deadLetterReasons } from '../../../model/dead-letter-reason.ts';
import { Priority } from '../../../model/priority.ts';
import { isQueueName } from '../../../model/queue-name.ts';
import { impossibleOption, type QueueOptions } from '../../../model/queue-options.ts';
import { Command } from '../../../protocol/command.ts';
import { decodeMessage } from '../../../protocol/decode.ts';
import { encodeBody } from '../../../protocol/encode.ts';
import { isFault } from '../../../protocol/fault.ts';
import { checkFieldRules } from '../../../protocol/field-rules.ts';
import { choices, enumValue } from '../../../protocol/json-properties.ts';
import { scanJson } from '../../../protocol/json-scanner.ts';
import { defaultLimits } from '../../../protocol/limits.ts';
import type { Headers } from '../../../protocol/message.ts';
import { readQueueOptions } from '../../../protocol/queue-options-json.ts';
import type { ExistingRow } from '../../../storage/sqlite/existing-database.ts';
import { jsonMembers } from '../../json-members.ts';
import { readExistingTime } from './existing-time.ts';

export type ExistingQueue = {
  readonly name: string;
  readonly options: QueueOptions;
  readonly createdWallAt: number;
};

export type ExistingMessage = {
  readonly id: string;
  /** Of a dead letter: the queue that it comes from. */
  readonly queue: string;
  readonly priority: Priority;
  readonly acceptedWallAt: number;
  readonly attempts: number;
  /** The body of a Deliver frame. */
  readonly content: Buffer;
};

export type ExistingDeadLetter = { readonly message: ExistingMessage; readonly facts: DeadLetterFacts };

/** The row cannot be taken; the message says why. */
export class RowProblem extends Error {}

/** @throws RowProblem */
export function readQueueRow(row: ExistingRow): ExistingQueue {
  const name = text(row, 'name');
  if (!isQueueName(name))
    throw new RowProblem('name is not a queue name: 1 to 256 letters, digits, "-", "_" or "."');
  const read = readQueueOptions(Buffer.from(text(row, 'options_json')));
  if ('invalid' in read) throw new RowProblem(`options_json: ${read.invalid.replace('the payload', 'it')}`);
  const impossible = impossibleOption(name, read.options);
  if (impossible !== undefined) throw new RowProblem(`options_json: ${impossible}`);
  return { name, options: read.options, createdWallAt: time(row, 'created_at') };
}

/** @throws RowProblem */
export function readMessageRow(row: ExistingRow): ExistingMessage {
  const [id, queue] = [text(row, 'id'), text(row, 'queue_name')];
  const payload = payloadOf(row['payload_json']);
  const headers = headersOf(row['headers_json']);
  return {
    id,
    queue,
    priority: oneOf(Priority, row, 'priority'),
    acceptedWallAt: time(row, 'timestamp'),
    attempts: count(row, 'delivery_attempts'),
    content: encoded({ id, queue, headers, payload }),
  };
}

/** @throws RowProblem */
export function readDeadLetterRow(row: ExistingRow): ExistingDeadLetter {
  const id = text(row, 'message_id');
  const message = readStoredMessage(messageColumns(text(row, 'message_json')));
  if (message.id !== id) throw new RowProblem(`message_json has another id: ${JSON.stringify(message.id)}`);
  const facts = {
    reason: reasonOf(row),
    source: message.queue,
    attempts: message.attempts,
    deadLetteredWallAt: time(row, 'failed_at'),
  };
  return { message, facts };
}

function readStoredMessage(columns: ExistingRow): ExistingMessage {
  try {
    return readMessageRow(columns);
  } catch (error) {
    throw error instanceof RowProblem ? new RowProblem(`message_json: ${error.message}`) : error;
  }
}

/** A message that was stored as one JSON text, as a row of `messages`. The payload keeps its spelling. */
function messageColumns(json: string): ExistingRow {
  const members = jsonMembers(json);
  if (members === undefined) throw new RowProblem('message_json is not one JSON object');
  const value = (name: string): unknown => JSON.parse(members.get(name) ?? 'null');
  const headers = members.get('headers') ?? 'null';
  return {
    id: value('id'),
    queue_name: value('queueName'),
    payload_json: members.get('payload') ?? null,
    timestamp: value('timestamp'),
    headers_json: headers === 'null' ? null : headers,
    priority: value('priority') ?? Priority.Normal,
    delivery_attempts: value('deliveryAttempts') ?? 0,
  };
}

function payloadOf(value: unknown): Buffer {
  if (value === null) return Buffer.alloc(0);
  if (typeof value !== 'string') throw new RowProblem('payload_json is not a text');
  const payload = Buffer.from(value);
  const scanned = scanJson(payload);
  if (scanned === true) return payload;
  throw new RowProblem(`payload_json is not one JSON text: ${scanned.reason} at byte ${scanned.offset}`);
}

function headersOf(value: unknown): Headers {
  if (value === null) return new Map();
  const members = typeof value === 'string' ? jsonMembers(value) : undefined;
  if (members === undefined) throw new RowProblem('headers_json is not a JSON object');
  const headers = new Map<string, string>();
  for (const [name, json] of members) {
    const header: unknown = JSON.parse(json);
    if (typeof header !== 'string')
      throw new RowProblem(`headers_json: ${JSON.stringify(name)} is not a text`);
    headers.set(name, header);
  }
  return headers;
}

type Fields = {
  readonly id: string;
  readonly queue: string;
  readonly headers: Headers;
  readonly payload: Buffer;
};

/** The content, after the rules for a published message; what would not come out of it as it went in is refused too. */
function encoded({ id, queue, headers, payload }: Fields): Buffer {
  const content = encodedOrProblem({ id, queue, headers, payload });
  const message = decodeMessage(content);
  if (isFault(message)) throw new RowProblem(message.text);
  const fault = checkFieldRules(message, defaultLimits);
  if (fault !== undefined) throw new RowProblem(fault.text);
  if (queue === '') throw new RowProblem('queue_name is empty');
  if (message.id !== id) throw new RowProblem('id is not valid Unicode');
  for (const [name, value] of headers) {
    if (message.headers.get(name) === value) continue;
    throw new RowProblem(`headers_json: ${JSON.stringify(name)} is empty, or is not valid Unicode`);
  }
  const { maxMessageSizeBytes } = defaultLimits;
  if (content.length <= maxMessageSizeBytes) return content;
  throw new RowProblem(
    `the message has ${content.length} bytes; at most ${maxMessageSizeBytes} can be delivered`,
  );
}

function encodedOrProblem(fields: Fields): Buffer {
  try {
    return encodeBody({ command: Command.Deliver, ...fields });
  } catch (error) {
    if (error instanceof RangeError) throw new RowProblem(error.message);
    throw error;
  }
}

function reasonOf(row: ExistingRow): DeadLetterReason {
  const numbers = Object.fromEntries(deadLetterReasons.map((name, number) => [name, number]));
  return deadLetterReasons[oneOf(numbers, row, 'reason')] ?? 'MaxRetriesExceeded';
}

function text(row: ExistingRow, column: string): string {
  const value = row[column];
  if (typeof value === 'string') return value;
  throw new RowProblem(`${column} is not a text`);
}

function count(row: ExistingRow, column: string): number {
  const value = row[column];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new RowProblem(`${column} is not a whole number from 0 on`);
}

function time(row: ExistingRow, column: string): number {
  const found = readExistingTime(row[column]);
  if (found !== undefined) return found.wallAt;
  throw new RowProblem(`${column} is not a time such as 2026-02-18T10:30:00.1234567Z`);
}

function oneOf<Value extends number>(
  values: Readonly<Record<string, Value>>,
  row: ExistingRow,
  column: string,
): Value {
  const found = enumValue(values, row[column]);
  if (found !== undefined) return found;
  throw new RowProblem(`${column} must be ${choices(values)}`);
}
