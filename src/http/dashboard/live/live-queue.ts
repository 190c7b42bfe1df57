// One queue as the live streams show it: the figures of the last sample with what follows from the samples before, its rates, whether it is acknowledged,
// and its history.

import { DeliveryMode } from '../../../model/delivery-mode.ts';
import { nameOfNumber } from '../../../model/named-numbers.ts';
import { OverflowStrategy } from '../../../model/overflow-strategy.ts';
import type { QueueFigures } from '../../../model/queue-info.ts';
import { deadLetterQueueOf } from '../../../model/queue-options.ts';
import type * as Live from './live-events.ts';
import type { HistoryClock, HistoryField, HistoryPool, QueueHistory } from './queue-history.ts';
import { ratePerSecond } from './rates.ts';

/** From this time without an ack on, while messages are in flight, a queue counts as not acknowledging. */
const ACK_PATIENCE_MS = 10_000;

export type SampleMoment = {
  /** Milliseconds that never go back. */
  readonly now: number;
  /** Since the sample before; 0: there is none. */
  readonly elapsedMs: number;
  readonly sampleNumber: number;
};

type Counters = Pick<QueueFigures, 'enteredCount' | 'deliveredCount' | 'acknowledgedCount'>;
const noCounts: Counters = { enteredCount: 0, deliveredCount: 0, acknowledgedCount: 0 };

export class LiveQueue {
  readonly #clock: HistoryClock;
  /** The first column of the histories in which the queue existed. */
  readonly #firstColumn: number;
  #figures: QueueFigures;
  /** Before the first sample it has none: a queue that is new has had all its messages since the sample before. */
  #counters: Counters = noCounts;
  #columnCounters: Counters = noCounts;
  #publishedRate = 0;
  #deliveredRate = 0;
  /** Since when something has been in flight and nothing was acknowledged; undefined: nothing is in flight. */
  #unacknowledgedSince: number | undefined;
  #isNotAcknowledging: 0 | 1 = 0;
  #sampleNumber = 0;
  #history: QueueHistory | undefined;

  constructor(figures: QueueFigures, clock: HistoryClock) {
    this.#figures = figures;
    this.#clock = clock;
    this.#firstColumn = clock.columnCount;
  }

  get name(): string {
    return this.#figures.name;
  }

  get id(): number {
    return this.#figures.id;
  }

  /** The last sample that had the queue. */
  get sampleNumber(): number {
    return this.#sampleNumber;
  }

  /** Undefined while nothing has happened. */
  get ownHistory(): QueueHistory | undefined {
    return this.#history;
  }

  /** Returns whether a value that is shown has changed. */
  sample(figures: QueueFigures, { now, elapsedMs, sampleNumber }: SampleMoment): boolean {
    const { enteredCount, deliveredCount } = this.#counters;
    const publishedRate = ratePerSecond(figures.enteredCount - enteredCount, elapsedMs);
    const deliveredRate = ratePerSecond(figures.deliveredCount - deliveredCount, elapsedMs);
    const isNotAcknowledging = this.#judgeAcks(figures, now);
    const isChanged =
      publishedRate !== this.#publishedRate ||
      deliveredRate !== this.#deliveredRate ||
      isNotAcknowledging !== this.#isNotAcknowledging ||
      differ(figures, this.#figures);
    this.#figures = figures;
    this.#counters = figures;
    this.#publishedRate = publishedRate;
    this.#deliveredRate = deliveredRate;
    this.#isNotAcknowledging = isNotAcknowledging;
    this.#sampleNumber = sampleNumber;
    return isChanged;
  }

  /** Adds the newest column to the history, which begins when something happens for the first time. */
  record(elapsedMs: number, pool: HistoryPool): void {
    const { messageCount, inFlightCount, enteredCount, deliveredCount } = this.#figures;
    const before = this.#columnCounters;
    const entry = {
      waitingCount: messageCount,
      inFlightCount,
      publishedRate: ratePerSecond(enteredCount - before.enteredCount, elapsedMs),
      deliveredRate: ratePerSecond(deliveredCount - before.deliveredCount, elapsedMs),
    };
    this.#columnCounters = this.#figures;
    if (
      this.#history === undefined &&
      inFlightCount + messageCount + entry.publishedRate + entry.deliveredRate > 0
    )
      this.#history = pool.take();
    this.#history?.record(this.#clock.columnCount - 1, entry);
  }

  facts(): Live.QueueFacts {
    const { id, name, options, createdWallAt } = this.#figures;
    const depths = this.#read('waitingCount', this.#columns());
    return {
      id,
      name,
      deliveryMode: nameOfNumber(DeliveryMode, options.mode),
      maxQueueSize: options.maxQueueSize,
      overflowStrategy: nameOfNumber(OverflowStrategy, options.overflowStrategy),
      maxRetryAttempts: options.maxRetryAttempts,
      messageTtlMs: options.messageTtlMs ?? null,
      deadLetterQueueName: options.enableDeadLetterQueue ? deadLetterQueueOf(name, options) : null,
      createdAt: createdWallAt,
      depths: depths.some((depth) => depth > 0) ? depths : [],
    };
  }

  values(): Live.QueueValues {
    const { id, messageCount, inFlightCount, oldestWallAt, subscriberCount, deadLetterCount } = this.#figures;
    return [
      id,
      messageCount,
      inFlightCount,
      this.#publishedRate,
      this.#deliveredRate,
      oldestWallAt ?? 0,
      subscriberCount,
      this.#isNotAcknowledging,
      deadLetterCount,
    ];
  }

  history(): Live.QueueHistory {
    const columns = this.#columns();
    return {
      at: columns.map((column) => this.#clock.at(column)),
      waitingCount: this.#read('waitingCount', columns),
      inFlightCount: this.#read('inFlightCount', columns),
      publishedRate: this.#read('publishedRate', columns),
      deliveredRate: this.#read('deliveredRate', columns),
    };
  }

  #columns(): readonly number[] {
    return this.#clock.columns(this.#firstColumn);
  }

  #read(field: HistoryField, columns: readonly number[]): readonly number[] {
    return this.#history?.read(field, columns) ?? columns.map(() => 0);
  }

  #judgeAcks({ inFlightCount, acknowledgedCount }: QueueFigures, now: number): 0 | 1 {
    if (inFlightCount === 0) this.#unacknowledgedSince = undefined;
    else if (acknowledgedCount > this.#counters.acknowledgedCount) this.#unacknowledgedSince = now;
    else this.#unacknowledgedSince ??= now;
    const since = this.#unacknowledgedSince;
    return since !== undefined && now - since >= ACK_PATIENCE_MS ? 1 : 0;
  }
}

function differ(one: QueueFigures, other: QueueFigures): boolean {
  return (
    one.messageCount !== other.messageCount ||
    one.inFlightCount !== other.inFlightCount ||
    one.oldestWallAt !== other.oldestWallAt ||
    one.subscriberCount !== other.subscriberCount ||
    one.deadLetterCount !== other.deadLetterCount
  );
}
