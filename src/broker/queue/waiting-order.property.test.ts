// The orders of sending against a sorted array: whatever returns to its place and leaves from anywhere, the message to be sent next is
// first, and the one accepted first is known. The same for lists that pack.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Priority } from '../../model/priority.ts';
import { collidingId } from '../../testing/colliding-ids.ts';
import { listPacking } from '../../testing/list-packing.ts';
import { anyContent } from '../../testing/test-content.ts';
import type { DeadLetterFacts } from '../interface/message-content.ts';
import { QueuedMessage } from './message.ts';
import { RunPacking } from './run-packing.ts';
import { Unsettled } from './unsettled.ts';
import { Packer } from './waiting-list.ts';
import { PriorityOrder, PublishOrder, type WaitingMessages } from './waiting-order.ts';

/** A move is about the message of that number: it comes in when it is out and leaves when it is in. */
const moves = fc.array(fc.nat(11), { maxLength: 80, size: 'max' });
const priorities = [0, 3, 1, 2] as const;

function message(sequence: number, priority: Priority): QueuedMessage {
  const made = new QueuedMessage('waiting', { id: `m${sequence}`, priority, content: anyContent(1) });
  made.sequence = sequence;
  return made;
}

type Order = {
  readonly newList: () => WaitingMessages;
  readonly compare: (a: QueuedMessage, b: QueuedMessage) => number;
  readonly idOf?: (sequence: number) => string;
};

const counted = (sequence: number): string => `m${sequence}`;

/** After every move the first message must be the first by `compare`, and the oldest the one accepted first. */
function holdsFor({ newList, compare }: Order): void {
  const property = fc.property(moves, (sequence) => {
    const list = newList();
    const messages = Array.from({ length: 12 }, (_, number) =>
      message(number + 1, priorities[number % 4] ?? 0),
    );
    const inside = new Set<QueuedMessage>();
    for (const number of sequence) {
      const moved = messages[number];
      if (moved === undefined) continue;
      if (inside.delete(moved)) list.remove(moved);
      else {
        inside.add(moved);
        list.insert(moved);
      }
      expect(list.first()).toBe([...inside].sort(compare)[0]);
      expect(list.oldest()).toBe([...inside].sort(byAge)[0]);
      expect(list.size).toBe(inside.size);
    }
  });
  fc.assert(property);
}

/** What happens to a long list. `at`: which message it is about, where it is about one. */
const turns = fc.array(
  fc.record({
    kind: fc.constantFrom(
      'publish',
      'publish',
      'publish',
      'deadLetter',
      'take',
      'take',
      'giveBack',
      'remove',
      'look',
    ),
    at: fc.nat({ max: 40 }),
    attempts: fc.nat({ max: 3 }),
  }),
  { maxLength: 120, size: 'max' },
);

/** What is seen of a message: one that was packed is another object. */
function shown(one: QueuedMessage | undefined): unknown {
  if (one === undefined) return undefined;
  const { id, priority, content, deadLetter, state, sequence, acceptedAt } = one;
  const { sentCount, failedAttempts, interruptedCount } = one;
  const attempts = [sentCount, failedAttempts, interruptedCount];
  return { id, priority, content, deadLetter, state, sequence, acceptedAt, attempts };
}

class LongList {
  readonly unsettled = new Unsettled();
  readonly list: WaitingMessages;
  readonly #compare: Order['compare'];
  readonly #idOf: (sequence: number) => string;
  #lastSequence = 0;
  /** Those that wait, as they were inserted. */
  waiting: QueuedMessage[] = [];
  /** Those that were taken out, the oldest of which may come back. */
  taken: QueuedMessage[] = [];

  constructor({ newList, compare, idOf = counted }: Order, fitting: number, maxCount = 3) {
    this.list = newList();
    this.list.packWith(new Packer(new RunPacking({ ...listPacking(fitting), maxCount }), this.unsettled));
    this.#compare = compare;
    this.#idOf = idOf;
  }

