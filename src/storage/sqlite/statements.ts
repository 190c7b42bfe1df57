// The SQL of the store, prepared once. One method per change of rows and per way of reading; when something is done, and in which
// transaction, is sqlite-store.ts's. Implements DURABLE (the SQLite store's rows).

import type {
  DeadLetterFacts,
  DeadLetterReason,
  MessageContent,
  Priority,
} from '../../broker/message-content.ts';
import type { QueueOptions } from '../../broker/queue-options.ts';
import type { Generation, RecoveredRecord, StoredMessage, StoredQueue } from '../../broker/store-record.ts';
import type { SequenceRange } from './batch-plan.ts';
import type { Database, Statement } from './driver.ts';

type QueueRow = {
  readonly generation: number;
  readonly name: string;
  readonly options: string;
  readonly created_at: number;
};

type MessageRow = {
  readonly sequence: number;
  readonly generation: number;
  readonly id: string;
  readonly priority: Priority;
  readonly accepted_at: number;
  readonly failed_attempts: number;
  readonly content: Buffer;
} & Partial<DeadLetterColumns>;

type DeadLetterColumns = {
  readonly reason: DeadLetterReason;
  readonly source: string;
  readonly attempts: number;
  readonly dead_lettered_at: number;
};

const COLUMNS = 'sequence, generation, id, priority, accepted_at, failed_attempts';
const FACTS = 'reason, source, attempts, dead_lettered_at';

export class Statements {
  readonly #database: Database;
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
    this.#database = database;
    this.#insertQueue = prepare(
      'INSERT INTO queues (generation, name, options, created_at) VALUES (?, ?, ?, ?)',
    );
    this.#deleteQueue = prepare('DELETE FROM queues WHERE generation = ?');
    this.#insertMessage = prepare(`INSERT INTO messages (${COLUMNS}, content) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#insertDeadLetter = prepare(
      `INSERT INTO dead_letters (${COLUMNS}, ${FACTS}, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    );
    this.#deleteMessages = prepare('DELETE FROM messages WHERE sequence BETWEEN ? AND ?');
    this.#deleteDeadLetters = prepare('DELETE FROM dead_letters WHERE sequence BETWEEN ? AND ?');
    this.#updateMessage = prepare('UPDATE messages SET failed_attempts = ? WHERE sequence = ?');
    this.#updateDeadLetter = prepare('UPDATE dead_letters SET failed_attempts = ? WHERE sequence = ?');
  }

  insertQueue({ generation, name, options, createdWallAt }: StoredQueue): void {
    this.#insertQueue.run(generation, name, JSON.stringify(options), createdWallAt);
  }

  deleteQueue(generation: Generation): void {
    this.#deleteQueue.run(generation);
  }

  insertMessage(stored: StoredMessage, failedAttempts: number): void {
    const { sequence, generation, id, priority, acceptedWallAt, deadLetter } = stored;
    const content = bytesOf(stored.content);
    const columns = [sequence, generation, id, priority, acceptedWallAt, failedAttempts];
    if (deadLetter === undefined) {
      this.#insertMessage.run(...columns, content);
      return;
    }
    const { reason, source, attempts, deadLetteredWallAt } = deadLetter;
    this.#insertDeadLetter.run(...columns, reason, source, attempts, deadLetteredWallAt, content);
  }

  /** Whichever of the two tables they are in; most are in the first. All of them must be in one. */
  deleteMessages({ first, last }: SequenceRange): void {
    const { changes } = this.#deleteMessages.run(first, last);
    if (changes <= last - first) this.#deleteDeadLetters.run(first, last);
  }

  updateFailedAttempts(sequence: number, failedAttempts: number): void {
    const { changes } = this.#updateMessage.run(failedAttempts, sequence);
    if (changes === 0) this.#updateDeadLetter.run(failedAttempts, sequence);
  }

  *readQueues(): Iterable<RecoveredRecord> {
    const rows = this.#database.prepare<[], QueueRow>('SELECT * FROM queues ORDER BY generation').iterate();
    for (const { generation, name, options, created_at } of rows) {
      const stored = { generation, name, options: JSON.parse(options) as QueueOptions };
      yield { kind: 'queue', ...stored, createdWallAt: created_at };
    }
  }

  /** The messages of both tables but for those of the given generations, by sequence. */
  *readMessages(without: ReadonlySet<Generation>): Iterable<RecoveredRecord> {
    const messages = this.#rowsOf('messages', COLUMNS);
    const deadLetters = this.#rowsOf('dead_letters', `${COLUMNS}, ${FACTS}`);
    for (const row of inOrder(messages, deadLetters)) {
      if (!without.has(row.generation)) yield recoveredMessage(row);
    }
  }

  #rowsOf(table: 'messages' | 'dead_letters', columns: string): IterableIterator<MessageRow> {
    const sql = `SELECT ${columns}, content FROM ${table} ORDER BY sequence`;
    return this.#database.prepare<[], MessageRow>(sql).iterate();
  }
}

/** Rows of two tables by their sequence. SQLite could merge them too, and takes half as long again for it. */
function* inOrder(
  a: IterableIterator<MessageRow>,
  b: IterableIterator<MessageRow>,
): IterableIterator<MessageRow> {
  try {
    let [fromA, fromB] = [a.next(), b.next()];
    while (fromA.done !== true || fromB.done !== true) {
      if (fromB.done === true || (fromA.done !== true && fromA.value.sequence < fromB.value.sequence)) {
        yield fromA.value;
        fromA = a.next();
      } else {
        yield fromB.value;
        fromB = b.next();
      }
    }
  } finally {
    // Whoever stops half way must be able to close the database, which cannot be done while it is read.
    a.return?.();
    b.return?.();
  }
}

function recoveredMessage(row: MessageRow): RecoveredRecord {
  const { sequence, generation, id, priority } = row;
  // Out of the driver's own piece of memory into the pool that small buffers share: a million pieces are slow to make and to look after.
  const content = Buffer.from(row.content);
  const stored = { sequence, generation, id, priority, content, acceptedWallAt: row.accepted_at };
  const facts = deadLetterFacts(row);
  const letter = facts === undefined ? stored : { ...stored, deadLetter: facts };
  return { kind: 'message', failedAttempts: row.failed_attempts, ...letter };
}

function deadLetterFacts(row: Partial<DeadLetterColumns>): DeadLetterFacts | undefined {
  const { reason, source = '', attempts = 0, dead_lettered_at: deadLetteredWallAt = 0 } = row;
  return reason === undefined ? undefined : { reason, source, attempts, deadLetteredWallAt };
}

/** The core does not look into contents; whoever makes them for a broker with a store makes them of bytes. */
function bytesOf(content: MessageContent): Uint8Array {
  if (content instanceof Uint8Array) return content;
  throw new Error('A content that is no bytes cannot be stored.');
}
