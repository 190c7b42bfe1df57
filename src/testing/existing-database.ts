// Writes databases with the tables of existing brokers, for tests of the import. The rows may be as odd as a test likes: the tables check nothing.

import { loadDriver } from '../storage/sqlite/driver.ts';

export type GivenRow = Readonly<Record<string, unknown>>;

export type GivenDatabase = {
  readonly queues?: readonly GivenRow[];
  readonly messages?: readonly GivenRow[];
  readonly deadLetters?: readonly GivenRow[];
};

const TABLES = `
  CREATE TABLE queues (name TEXT PRIMARY KEY, options_json, created_at);
  CREATE TABLE messages (
    id TEXT PRIMARY KEY, queue_name, payload_json, timestamp, headers_json, version, priority, delivery_attempts
  );
  CREATE TABLE dead_letters (id INTEGER PRIMARY KEY, message_id, message_json, reason, failed_at);
`;

/** The options of a queue as existing brokers store them. */
export const EXISTING_OPTIONS = {
  mode: 0,
  maxQueueSize: 10_000,
  messageTtl: null,
  enableDeadLetterQueue: false,
  deadLetterQueueName: null,
  overflowStrategy: 0,
  maxRetryAttempts: 3,
} as const;

export function existingQueue(name: string, options: object = {}, columns: GivenRow = {}): GivenRow {
  const optionsJson = JSON.stringify({ ...EXISTING_OPTIONS, ...options });
  return { name, options_json: optionsJson, created_at: '2026-02-18T10:30:00.1234567Z', ...columns };
}

export function existingMessage(id: string, columns: GivenRow = {}): GivenRow {
  return {
    id,
    queue_name: 'orders',
    payload_json: `{"of":${JSON.stringify(id)}}`,
    timestamp: '2026-02-18T10:31:00.0000000Z',
    headers_json: null,
    version: 1,
    priority: 1,
    delivery_attempts: 0,
    ...columns,
  };
}

/** A dead letter of queue `orders`. `message` overrides properties of the message, `columns` those of the row. */
export function existingDeadLetter(id: string, message: object = {}, columns: GivenRow = {}): GivenRow {
  const stored = {
    id,
    queueName: 'orders',
    payload: { of: id },
    timestamp: '2026-02-18T10:32:00.0000000Z',
    headers: {},
    version: 1,
    priority: 1,
    deliveryAttempts: 3,
    ...message,
  };
  return {
    message_id: id,
    message_json: JSON.stringify(stored),
    reason: 0,
    failed_at: '2026-02-18T10:33:00.0000000Z',
    ...columns,
  };
}

/** Writes a new database. Closed in good order, it has no files beside it. */
export async function writeExistingDatabase(path: string, given: GivenDatabase, more = ''): Promise<void> {
  const database = await openExistingWriter(path);
  insertExisting(database, given);
  database.exec(more).close();
}

/** A new database with the tables, open for writing as an existing broker has it: with a write-ahead log. */
export async function openExistingWriter(path: string, encoding = 'UTF-8') {
  const Driver = await loadDriver();
  const database = new Driver(path);
  database.pragma(`encoding = '${encoding}'`);
  database.pragma('journal_mode = WAL');
  return database.exec(TABLES);
}

type Writer = Awaited<ReturnType<typeof openExistingWriter>>;

export function insertExisting(database: Writer, given: GivenDatabase): void {
  insertRows(database, 'queues', given.queues ?? []);
  insertRows(database, 'messages', given.messages ?? []);
  insertRows(database, 'dead_letters', given.deadLetters ?? []);
}

function insertRows(database: Writer, table: string, rows: readonly GivenRow[]): void {
  for (const row of rows) {
    const columns = Object.keys(row);
    const places = columns.map(() => '?').join(', ');
    database
      .prepare(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${places})`)
      .run(...Object.values(row));
  }
}
