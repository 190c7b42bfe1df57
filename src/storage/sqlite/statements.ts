// The SQL of the store, prepared once. One method per change of rows and per way of reading; when something is done, and in which
// transaction, is sqlite-store.ts's. Implements DURABLE (the SQLite store's rows).

import type { DeadLetterFacts, MessageContent } from '../../broker/interface/message-content.ts';
import type {
  Generation,
  RecoveredRecord,
  StoredMessage,
  StoredQueue,
} from '../../broker/interface/store-record.ts';
import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';
import type { Priority } from '../../model/priority.ts';
import type { QueueOptions } from '../../model/queue-options.ts';
import type { SequenceRange } from './batch-plan.ts';
import { ContentPool } from './content-pool.ts';
import type { Database, Statement } from './driver.ts';

type QueueRow = {
  readonly generation: number;
  readonly name: string;
  readonly options: string;
  readonly created_at: number;
};

/** In the order of COLUMNS: arrays are made in two thirds of the time that objects take. */
type MessageRow = readonly [
  sequence: number,
  generation: Generation,
  id: string,
  priority: Priority,
  acceptedWallAt: number,
  failedAttempts: number,
  content: Buffer,
  reason?: DeadLetterReason,
  source?: string,
  attempts?: number,
  deadLetteredWallAt?: number,
];

const COLUMNS = 'sequence, generation, id, priority, accepted_at, failed_attempts, content';
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
    this.#insertMessage = prepare(`INSERT INTO messages (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`);
    this.#insertDeadLetter = prepare(
      `INSERT INTO dead_letters (${COLUMNS}, ${FACTS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
    const columns = [sequence, generation, id, priority, acceptedWallAt, failedAttempts, content];
    if (deadLetter === undefined) {
      this.#insertMessage.run(...columns);
      return;
    }
    const { reason, source, attempts, deadLetteredWallAt } = deadLetter;
    this.#insertDeadLetter.run(...columns, reason, source, attempts, deadLetteredWallAt);
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
    const pool = new ContentPool();
    for (const row of inOrder(messages, deadLetters)) {
      if (!without.has(row[1])) yield recoveredMessage(row, pool);
    }
  }

  #rowsOf(table: 'messages' | 'dead_letters', columns: string): IterableIterator<MessageRow> {
    const sql = `SELECT ${columns} FROM ${table} ORDER BY sequence`;
    return this.#database.prepare<[], MessageRow>(sql).raw().iterate();
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
      if (fromB.done === true || (fromA.done !== true && fromA.value[0] < fromB.value[0])) {
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

function recoveredMessage(row: MessageRow, pool: ContentPool): RecoveredRecord {
  const [sequence, generation, id, priority, acceptedWallAt, failedAttempts] = row;
  const content = pool.keep(row[6]);
  const deadLetter = deadLetterFacts(row);
  return deadLetter === undefined
    ? { kind: 'message', sequence, generation, id, priority, content, acceptedWallAt, failedAttempts }
    : {
        kind: 'message',
        sequence,
        generation,
        id,
        priority,
        content,
        acceptedWallAt,
        failedAttempts,
        deadLetter,
      };
}

function deadLetterFacts(row: MessageRow): DeadLetterFacts | undefined {
  if (row.length < 8) return undefined;
  const [, , , , , , , reason, source = '', attempts = 0, deadLetteredWallAt = 0] = row;
  return reason === undefined ? undefined : { reason, source, attempts, deadLetteredWallAt };
}

/** The core does not look into contents; whoever makes them for a broker with a store makes them of bytes. */
function bytesOf(content: MessageContent): Uint8Array {
  if (content instanceof Uint8Array) return content;
  throw new Error('A content that is no bytes cannot be stored.');
}
