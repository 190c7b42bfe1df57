// Who runs, who waits, and in which order those that wait are taken.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settle } from '../testing/instant-hashing.ts';
import { runsOf } from '../testing/property-runs.ts';
import { type TurnOutcome, Turns } from './turns.ts';

/** Tasks by name that end when the test says so. */
class Tasks {
  readonly started: string[] = [];
  readonly outcomes = new Map<string, TurnOutcome<string>['kind'] | 'failed'>();
  readonly #ends = new Map<string, { readonly done: () => void; readonly fail: () => void }>();
  readonly #turns: Turns;

  constructor(maxRunning: number, maxWaiting: number) {
    this.#turns = new Turns({ maxRunning, maxWaiting });
  }

  async take(name: string, key: string, cancelled?: AbortSignal): Promise<void> {
    const task = () => {
      this.started.push(name);
      return new Promise<string>((resolve, reject) => {
        this.#ends.set(name, { done: () => resolve(name), fail: () => reject(new Error(name)) });
      });
    };
    const settled = this.#turns.take(key, task, cancelled).then(
      ({ kind }) => this.outcomes.set(name, kind),
      () => this.outcomes.set(name, 'failed'),
    );
    void settled;
    await settle();
  }

  async end(name: string, how: 'done' | 'fail' = 'done'): Promise<void> {
    this.#ends.get(name)?.[how]();
    this.#ends.delete(name);
    await settle();
  }

  get running(): readonly string[] {
    return [...this.#ends.keys()];
  }
}

