// Where the entries of the browser's history were left.

import { describe, expect, it } from 'vitest';
import { LeftPlaces } from './left-places.ts';

describe('the places that were left', () => {
  it('are found again, also after the page was loaded again', () => {
    const places = new LeftPlaces(null);
    places.leave(1, { y: 500, link: '?queue=a' });
    places.leave(2, { y: 0 });
    places.leave(1, { y: 700, listY: 90 });
    const again = new LeftPlaces(places.toText());
    for (const one of [places, again])
      expect([one.get(1), one.get(2), one.get(3)]).toEqual([{ y: 700, listY: 90 }, { y: 0 }, undefined]);
  });

  it('end where a new entry begins', () => {
    const places = new LeftPlaces(null);
    for (const entry of [1, 2, 3]) places.leave(entry, { y: entry });
    places.cutAfter(2);
    expect(places.newEntry()).toBe(3);
    expect([1, 2, 3].map((entry) => places.get(entry)?.y)).toEqual([1, 2, undefined]);
  });

  it('are not kept for ever', () => {
    const places = new LeftPlaces(null);
    for (let entry = 0; entry < 1000; entry += 1) {
      places.leave(entry, { y: 1 });
      places.cutAfter(entry);
    }
    expect(JSON.parse(places.toText())).toHaveLength(100);
  });

  it.each([
    '',
    'no JSON',
    '{}',
    '[1]',
    '[[1]]',
    '[[1,null]]',
    '[["1",{"y":2}]]',
    '[[1,{"y":"2"}]]',
    '[[1,{"y":2,"listY":"2"}]]',
  ])('are none in %j', (text) => {
    expect(new LeftPlaces(text).toText()).toBe('[]');
    expect(new LeftPlaces(text).newEntry()).toBe(0);
  });
});
