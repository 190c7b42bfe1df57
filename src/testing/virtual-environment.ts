// A broker's environment in virtual time: the clock stands still until a test moves it, tasks and timers run only then, and ids are
// counted. Hours pass in microseconds, and the same calls give the same run. Nothing here waits for real time; only `settle` lets the event
// loop turn, because streams hand on their events that way. Implements environment.ts.

import type { Clock, Environment, Scheduler } from '../model/environment.ts';

/** 2026-02-18T10:30:00Z: the wall clock of a fresh environment. */
const FIRST_WALL_AT = Date.UTC(2026, 1, 18, 10, 30);

/** Turns of the event loop without activity before a run is settled. */
const QUIET_TURNS = 2;

/** More turns than any test needs: a run that is still busy then never settles. */
const MAX_TURNS = 100_000;

type Timer = { readonly at: number; readonly order: number; readonly task: () => void };

export class VirtualEnvironment implements Environment {
  readonly clock: Clock = { now: () => this.#now, wallNow: () => this.#wallNow };
  readonly scheduler: Scheduler = {
    soon: (task) => void this.#soon.push(task),
    after: (delayMs, task) => this.#setTimer(delayMs, task),
  };
  readonly freshId = (): string => `fresh-${this.#nextId++}`;
  #now = 0;
  #wallNow: number;
  #soon: (() => void)[] = [];
  /** A list that is searched linearly: there are few timers. */
  readonly #timers = new Set<Timer>();
  #timerCount = 0;
  #nextId = 1;

  constructor({ wallNow = FIRST_WALL_AT }: { readonly wallNow?: number } = {}) {
    this.#wallNow = wallNow;
  }

  /** Runs everything that is due at this moment: tasks, stream events, timers. */
  async settle(): Promise<void> {
    let quietTurns = 0;
    for (let turns = 0; quietTurns < QUIET_TURNS; turns += 1) {
      if (turns > MAX_TURNS) throw new Error('The run does not come to rest.');
      await turnOfTheEventLoop();
      quietTurns = this.#runDue() ? 0 : quietTurns + 1;
    }
  }

  /** Advances the clock by `durationMs`, stopping and settling at every timer. */
  async advance(durationMs: number): Promise<void> {
    const until = this.#now + durationMs;
    await this.settle();
    for (
      let timer = this.#firstTimer();
      timer !== undefined && timer.at <= until;
      timer = this.#firstTimer()
    ) {
      this.#moveTo(timer.at);
      await this.settle();
    }
    this.#moveTo(until);
    await this.settle();
  }

  /** Sets the wall clock alone, as an operator or a time server would. */
  setWallClock(wallNow: number): void {
    this.#wallNow = wallNow;
  }

  /** The number of timers: timers left at the end of a test are leaks. */
  get timerCount(): number {
    return this.#timers.size;
  }

  #setTimer(delayMs: number, task: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, delayMs), order: this.#timerCount++, task };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  }

  /** Returns whether anything ran. */
  #runDue(): boolean {
    const tasks = this.#soon;
    this.#soon = [];
    for (const task of tasks) task();
    const timer = this.#firstTimer();
    if (timer === undefined || timer.at > this.#now) return tasks.length > 0;
    this.#timers.delete(timer);
    timer.task();
    return true;
  }

  #firstTimer(): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (first === undefined || timer.at < first.at) first = timer;
    }
    return first;
  }

  #moveTo(at: number): void {
    this.#wallNow += at - this.#now;
    this.#now = at;
  }
}

/** Ticks, promises and stream events that are under way are done when it resolves. */
function turnOfTheEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}
