// Removes the rows of deleted queues. Ending a queue is one small record; its rows are removed in slices, one with every commit, so that no
// commit is delayed by them. The progress is stored too, and the next start continues it. Implements QUEUE-014 and DURABLE-027 for the
// SQLite store.

import type { Generation } from '../../broker/interface/store-record.ts';
import type { Database, Statement } from './driver.ts';

/** Rows in one slice: few enough to delay a commit by at most a millisecond. */
const SLICE_ROWS = 1_000;

type Ended = { readonly generation: Generation; readonly cursor: number };

export class EndedQueues {
  readonly #tables: readonly Table[];
  readonly #insert: Statement<[number, number]>;
  readonly #update: Statement<[number, number]>;
  readonly #delete: Statement<[number]>;
  #left: Ended[];

  constructor(database: Database) {
    this.#tables = [new Table(database, 'messages'), new Table(database, 'dead_letters')];
    this.#insert = database.prepare('INSERT INTO ended_queues (generation, cursor) VALUES (?, ?)');
    this.#update = database.prepare('UPDATE ended_queues SET cursor = ? WHERE generation = ?');
    this.#delete = database.prepare('DELETE FROM ended_queues WHERE generation = ?');
    this.#left = database.prepare<[], Ended>('SELECT * FROM ended_queues ORDER BY generation').all();
  }

  /** Generations that may still have rows. */
  get generations(): ReadonlySet<Generation> {
    return new Set(this.#left.map(({ generation }) => generation));
  }

  get isEmpty(): boolean {
    return this.#left.length === 0;
  }

  /** To be called in the transaction that removes the queue. */
  add(generation: Generation): void {
    this.#insert.run(generation, 0);
    this.#left.push({ generation, cursor: 0 });
  }

  /** Removes one slice of rows of the first generation. To be called in a transaction. */
  removeSlice(): void {
    const first = this.#left.shift();
    if (first === undefined) return;
    const { generation, cursor } = first;
    const end = Math.min(...this.#tables.map((table) => table.endOfSlice(cursor)));
    for (const table of this.#tables) table.removeRows({ generation, cursor, end });
    if (end === Number.POSITIVE_INFINITY) this.#delete.run(generation);
    else {
      this.#update.run(end, generation);
      this.#left.unshift({ generation, cursor: end });
    }
  }
}

type Slice = Ended & { readonly end: number };

/** The rows of all queues in one table, by sequence. */
class Table {
  readonly #lastOfSlice: Statement<[number], number>;
  readonly #deleteRows: Statement<[number, number, number]>;

  constructor(database: Database, name: 'messages' | 'dead_letters') {
    this.#lastOfSlice = database
      .prepare<[number], number>(
        `SELECT sequence FROM ${name} WHERE sequence > ? ORDER BY sequence LIMIT 1 OFFSET ${SLICE_ROWS - 1}`,
      )
      .pluck();
    this.#deleteRows = database.prepare(
      `DELETE FROM ${name} WHERE generation = ? AND sequence > ? AND sequence <= ?`,
    );
  }

  /** The sequence of the last row of the slice; infinity when there are not as many rows. */
  endOfSlice(cursor: number): number {
    return this.#lastOfSlice.get(cursor) ?? Number.POSITIVE_INFINITY;
  }

  removeRows({ generation, cursor, end }: Slice): void {
    this.#deleteRows.run(generation, cursor, Math.min(end, Number.MAX_SAFE_INTEGER));
  }
}
