// Runs one core over one store. Collects inputs into a batch, steps it through the core, commits all its records together, and only then
// passes on the effects: nothing is visible before it is stored. Inputs wait during a commit, so the state is never more than one batch
// ahead of the store. Ends with the first failed commit, and when the core throws. Implements DURABLE-001, DURABLE-002.

import type { Broker } from '../../broker/broker.ts';
import type { Effect } from '../../broker/interface/effect.ts';
import type { Input } from '../../broker/interface/input.ts';
import type { StoreRecord } from '../../broker/interface/store-record.ts';
import type { Environment } from '../../model/environment.ts';
import type { StorageProvider } from '../../storage/storage-provider.ts';
import type { BackendReceiver } from '../backend.ts';
import { coreTime } from './core-time.ts';
import type { DeliveryLatency } from './delivery-latency.ts';
import type { EvictionLog } from './eviction-log.ts';
import { InputQueue } from './input-queue.ts';
import type { QueueLog } from './queue-log.ts';

/** A batch ends at the first of these limits, so that sockets, timers and health requests are served between batches. */
const MAX_BATCH_LENGTH = 4096;
/** A batch may take as long as the last commit has taken, within these bounds: many small commits would cost more than they serve. */
const MIN_BATCH_MS = 2;
const MAX_BATCH_MS = 10;
/** Inputs between two readings of the clock. */
const INPUTS_PER_CLOCK_READ = 64;

export type BatchLoopParts = {
  readonly broker: Broker;
  readonly store: StorageProvider;
  readonly environment: Environment;
  readonly receiver: Pick<BackendReceiver, 'effects' | 'processed'>;
  readonly latency: DeliveryLatency;
  readonly evictions: EvictionLog;
  readonly queueLog: QueueLog;
  /** The loop has ended. */
  readonly onFailure: (failure: LoopFailure) => void;
};

export type LoopFailure = {
  readonly error: unknown;
  /** The input that the core threw on, by a fault of our own; absent: a commit has failed. Its state may be damaged: only the store is sure. */
  readonly culprit?: Input;
  /** The inputs of the batch, and those after it: nothing of them is committed for certain. */
  readonly lost: readonly Input[];
};

type Fault = Omit<LoopFailure, 'lost'>;
type Outputs = ReturnType<Broker['takeOutputs']>;

export class BatchLoop {
  readonly #parts: BatchLoopParts;
  readonly #pending = new InputQueue();
  #isScheduled = false;
  #isCommitting = false;
  #committing: Promise<void> = Promise.resolve();
  #hasEnded = false;
  #cancelTimer: () => void = () => undefined;
  /** When the timer that is set will fire. */
  #timerAt = Number.POSITIVE_INFINITY;
  /** How long a batch may take. */
  #batchMs = MIN_BATCH_MS;
  #commitMs = 0;
  /** Time of the first input since the last batch, shared by the later ones so that the clock is read once. Undefined: there was none. */
  #firstSubmittedAt: number | undefined;

  constructor(parts: BatchLoopParts) {
    this.#parts = parts;
    this.#setTimer();
  }

  /** How long the last commit took; 0 before the first. */
  get commitMs(): number {
    return this.#commitMs;
  }

