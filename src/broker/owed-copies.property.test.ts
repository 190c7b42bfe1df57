// The positions of the members against one plain list per member, whatever is begun, sent, taken out and ended.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyContent } from '../testing/test-content.ts';
import { FanOut } from './delivery/fan-out.ts';
import { QueuedMessage } from './message.ts';
import { type CopyOwner, OwedCopies } from './owed-copies.ts';

const MEMBERS = 4;

type Move =
  | { readonly begin: readonly boolean[] }
  | { readonly remove: number }
  | { readonly advance: number }
  | { readonly end: number };

const begin = fc.record({
  begin: fc.array(fc.boolean(), { minLength: MEMBERS, maxLength: MEMBERS }),
});
const moves = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: begin },
    { weight: 3, arbitrary: fc.record({ remove: fc.nat(1000) }) },
    { weight: 3, arbitrary: fc.record({ advance: fc.nat(MEMBERS - 1) }) },
    { weight: 1, arbitrary: fc.record({ end: fc.nat(MEMBERS - 1) }) },
  ),
  { maxLength: 80, size: 'max' },
);

type Member = CopyOwner & { active: boolean; model: FanOut[] };

class Play {
  readonly #owed = new OwedCopies();
  readonly #members: readonly Member[] = Array.from({ length: MEMBERS }, () => ({
    copyCursor: undefined,
    lastOwedOrder: Number.POSITIVE_INFINITY,
    active: true,
    model: [],
  }));
  #listed: FanOut[] = [];

  move(move: Move): void {
    if ('begin' in move) this.#begin(move.begin);
    else if ('remove' in move) this.#remove(this.#listed[move.remove % Math.max(1, this.#listed.length)]);
    else if ('advance' in move) this.#advance(move.advance);
    else this.#end(move.end);
    for (const member of this.#members) expect(this.#owed.first(member)).toBe(member.model[0]);
  }

  /** A member that is owed a copy already is owed this one too; the others as `wanted` says. */
  #begin(wanted: readonly boolean[]): void {
    const content = anyContent(1);
    const fanOut = new FanOut(new QueuedMessage('waiting', { id: 'm', priority: 1, content }));
    const owners = this.#members.filter(
      ({ active, model }, at) => active && (model.length > 0 || wanted[at]),
    );
    if (owners.length === 0) return;
    for (const member of owners) {
      this.#owed.owe(member, fanOut);
      member.model.push(fanOut);
    }
    this.#owed.append(fanOut);
    this.#listed.push(fanOut);
  }

  #remove(fanOut: FanOut | undefined): void {
    if (fanOut === undefined) return;
    this.#owed.remove(fanOut);
    this.#listed = this.#listed.filter((one) => one !== fanOut);
    for (const member of this.#members) member.model = member.model.filter((one) => one !== fanOut);
  }

  #advance(at: number): void {
    const member = this.#members[at];
    if (member === undefined) return;
    this.#owed.advance(member);
    member.model.shift();
  }

  #end(at: number): void {
    const member = this.#members[at];
    if (member === undefined) return;
    this.#owed.end(member);
    member.active = false;
  }
}

describe('the copies owed to the members of a queue', () => {
  it('are those of each member, in the order in which they were begun', () => {
    fc.assert(
      fc.property(moves, (sequence) => {
        const play = new Play();
        for (const move of sequence) play.move(move);
      }),
    );
  });
});