describe('turns', () => {
  it('run as many tasks as they may, and let others wait [AUTH-013]', async () => {
    const tasks = new Tasks(2, 32);
    for (const name of ['a', 'b', 'c']) await tasks.take(name, 'k');
    expect(tasks.started).toEqual(['a', 'b']);
    await tasks.end('a');
    expect(tasks.started).toEqual(['a', 'b', 'c']);
    expect([...tasks.outcomes]).toEqual([['a', 'done']]);
  });

  it('refuse a task when as many wait as may, of all keys together [AUTH-013, AUTH-015]', async () => {
    const tasks = new Tasks(1, 2);
    for (const name of ['a', 'b', 'c', 'd']) await tasks.take(name, name);
    expect(tasks.outcomes.get('d')).toBe('full');
    await tasks.end('a');
    await tasks.take('e', 'e');
    expect(tasks.outcomes.has('e')).toBe(false);
    await tasks.end('b');
    await tasks.end('c');
    expect(tasks.started).toEqual(['a', 'b', 'c', 'e']);
  });

  it('refuse the youngest task of the key with the most, when another key has less than its share of those that wait [AUTH-014, AUTH-015]', async () => {
    const tasks = new Tasks(1, 4);
    for (const name of ['a', 'a1', 'a2', 'a3', 'a4']) await tasks.take(name, 'flood');
    await tasks.take('b1', 'other');
    await tasks.take('b2', 'other');
    await tasks.take('b3', 'other');
    expect([...tasks.outcomes]).toEqual([
      ['a4', 'full'],
      ['a3', 'full'],
      ['b3', 'full'],
    ]);
    for (const name of ['a', 'a1', 'b1', 'a2', 'b2']) await tasks.end(name);
    expect(tasks.started).toEqual(['a', 'a1', 'b1', 'a2', 'b2']);
  });

  it('take those that wait from their keys in turn, and of one key the first [AUTH-014]', async () => {
    const tasks = new Tasks(1, 32);
    await tasks.take('first', 'busy');
    for (const name of ['a1', 'a2', 'a3', 'a4']) await tasks.take(name, 'a');
    for (const name of ['b1', 'b2']) await tasks.take(name, 'b');
    await tasks.take('c1', 'c');
    for (const name of ['first', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']) await tasks.end(name);
    expect(tasks.started).toEqual(['first', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4']);
  });

  it('forget a task that is cancelled while it waits, and make room [AUTH-013]', async () => {
    const tasks = new Tasks(1, 1);
    const connection = new AbortController();
    await tasks.take('a', 'k');
    await tasks.take('b', 'k', connection.signal);
    connection.abort();
    await settle();
    expect(tasks.outcomes.get('b')).toBe('cancelled');
    await tasks.take('c', 'k');
    await tasks.end('a');
    expect(tasks.started).toEqual(['a', 'c']);
  });

  it('do not start a task that is cancelled before, and finish one that is cancelled while it runs', async () => {
    const tasks = new Tasks(1, 1);
    await tasks.take('never', 'k', AbortSignal.abort());
    const connection = new AbortController();
    await tasks.take('a', 'k', connection.signal);
    connection.abort();
    await tasks.end('a');
    expect([...tasks.outcomes]).toEqual([
      ['never', 'cancelled'],
      ['a', 'done'],
    ]);
  });

  it('pass on the place of a task that fails', async () => {
    const tasks = new Tasks(1, 1);
    await tasks.take('a', 'k');
    await tasks.take('b', 'k');
    await tasks.end('a', 'fail');
    expect(tasks.outcomes.get('a')).toBe('failed');
    expect(tasks.started).toEqual(['a', 'b']);
  });
});

type Step = { readonly kind: 'take' | 'end' | 'fail' | 'cancel'; readonly key: number };

const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(
      'take' as const,
      'take' as const,
      'end' as const,
      'fail' as const,
      'cancel' as const,
    ),
    key: fc.nat({ max: 3 }),
  }),
  { maxLength: 60 },
);

/** What the turns should do, written down once more in the plainest way. */
class Model {
  readonly running: string[] = [];
  waiting: { readonly name: string; readonly key: number }[] = [];
  /** Keys by the time of their last turn, the longest ago first. */
  #round: number[] = [];

  readonly #maxRunning: number;
  readonly #maxWaiting: number;

  constructor(maxRunning: number, maxWaiting: number) {
    this.#maxRunning = maxRunning;
    this.#maxWaiting = maxWaiting;
  }

  take(name: string, key: number): void {
    if (this.running.length < this.#maxRunning) this.running.push(name);
    else {
      this.#giveWay(key);
      if (this.waiting.length >= this.#maxWaiting) return;
      this.waiting.push({ name, key });
      if (!this.#round.includes(key)) this.#round.push(key);
    }
  }

  /** The key with the most gives one place to a key that has at least two less. */
  #giveWay(key: number): void {
    const countOf = (one: number) => this.waiting.filter((waiting) => waiting.key === one).length;
    const [longest] = [...this.#round].sort((a, b) => countOf(b) - countOf(a));
    const isFull = this.waiting.length >= this.#maxWaiting;
    if (!isFull || longest === undefined || countOf(longest) < countOf(key) + 2) return;
    this.cancel(this.waiting.filter((waiting) => waiting.key === longest).at(-1)?.name ?? '');
  }

  end(name: string): void {
    this.running.splice(this.running.indexOf(name), 1);
    const key = this.#round.shift();
    const next = this.waiting.find((waiting) => waiting.key === key);
    if (key === undefined || next === undefined) return;
    this.cancel(next.name);
    this.#round = this.#round.filter((other) => other !== key);
    if (this.waiting.some((waiting) => waiting.key === key)) this.#round.push(key);
    this.running.push(next.name);
  }

  cancel(name: string): void {
    this.waiting = this.waiting.filter((waiting) => waiting.name !== name);
    this.#round = this.#round.filter((key) => this.waiting.some((waiting) => waiting.key === key));
  }
}

describe('turns, whatever comes', () => {
  it('run what a plain model runs [AUTH-013, AUTH-014]', async () => {
    const bounds = fc.record({ maxRunning: fc.integer({ min: 1, max: 3 }), maxWaiting: fc.nat({ max: 5 }) });
    await fc.assert(
      fc.asyncProperty(bounds, steps, async ({ maxRunning, maxWaiting }, history) => {
        const tasks = new Tasks(maxRunning, maxWaiting);
        const model = new Model(maxRunning, maxWaiting);
        const connections = new Map<string, AbortController>();
        for (const [index, { kind, key }] of history.entries()) {
          const name = `${index}`;
          const running = model.running[key % Math.max(1, model.running.length)];
          const waiting = model.waiting[key]?.name;
          if (kind === 'take') {
            connections.set(name, new AbortController());
            model.take(name, key);
            await tasks.take(name, `key ${key}`, connections.get(name)?.signal);
          } else if (kind === 'cancel' && waiting !== undefined) {
            model.cancel(waiting);
            connections.get(waiting)?.abort();
            await settle();
          } else if (kind !== 'cancel' && running !== undefined) {
            model.end(running);
            await tasks.end(running, kind === 'end' ? 'done' : 'fail');
          }
          expect([...tasks.running].sort()).toEqual([...model.running].sort());
        }
      }),
      { numRuns: runsOf(100) },
    );
  });
});
