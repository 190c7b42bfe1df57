// Connections that arrive together.

import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Arrivals } from './arrivals.ts';

/** A turn has time for so many connections. */
function party(perTurn: number) {
  const attached: string[] = [];
  const awaiting: (() => void)[] = [];
  let count = 0;
  const turns = {
    get isSpent() {
      return count >= perTurn;
    },
    await: (resume: () => void) => void awaiting.push(resume),
  };
  const arrivals = new Arrivals(turns, ({ address }) => {
    count += 1;
    attached.push(address);
  });
  const nextTurn = () => {
    count = 0;
    for (const resume of awaiting.splice(0)) resume();
  };
  const arrive = (address: string) => {
    const stream = new PassThrough();
    arrivals.add({ stream, address, releasesWrites: false });
    return stream;
  };
  return { attached, arrive, nextTurn, awaiting };
}

describe('connections that arrive together', () => {
  it('are attached while there is time, and the rest in later turns, in order [CONN-021]', () => {
    const { attached, arrive, nextTurn, awaiting } = party(2);
    for (const address of ['a', 'b', 'c', 'd', 'e']) arrive(address);
    expect(attached).toEqual(['a', 'b']);
    expect(awaiting).toHaveLength(1);
    nextTurn();
    expect(attached).toEqual(['a', 'b', 'c', 'd']);
    nextTurn();
    expect(attached).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(awaiting).toEqual([]);
  });

  it('do not overtake those that wait', () => {
    const { attached, arrive, nextTurn } = party(1);
    for (const address of ['a', 'b', 'c']) arrive(address);
    nextTurn();
    arrive('d');
    for (let turn = 1; turn <= 2; turn += 1) nextTurn();
    expect(attached).toEqual(['a', 'b', 'c', 'd']);
  });

  it('are forgotten when they fail or end before their turn', () => {
    const { attached, arrive, nextTurn } = party(1);
    arrive('a');
    arrive('failed').destroy(new Error('reset'));
    arrive('ended').destroy();
    arrive('d');
    nextTurn();
    expect(attached).toEqual(['a', 'd']);
  });
});
