// Time, timers and ids of a simulated broker, and the agenda of everything else that happens in the simulation: tasks run one at a time in
// the order of their instants, and those of one instant in an order drawn from the seed. Between two tasks streams and
// promises settle. Gives each life of a broker its Environment.

import { Heap, type HeapNode } from '../../broker/collections/heap.ts';
import type { Clock, Environment } from '../../model/environment.ts';
import type { Random } from './random.ts';

/** 2026-02-18T10:30:00Z. */
const FIRST_WALL_AT = Date.UTC(2026, 1, 18, 10, 30);

/** Ranks of tasks at one instant: enough to shuffle them. */
const RANKS = 16;

export type BatchWatch = {
  /** Who is watched now, if anybody: a batch counts when it was still so at its beginning as when it was asked for. */
  readonly watchedLife: () => number | undefined;
  /** The backend is about to step all inputs submitted before. */
  readonly begins: () => void;
  /** It has done so; what came of it is sent now or after the commit. */
  readonly ends: () => void;
};

/** The environments of one process. After its end its tasks and timers do not run. */
export type Life = {
  /** Of the backend, whose tasks that run soon are batches. */
  readonly environment: Environment;
  readonly gatewayEnvironment: Environment;
  readonly end: () => void;
};

export class SimulatedEnvironment {
  readonly clock: Clock = { now: () => this.#now, wallNow: () => this.#wallOffset + this.#now };
  readonly #random: Random;
  readonly #agenda = new Heap<() => void>();
  readonly #turns = new Turns();
  readonly #maxDelayOfSoonMs: number;
  #watch: BatchWatch = { watchedLife: () => undefined, begins: () => undefined, ends: () => undefined };
  #now = 0;
  #wallOffset = FIRST_WALL_AT;
  #nextId = 1;
  #soonCount = 0;

  /** `maxDelayOfSoonMs`: how long a busy event loop lets a batch wait, and grow. */
  constructor(random: Random, maxDelayOfSoonMs: number) {
    this.#random = random;
    this.#maxDelayOfSoonMs = maxDelayOfSoonMs;
  }

  watchBatches(watch: BatchWatch): void {
    this.#watch = watch;
  }

  /** A process begins. */
  beginLife(): Life {
    let isOver = false;
    const ofLife = (task: () => void) => (): void => {
      if (!isOver) task();
    };
    const after = (delayMs: number, task: () => void) => this.after(delayMs, ofLife(task));
    const withSoon = (soon: (task: () => void) => void): Environment => ({
      clock: this.clock,
      freshId: () => `fresh-${this.#nextId++}`,
      scheduler: { soon, after },
    });
    return {
      environment: withSoon((task) => {
        const whose = this.#watch.watchedLife();
        this.#soon(ofLife(() => this.#runBatch(task, whose)));
      }),
      gatewayEnvironment: withSoon((task) => this.#soon(ofLife(task))),
      end: () => {
        isOver = true;
      },
    };
  }

  /** Whether the backend has requested a batch that has not begun, or a connection waits for its turn. */
  get awaitsBatch(): boolean {
    return this.#soonCount > 0;
  }

  /** Runs the task once in `delayMs`, 0 or more; the result cancels it. */
  after(delayMs: number, task: () => void): () => void {
    const at = this.#now + Math.max(0, Math.ceil(delayMs));
    const node: HeapNode<() => void> = this.#agenda.insert(at, task, this.#random.whole(0, RANKS - 1));
    return () => this.#agenda.remove(node);
  }

  /** Sets the wall clock alone, as an operator or a time server would. */
  shiftWallClock(byMs: number): void {
    this.#wallOffset += byMs;
  }

  /** Runs task after task until `isDone` says so or nothing is left to do before `until`. */
  async run(until: number, betweenTasks: () => void, isDone: () => boolean = () => false): Promise<void> {
    // What the caller has done to the streams takes effect in the next turn.
    await this.#turns.next();
    while (!isDone()) {
      const first = this.#agenda.first();
      if (first === undefined || first.key > until) {
        this.#now = Math.max(this.#now, until);
        return;
      }
      this.#agenda.remove(first);
      this.#now = first.key;
      first.item();
      await this.#turns.next();
      betweenTasks();
    }
  }

  #soon(task: () => void): void {
    this.#soonCount += 1;
    this.after(this.#random.whole(0, this.#maxDelayOfSoonMs), () => {
      this.#soonCount -= 1;
      task();
    });
  }

  #runBatch(task: () => void, whose: number | undefined): void {
    const isWatched = whose !== undefined && whose === this.#watch.watchedLife();
    if (isWatched) this.#watch.begins();
    task();
    if (isWatched) this.#watch.ends();
  }
}

/** Tasks that one turn of the event loop serves. With one, a simulation takes a tenth longer: it looks for input that never comes. */
const TASKS_IN_A_TURN = 64;

/** Lets ticks, promises and stream events settle between two tasks. */
class Turns {
  /** Callbacks that Node will call in this turn of the event loop, one after the other. */
  #requestedCount = 0;
  #resolve: (() => void) | undefined;

  /** Ticks, promises and stream events that are under way are done when it resolves. To be called again only after that. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolve = resolve;
      if (this.#requestedCount === 0) this.#request();
    });
  }

  #request(): void {
    this.#requestedCount = TASKS_IN_A_TURN;
    for (let count = 0; count < TASKS_IN_A_TURN; count += 1) setImmediate(() => this.#serve());
  }

  /** Between two of these callbacks Node carries out all ticks and promises. */
  #serve(): void {
    this.#requestedCount -= 1;
    const resolve = this.#resolve;
    this.#resolve = undefined;
    resolve?.();
  }
}