  submit(input: Input): void {
    if (this.#hasEnded) return;
    this.#firstSubmittedAt ??= this.#parts.environment.clock.now();
    this.#pending.push(input);
    this.#schedule();
  }

  /** Ends the loop. Pending inputs are dropped; the effects of a commit under way too. Resolves when no commit is under way. */
  end(): Promise<void> {
    this.#hasEnded = true;
    this.#cancelTimer();
    this.#pending.takeAll();
    return this.#committing;
  }

  #schedule(): void {
    if (this.#isScheduled || this.#isCommitting) return;
    this.#isScheduled = true;
    this.#parts.environment.scheduler.soon(() => this.#runBatch());
  }

  #runBatch(): void {
    this.#isScheduled = false;
    if (this.#hasEnded || this.#firstSubmittedAt === undefined) return;
    const arrivedAt = this.#firstSubmittedAt;
    const { inputs, fault } = this.#stepBatch();
    if (fault !== undefined) return this.#fail(inputs, fault);
    const { records, effects } = this.#parts.broker.takeOutputs();
    const steppedAt = this.#parts.environment.clock.now();
    const committed = this.#commit(records);
    const finish = () => {
      if (records.length > 0) this.#committedWithin(this.#parts.environment.clock.now() - steppedAt);
      if (!this.#hasEnded) this.#parts.queueLog.committed(records, inputs);
      this.#finish(inputs, effects, arrivedAt);
    };
    if (committed === undefined) return finish();
    this.#isCommitting = true;
    this.#committing = committed.then(finish, (error: unknown) => this.#fail(inputs, { error }));
  }

  /** Steps the next batch through the core and returns its inputs. Stops at an input that the core throws on. */
  #stepBatch(): { readonly inputs: readonly Input[]; readonly fault?: Fault } {
    const { broker, environment } = this.#parts;
    const { clock } = environment;
    const startedAt = clock.now();
    const time = coreTime(clock, startedAt);
    const inputs: Input[] = [];
    const isLate = (): boolean => clock.now() - startedAt >= this.#batchMs;
    while (!isFull(inputs.length, isLate)) {
      const input = this.#pending.take();
      if (input === undefined) break;
      inputs.push(input);
      try {
        broker.step(input, time);
      } catch (error) {
        return { inputs, fault: { error, culprit: input } };
      }
    }
    this.#firstSubmittedAt = this.#pending.length === 0 ? undefined : startedAt;
    return { inputs };
  }

  #committedWithin(durationMs: number): void {
    this.#commitMs = durationMs;
    this.#batchMs = Math.min(Math.max(durationMs, MIN_BATCH_MS), MAX_BATCH_MS);
  }

  /** Undefined when the records are committed already. */
  #commit(records: readonly StoreRecord[]): Promise<void> | undefined {
    if (records.length === 0) return undefined;
    try {
      return this.#parts.store.commit(records) ?? undefined;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /** The batch is committed: passes on its effects. */
  #finish(inputs: readonly Input[], effects: Outputs['effects'], arrivedAt: number): void {
    this.#isCommitting = false;
    if (this.#hasEnded) return;
    const { broker, receiver, latency, evictions, environment } = this.#parts;
    passOn(effects, receiver);
    const evicted = broker.takeEvictions();
    if (evicted !== undefined) evictions.add(evicted);
    broker.written();
    const tookMs = environment.clock.now() - arrivedAt;
    latency.written(
      { firstDeliveryCount: broker.stats().firstDeliveryCount, waits: broker.takeWaits() },
      tookMs,
    );
    receiver.processed(inputs);
    if (this.#hasEnded) return;
    this.#setTimer();
    if (this.#pending.length > 0) this.#schedule();
  }

  #fail(inputs: readonly Input[], fault: Fault): void {
    if (this.#hasEnded) return;
    const lost = [...inputs, ...this.#pending.takeAll()];
    void this.end();
    this.#parts.onFailure({ ...fault, lost });
  }

  /** Sets the one timer for all deadlines of the core. */
  #setTimer(): void {
    const at = this.#parts.broker.nextDeadline() ?? Number.POSITIVE_INFINITY;
    // A timer that fires too early is harmless, and resetting it for every batch would cost more.
    if (at >= this.#timerAt) return;
    this.#cancelTimer();
    this.#timerAt = at;
    const { clock, scheduler } = this.#parts.environment;
    this.#cancelTimer = scheduler.after(at - clock.now(), () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.submit({ kind: 'tick' });
    });
  }
}

function isFull(inputCount: number, isLate: () => boolean): boolean {
  if (inputCount === MAX_BATCH_LENGTH) return true;
  return inputCount > 0 && inputCount % INPUTS_PER_CLOCK_READ === 0 && isLate();
}

function passOn(effects: readonly Effect[], receiver: Pick<BackendReceiver, 'effects'>): void {
  if (effects.length > 0) receiver.effects(effects);
}