  publish(attempts: number, deadLetter?: DeadLetterFacts): void {
    this.#lastSequence += 1;
    const priority = priorities[this.#lastSequence % 4] ?? 0;
    const id = this.#idOf(this.#lastSequence);
    const made = new QueuedMessage('waiting', { id, priority, content: anyContent(1) }, deadLetter);
    made.sequence = this.#lastSequence;
    made.acceptedAt = 10 * this.#lastSequence;
    made.sentCount = attempts + 1;
    made.failedAttempts = attempts;
    made.interruptedCount = attempts % 2;
    if (deadLetter === undefined) this.unsettled.set(id, made);
    this.waiting.push(made);
    this.list.insert(made);
  }

  take(): void {
    const first = this.list.first();
    if (first === undefined) return;
    this.list.remove(first);
    this.waiting = this.waiting.filter(({ sequence }) => sequence !== first.sequence);
    this.taken.push(first);
  }

  giveBack(at: number): void {
    const back = this.taken[at % Math.max(1, this.taken.length)];
    if (back === undefined) return;
    this.taken = this.taken.filter((other) => other !== back);
    this.waiting.push(back);
    this.list.insert(back);
  }

  /** Removes a message that was looked at. */
  remove(at: number): void {
    const found = [...this.list.from(at % Math.max(1, this.list.size))][0];
    if (found === undefined) return;
    this.list.remove(found);
    this.unsettled.delete(found.id);
    this.waiting = this.waiting.filter(({ sequence }) => sequence !== found.sequence);
  }

  check(): void {
    const inOrder = [...this.waiting].sort(this.#compare);
    expect(shown(this.list.first())).toEqual(shown(inOrder[0]));
    expect(shown(this.list.oldest())).toEqual(shown([...this.waiting].sort(byAge)[0]));
    expect(this.list.size).toBe(inOrder.length);
  }

  /** Everything, from any offset on, and by id. */
  checkAll(): void {
    const inOrder = [...this.waiting].sort(this.#compare);
    for (const offset of [0, 3, 5, inOrder.length])
      expect([...this.list.from(offset)].map(shown)).toEqual(inOrder.slice(offset).map(shown));
    const unsettled = [...this.waiting, ...this.taken].filter(({ deadLetter }) => deadLetter === undefined);
    expect(unsettled.filter(({ id }) => !this.unsettled.has(id))).toEqual([]);
    expect(unsettled.map(({ id }) => shown(this.unsettled.get(id)))).toEqual(unsettled.map(shown));
    for (const sequence of [0, this.#lastSequence + 1])
      expect(this.unsettled.has(this.#idOf(sequence))).toBe(false);
  }
}

/** A list that packs does what a sorted array does, whatever is taken, comes back, or is removed from its middle. */
function holdsWhenPacked(order: Order, fitting: number): void {
  const letter: DeadLetterFacts = {
    reason: 'MessageExpired',
    source: 's',
    attempts: 1,
    deadLetteredWallAt: 5,
  };
  const property = fc.property(turns, (played) => {
    const long = new LongList(order, fitting);
    for (const { kind, at, attempts } of played) {
      if (kind === 'publish') long.publish(attempts);
      else if (kind === 'deadLetter') long.publish(attempts, letter);
      else if (kind === 'take') long.take();
      else if (kind === 'giveBack') long.giveBack(at);
      else if (kind === 'remove') long.remove(at);
      else long.checkAll();
      long.check();
    }
    long.checkAll();
  });
  fc.assert(property);
}

function byAge(a: QueuedMessage, b: QueuedMessage): number {
  return a.sequence - b.sequence;
}

const byPublishing: Order = { newList: () => new PublishOrder(), compare: byAge };
const byPriority: Order = {
  newList: () => new PriorityOrder(),
  compare: (a, b) => b.priority - a.priority || byAge(a, b),
};

describe('the waiting messages', () => {
  it('by publishing have the one accepted first in front [DELIVERY-039]', () => holdsFor(byPublishing));

  it('by priority have the highest in front, and know the oldest of all [DELIVERY-031, OVERFLOW-003]', () =>
    holdsFor(byPriority));

  it('keep their order and all that is known of them when they are packed [DELIVERY-039, PUBLISH-005]', () =>
    holdsWhenPacked(byPublishing, 3));

  it('keep them when they do not fit together', () => holdsWhenPacked(byPublishing, 2));

  it('keep them when their ids collide', () => holdsWhenPacked({ ...byPublishing, idOf: collidingId }, 3));

  it('keep them by priority too [DELIVERY-031]', () => holdsWhenPacked(byPriority, 3));
});

describe('a long list', () => {
  it('keeps its first and last messages as they are, and no object of the others', () => {
    const long = new LongList(byPublishing, 3);
    for (let count = 0; count < 30; count += 1) long.publish(0);
    const known = new Set(long.waiting);
    const same = [...long.list.from(0)].filter((one) => known.has(one));
    expect(same.map(({ sequence }) => sequence)).toEqual([1, 2, 3]);
  });

  it('packs nothing behind a dead letter', () => {
    const long = new LongList(byPublishing, 3);
    for (let count = 0; count < 3; count += 1) long.publish(0);
    long.publish(0, { reason: 'MessageExpired', source: 's', attempts: 1, deadLetteredWallAt: 5 });
    for (let count = 0; count < 9; count += 1) long.publish(0);
    const known = new Set(long.waiting);
    expect([...long.list.from(0)].filter((one) => known.has(one))).toHaveLength(13);
  });

  it('packs few messages whose ids have the same hash', () => {
    const long = new LongList({ ...byPublishing, idOf: collidingId }, 500, 500);
    for (let count = 0; count < 600; count += 1) long.publish(0);
    const known = new Set(long.waiting);
    const packed = [...long.list.from(0)].filter((one) => !known.has(one));
    expect(packed.length).toBeGreaterThan(0);
    expect(packed.length).toBeLessThan(40);
    long.checkAll();
  });

  it('does not take out a message that does not wait in it', () => {
    const long = new LongList(byPublishing, 3);
    for (let count = 0; count < 9; count += 1) long.publish(0);
    const packed = long.unsettled.get('m5');
    if (packed === undefined) throw new Error('m5 waits.');
    long.list.remove(packed);
    expect(() => long.list.remove(packed)).toThrow('m5 does not wait here');
    expect(long.list.size).toBe(8);
    expect(Array.from(long.list.from(0), ({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 6, 7, 8, 9]);
  });
});
