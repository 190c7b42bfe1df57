// Takes an existing broker's database into a store: queues, then messages, then dead letters, each row once. What is in the store already is
// counted and left alone, so an import can be repeated.

import { setImmediate } from 'node:timers/promises';
import { isQueueName } from '../../../model/queue-name.ts';
import {
  deadLetterQueueOf,
  deadLetterQueueOptions,
  defaultQueueOptions,
  sameOptions,
} from '../../../model/queue-options.ts';
import type {
  ExistingDatabase,
  ExistingRow,
  ExistingTable,
} from '../../../storage/sqlite/existing-database.ts';
import {
  type ExistingDeadLetter,
  type ExistingMessage,
  type ExistingQueue,
  RowProblem,
  readDeadLetterRow,
  readMessageRow,
  readQueueRow,
} from './existing-rows.ts';
import { compareTimes, readExistingTime } from './existing-time.ts';
import type { ImportTarget } from './import-target.ts';

export type RowCounts = { taken: number; present: number; refused: number };

/** What is told about single rows, as it is found. */
export type ImportListener = {
  /** The row was not taken. `key` is its primary key as JSON. */
  refused(table: ExistingTable, key: string, reason: string): void;
  /** The queue is in the store with other options, which stay. */
  differs(queue: string): void;
};

/** The column that names a row. */
const KEYS: Readonly<Record<ExistingTable, string>> = {
  queues: 'name',
  messages: 'id',
  dead_letters: 'message_id',
};

/** Rows without a rest, in which a signal can come. */
const ROWS_IN_A_ROW = 500;

export class ExistingImport {
  readonly counts: Readonly<Record<ExistingTable, RowCounts>> = {
    queues: { taken: 0, present: 0, refused: 0 },
    messages: { taken: 0, present: 0, refused: 0 },
    dead_letters: { taken: 0, present: 0, refused: 0 },
  };
  readonly #source: ExistingDatabase;
  readonly #target: ImportTarget;
  readonly #listener: ImportListener;
  readonly #interruption: AbortSignal;
  #rowCount = 0;

  constructor(
    source: ExistingDatabase,
    target: ImportTarget,
    listener: ImportListener,
    interruption: AbortSignal,
  ) {
    this.#source = source;
    this.#target = target;
    this.#listener = listener;
    this.#interruption = interruption;
  }

  /**
   * Rejects with StoreError when the source cannot be read or the target cannot be written, and when it is interrupted; what was taken before stays.
   */
  async run(): Promise<void> {
    const queues: ExistingQueue[] = [];
    await this.#takeEach('queues', this.#source.queues(), (row) => {
      const queue = readQueueRow(row);
      queues.push(queue);
      return this.#takeQueue(queue);
    });
    // After all rows: one of them may be the dead letter queue, with options of its own.
    for (const { name, createdWallAt } of queues) {
      if (this.#target.optionsOf(name)?.enableDeadLetterQueue === true)
        this.#provideDeadLetterQueue(name, createdWallAt);
    }
    await this.#takeEach('messages', this.#inOrder('messages'), (row) =>
      this.#takeMessage(readMessageRow(row)),
    );
    await this.#takeEach('dead_letters', this.#inOrder('dead_letters'), (row) =>
      this.#takeDeadLetter(readDeadLetterRow(row)),
    );
    await this.#target.commit({ isLast: true });
  }

  /** By their times, as the existing broker recovers them; at the same time in the order of writing. */
  #inOrder(table: 'messages' | 'dead_letters'): Iterable<ExistingRow> {
    const unknown = { wallAt: Number.POSITIVE_INFINITY, ticks: 0 };
    const rows = this.#source
      .timedRows(table)
      .map(({ rowid, time }) => ({ rowid, ...(readExistingTime(time) ?? unknown) }));
    // Rows without a time come last; they are refused. Sorting keeps the order of equal ones.
    rows.sort(compareTimes);
    return this.#source.rows(
      table,
      rows.map(({ rowid }) => rowid),
    );
  }

  async #takeEach(
    table: ExistingTable,
    rows: Iterable<ExistingRow>,
    take: (row: ExistingRow) => 'taken' | 'present',
  ): Promise<void> {
    for (const row of rows) {
      this.counts[table][this.#outcomeOf(table, row, take)] += 1;
      await this.#target.commit({ isLast: false });
      await this.#rest();
    }
  }

  /** Signals come only while nothing runs. */
  async #rest(): Promise<void> {
    this.#rowCount += 1;
    if (this.#rowCount % ROWS_IN_A_ROW !== 0) return;
    await setImmediate();
    this.#interruption.throwIfAborted();
  }

  #outcomeOf(
    table: ExistingTable,
    row: ExistingRow,
    take: (row: ExistingRow) => 'taken' | 'present',
  ): keyof RowCounts {
    try {
      return take(row);
    } catch (error) {
      if (!(error instanceof RowProblem)) throw error;
      this.#listener.refused(table, shownKey(row[KEYS[table]]), error.message);
      return 'refused';
    }
  }

  #takeQueue(queue: ExistingQueue): 'taken' | 'present' {
    const present = this.#target.optionsOf(queue.name);
    if (present === undefined) {
      refuseIf(this.#target.addQueue(queue));
      return 'taken';
    }
    if (!sameOptions(queue.name, present, queue.options)) this.#listener.differs(queue.name);
    return 'present';
  }

  #takeMessage(message: ExistingMessage): 'taken' | 'present' {
    const { queue, id } = message;
    if (this.#target.optionsOf(queue) === undefined) {
      throw new RowProblem(
        `its queue ${JSON.stringify(queue)} is not in the target; create it there with a broker, and import again`,
      );
    }
    if (this.#target.hasMessage(queue, id)) return 'present';
    refuseIf(this.#target.addMessage(message));
    return 'taken';
  }

  #takeDeadLetter({ message, facts }: ExistingDeadLetter): 'taken' | 'present' {
    const queue = this.#provideDeadLetterQueue(message.queue, facts.deadLetteredWallAt);
    if (this.#target.hasDeadLetter(queue, message.id, facts)) return 'present';
    refuseIf(this.#target.addDeadLetter(queue, message, facts));
    return 'taken';
  }

  /** The name of the queue for the dead letters of `source`, which is created if it is missing. A deleted source counts as one with default options. */
  #provideDeadLetterQueue(source: string, createdWallAt: number): string {
    const options = this.#target.optionsOf(source) ?? defaultQueueOptions;
    const name = deadLetterQueueOf(source, options);
    if (!isQueueName(name) || name === source) {
      throw new RowProblem(
        `${JSON.stringify(name)} cannot be the dead letter queue of ${JSON.stringify(source)}`,
      );
    }
    if (this.#target.optionsOf(name) === undefined) {
      refuseIf(this.#target.addQueue({ name, options: deadLetterQueueOptions(options), createdWallAt }));
    }
    return name;
  }
}

function refuseIf(problem: string | undefined): void {
  if (problem !== undefined) throw new RowProblem(problem);
}

function shownKey(value: unknown): string {
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  const shown = JSON.stringify(value) ?? 'nothing';
  return shown.length <= 80 ? shown : `${shown.slice(0, 77)}...`;
}
