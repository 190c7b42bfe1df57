// The SQL of the store, as prepared statements: one method per change of rows and per way of reading. sqlite-store.ts decides when they
// run, and in which transaction.

import type {
  Generation,
  RecoveredRecord,
  StoredMessage,
  StoredQueue,
} from '../../broker/interface/store-record.ts';
import { StoreError } from '../storage-provider.ts';
import type { SequenceRange } from './batch-plan.ts';
import type { Database, Statement } from './driver.ts';
import {
  type DeadLetterRow,
  FACT_COLUMNS,
  factColumns,
  MESSAGE_COLUMNS,
  type MessageRow,
  messageRow,
  QUEUE_COLUMNS,
  type QueueRow,
  queueRow,
  recoveredMessage,
  recoveredQueue,
} from './rows.ts';

type AnyMessageRow = MessageRow | DeadLetterRow;

/** Called for a row that cannot be converted. When it returns, the row is skipped. */
export type OnDamagedRow = (error: StoreError) => void;

function refuse(error: StoreError): never {
  throw error;
}

function readRow<Row>(
  row: Row,
  convert: (row: Row) => RecoveredRecord,
  onDamaged: OnDamagedRow,
): RecoveredRecord | undefined {
  try {
    return convert(row);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    onDamaged(error);
    return undefined;
  }
}

export class Statements {
  readonly #queues: Statement<[], QueueRow>;
  readonly #messages: Statement<[], AnyMessageRow>;
  readonly #deadLetters: Statement<[], AnyMessageRow>;
  readonly #insertQueue: Statement<unknown[]>;
  readonly #deleteQueue: Statement<[number]>;
  readonly #insertMessage: Statement<unknown[]>;
  readonly #insertDeadLetter: Statement<unknown[]>;
  readonly #deleteMessages: Statement<[number, number]>;
  readonly #deleteDeadLetters: Statement<[number, number]>;
  readonly #updateMessage: Statement<[number, number]>;
  readonly #updateDeadLetter: Statement<[number, number]>;

  constructor(database: Database) {
    const prepare = (sql: string) => database.prepare<unknown[]>(sql);
    const rows = <Row>(columns: string, from: string) =>
      database.prepare<[], Row>(`SELECT ${columns} FROM ${from}`).raw();
    this.#queues = rows<QueueRow>(QUEUE_COLUMNS, 'queues ORDER BY generation');
    this.#messages = rows<AnyMessageRow>(MESSAGE_COLUMNS, 'messages ORDER BY sequence');
    this.#deadLetters = rows<AnyMessageRow>(
      `${MESSAGE_COLUMNS}, ${FACT_COLUMNS}`,
      'dead_letters ORDER BY sequence',
    );
    this.#insertQueue = prepare(`INSERT INTO queues (${QUEUE_COLUMNS}) VALUES (?, ?, ?, ?)`);
    this.#deleteQueue = prepare('DELETE FROM queues WHERE generation = ?');
    this.#insertMessage = prepare(`INSERT INTO messages (${MESSAGE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#insertDeadLetter = prepare(
      `INSERT INTO dead_letters (${MESSAGE_COLUMNS}, ${FACT_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#deleteMessages = prepare('DELETE FROM messages WHERE sequence BETWEEN ? AND ?');
    this.#deleteDeadLetters = prepare('DELETE FROM dead_letters WHERE sequence BETWEEN ? AND ?');
    this.#updateMessage = prepare('UPDATE messages SET failed_attempts = ? WHERE sequence = ?');
    this.#updateDeadLetter = prepare('UPDATE dead_letters SET failed_attempts = ? WHERE sequence = ?');
  }

  insertQueue(stored: StoredQueue): void {
    this.#insertQueue.run(...queueRow(stored));
  }

  deleteQueue(generation: Generation): void {
    this.#deleteQueue.run(generation);
  }

  insertMessage(stored: StoredMessage, failedAttempts: number): void {
    const row = messageRow(stored, failedAttempts);
    if (stored.deadLetter === undefined) this.#insertMessage.run(...row);
    else this.#insertDeadLetter.run(...row, ...factColumns(stored.deadLetter));
  }

  /** Removes messages from the table that they are in, usually the first. All of them must be in one table. */
  deleteMessages({ first, last }: SequenceRange): void {
    const { changes } = this.#deleteMessages.run(first, last);
    if (changes <= last - first) this.#deleteDeadLetters.run(first, last);
  }

  updateFailedAttempts(sequence: number, failedAttempts: number): void {
    const { changes } = this.#updateMessage.run(failedAttempts, sequence);
    if (changes === 0) this.#updateDeadLetter.run(failedAttempts, sequence);
  }

  *readQueues(onDamaged: OnDamagedRow = refuse): Iterable<RecoveredRecord> {
    for (const row of this.#queues.iterate()) {
      const record = readRow(row, recoveredQueue, onDamaged);
      if (record !== undefined) yield record;
    }
  }

  /** The messages of both tables but for those of the given generations, by sequence. */
  *readMessages(
    without: ReadonlySet<Generation>,
    onDamaged: OnDamagedRow = refuse,
  ): Iterable<RecoveredRecord> {
    for (const row of inOrder(this.#messages.iterate(), this.#deadLetters.iterate())) {
      if (without.has(row[1])) continue;
      const record = readRow(row, recoveredMessage, onDamaged);
      if (record !== undefined) yield record;
    }
  }
}

/** Rows of two tables by their sequence. SQLite could merge them too, and takes half as long again for it. */
function* inOrder(
  a: IterableIterator<AnyMessageRow>,
  b: IterableIterator<AnyMessageRow>,
): IterableIterator<AnyMessageRow> {
  try {
    let [fromA, fromB] = [a.next(), b.next()];
    while (fromA.done !== true || fromB.done !== true) {
      if (fromB.done === true || (fromA.done !== true && fromA.value[0] < fromB.value[0])) {
        yield fromA.value;
        fromA = a.next();
      } else {
        yield fromB.value;
        fromB = b.next();
      }
    }
  } finally {
    // Ends the query when the caller stops early: the database cannot be closed during a query.
    a.return?.();
    b.return?.();
  }
}
