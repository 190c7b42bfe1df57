// What happened in one queue over the last 15 minutes, every 15 seconds: about 1 kB for a queue. All queues share one row of instants, the
// `HistoryClock`, so that their columns are the same.

/** Columns that are kept, the newest included. */
export const HISTORY_LENGTH = 60;
/** Rates are kept as whole numbers of tenths. */
const TENTHS = 10;

export type HistoryEntry = {
  readonly waitingCount: number;
  readonly inFlightCount: number;
  /** Messages that entered, a second. */
  readonly publishedRate: number;
  /** Deliveries sent, a second. */
  readonly deliveredRate: number;
};

type Field = keyof HistoryEntry;
const fields: Readonly<Record<Field, number>> = {
  waitingCount: 0,
  inFlightCount: 1,
  publishedRate: 2,
  deliveredRate: 3,
};

/** The instants of the columns. */
export class HistoryClock {
  readonly #at = new Float64Array(HISTORY_LENGTH);
  #columnCount = 0;

  /** Columns that there ever were; the newest has this number less one. */
  get columnCount(): number {
    return this.#columnCount;
  }

  advance(at: number): void {
    this.#at[this.#columnCount % HISTORY_LENGTH] = at;
    this.#columnCount += 1;
  }

  /** The columns that are kept from number `first` on, oldest first. */
  columns(first: number): readonly number[] {
    const from = Math.max(first, this.#columnCount - HISTORY_LENGTH, 0);
    return Array.from({ length: Math.max(0, this.#columnCount - from) }, (_, index) => from + index);
  }

  at(column: number): number {
    return this.#at[column % HISTORY_LENGTH] ?? 0;
  }
}

export class QueueHistory {
  readonly #numbers = new Uint32Array(HISTORY_LENGTH * 4);

  /** Overwrites what the column held 15 minutes ago. */
  record(column: number, entry: HistoryEntry): void {
    this.#write('waitingCount', column, entry.waitingCount);
    this.#write('inFlightCount', column, entry.inFlightCount);
    this.#write('publishedRate', column, Math.round(entry.publishedRate * TENTHS));
    this.#write('deliveredRate', column, Math.round(entry.deliveredRate * TENTHS));
  }

  read(field: Field, columns: readonly number[]): readonly number[] {
    const unit = field.endsWith('Rate') ? TENTHS : 1;
    return columns.map((column) => (this.#numbers[placeOf(field, column)] ?? 0) / unit);
  }

  #write(field: Field, column: number, value: number): void {
    this.#numbers[placeOf(field, column)] = value;
  }
}

function placeOf(field: Field, column: number): number {
  return fields[field] * HISTORY_LENGTH + (column % HISTORY_LENGTH);
}
