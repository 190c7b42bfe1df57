// Runs one core over one store. Collects inputs into a batch, steps it through the core, commits all its records together, and only then
// passes on the effects: nothing is visible before it is stored. Inputs wait in order during a commit, so the state is never more than
// one batch ahead of the store. Ends with the first failed commit. Implements DURABLE-001, DURABLE-002.

import type { Broker } from '../../broker/broker.ts';
import type { Effect } from '../../broker/interface/effect.ts';
import type { Input } from '../../broker/interface/input.ts';
import type { StoreRecord } from '../../broker/interface/store-record.ts';
import type { Environment } from '../../model/environment.ts';
import type { StorageProvider } from '../../storage/storage-provider.ts';
import type { BackendReceiver } from '../backend.ts';
import type { DeliveryLatency } from './delivery-latency.ts';

/** A batch ends at the first of these limits, so that sockets, timers and health requests are served between batches. */
const MAX_BATCH_LENGTH = 4096;
const MAX_BATCH_MS = 10;
/** Inputs between two readings of the clock. */
const INPUTS_PER_CLOCK_READ = 64;

export type BatchLoopParts = {
  readonly broker: Broker;
  readonly store: StorageProvider;
  readonly environment: Environment;
  readonly receiver: Pick<BackendReceiver, 'effects' | 'processed'>;
  readonly latency: DeliveryLatency;
  /** A commit has failed and the loop has ended. `lost`: the inputs of that batch, and those after it. */
  readonly onFailure: (error: unknown, lost: readonly Input[]) => void;
};

type Outputs = ReturnType<Broker['takeOutputs']>;

export class BatchLoop {
  readonly #parts: BatchLoopParts;
  #pending: Input[] = [];
  #isScheduled = false;
  #isCommitting = false;
  #committing: Promise<void> = Promise.resolve();
  #hasEnded = false;
  #cancelTimer: () => void = () => undefined;
  /** When the timer that is set will fire. */
  #timerAt = Number.POSITIVE_INFINITY;
  /** Time of the first input since the last batch, shared by the later ones so that the clock is read once. Undefined: there was none. */
  #firstSubmittedAt: number | undefined;

  constructor(parts: BatchLoopParts) {
    this.#parts = parts;
    this.#setTimer();
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
    this.#pending = [];
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
    const inputs = this.#stepBatch();
    const { records, effects } = this.#parts.broker.takeOutputs();
    const committed = this.#commit(records);
    const finish = () => this.#finish(inputs, effects, arrivedAt);
    if (committed === undefined) return finish();
    this.#isCommitting = true;
    this.#committing = committed.then(finish, (error: unknown) => this.#fail(error, inputs));
  }

  /** Steps the next batch through the core and returns its inputs. */
  #stepBatch(): readonly Input[] {
    const { broker, environment } = this.#parts;
    const { clock } = environment;
    const time = { now: clock.now(), wallNow: clock.wallNow() };
    let count = 0;
    for (const input of this.#pending) {
      if (count === MAX_BATCH_LENGTH) break;
      if (count > 0 && count % INPUTS_PER_CLOCK_READ === 0 && clock.now() - time.now >= MAX_BATCH_MS) break;
      count += 1;
      broker.step(input, time);
    }
    return this.#takePending(count, time.now);
  }

  #takePending(count: number, now: number): readonly Input[] {
    if (count < this.#pending.length) {
      this.#firstSubmittedAt = now;
      return this.#pending.splice(0, count);
    }
    this.#firstSubmittedAt = undefined;
    const all = this.#pending;
    this.#pending = [];
    return all;
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
    const { broker, receiver, latency, environment } = this.#parts;
    passOn(effects, receiver);
    broker.written();
    latency.written(broker.stats().firstDeliveryCount, environment.clock.now() - arrivedAt);
    receiver.processed(inputs);
    if (this.#hasEnded) return;
    this.#setTimer();
    if (this.#pending.length > 0) this.#schedule();
  }

  #fail(error: unknown, inputs: readonly Input[]): void {
    if (this.#hasEnded) return;
    const lost = [...inputs, ...this.#pending];
    void this.end();
    this.#parts.onFailure(error, lost);
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

function passOn(effects: readonly Effect[], receiver: Pick<BackendReceiver, 'effects'>): void {
  if (effects.length > 0) receiver.effects(effects);
}
