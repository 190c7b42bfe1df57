// What happened in one queue over the last 15 minutes, every 15 seconds: about 1 kB for a queue. All queues share one row of instants, the
// `HistoryClock`, so that their columns are the same.

/** Columns that are kept, the newest included. */
export const HISTORY_LENGTH = 60;
/** Further queues are shown without their past. */
const MAX_HISTORIES = 10_000;
const HISTORIES_PER_SLAB = 250;
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

export type HistoryField = keyof HistoryEntry;
const fields: Readonly<Record<HistoryField, number>> = {
  waitingCount: 0,
  inFlightCount: 1,
  publishedRate: 2,
  deliveredRate: 3,
};

/** What a history takes: 960 bytes. */
const HISTORY_NUMBERS = HISTORY_LENGTH * Object.keys(fields).length;

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

/** Begins and ends the histories of queues. Their memory is taken for many at a time, since 10,000 queues may begin theirs together. */
export class HistoryPool {
  readonly #released: QueueHistory[] = [];
  #slab = new Uint32Array(0);
  #startedCount = 0;

  /** An empty history; undefined when {@link MAX_HISTORIES} queues have one. */
  take(): QueueHistory | undefined {
    const released = this.#released.pop();
    if (released !== undefined || this.#startedCount === MAX_HISTORIES) return released;
    const index = this.#startedCount % HISTORIES_PER_SLAB;
    if (index === 0) this.#slab = new Uint32Array(HISTORIES_PER_SLAB * HISTORY_NUMBERS);
    this.#startedCount += 1;
    return new QueueHistory(this.#slab, index * HISTORY_NUMBERS);
  }

  /** The history is not used any more. */
  release(history: QueueHistory): void {
    history.clear();
    this.#released.push(history);
  }
}

export class QueueHistory {
  readonly #numbers: Uint32Array;
  readonly #start: number;

  /** Lies in `numbers` from `start` on. */
  constructor(numbers: Uint32Array, start: number) {
    this.#numbers = numbers;
    this.#start = start;
  }

  clear(): void {
    this.#numbers.fill(0, this.#start, this.#start + HISTORY_NUMBERS);
  }

  /** Overwrites what the column held 15 minutes ago. */
  record(column: number, entry: HistoryEntry): void {
    this.#write('waitingCount', column, entry.waitingCount);
    this.#write('inFlightCount', column, entry.inFlightCount);
    this.#write('publishedRate', column, Math.round(entry.publishedRate * TENTHS));
    this.#write('deliveredRate', column, Math.round(entry.deliveredRate * TENTHS));
  }

  read(field: HistoryField, columns: readonly number[]): readonly number[] {
    const unit = field.endsWith('Rate') ? TENTHS : 1;
    return columns.map((column) => (this.#numbers[this.#start + placeOf(field, column)] ?? 0) / unit);
  }

  #write(field: HistoryField, column: number, value: number): void {
    this.#numbers[this.#start + placeOf(field, column)] = value;
  }
}

function placeOf(field: HistoryField, column: number): number {
  return fields[field] * HISTORY_LENGTH + (column % HISTORY_LENGTH);
}
