// Addresses of the page: what is written is read again, and what means nothing is a default.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatPlace, overviewPlace, type Place, parsePlace, queuesPlace, sortKeys } from './url-state.ts';

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('a b', '&=?#%+', 'orders.dlq'),
);
const name = text.filter((one) => one !== '');
const places: fc.Arbitrary<Place> = fc.oneof(
  fc.constant(overviewPlace),
  fc.record({
    view: fc.constant('queues' as const),
    sort: fc.constantFrom(...sortKeys),
    order: fc.constantFrom('asc' as const, 'desc' as const),
    search: text,
  }),
  fc.record(
    {
      view: fc.constant('queue' as const),
      queue: name,
      offset: fc.integer({ min: 0, max: 50_000_000 }),
      message: name,
    },
    { requiredKeys: ['view', 'queue', 'offset'] },
  ),
  fc.record({
    view: fc.constant('queue' as const),
    queue: name,
    offset: fc.integer({ min: 0, max: 50_000_000 }),
    message: name,
    source: name,
  }),
);

/** As the browser takes a link apart. */
const searchOf = (address: string): string => new URL(address, 'http://127.0.0.1/prefix/?view=queues').search;

describe('the address of a place', () => {
  it('is read as that place', () => {
    const property = fc.property(places, (place) => {
      expect(parsePlace(searchOf(formatPlace(place)))).toEqual(place);
    });
    fc.assert(property);
  });

  it('stays below the prefix of the page', () => {
    const property = fc.property(places, (place) => {
      expect(new URL(formatPlace(place), 'http://127.0.0.1/prefix/').pathname).toBe('/prefix/');
    });
    fc.assert(property);
  });

  it('is short', () => {
    expect(formatPlace(overviewPlace)).toBe('./');
    expect(formatPlace(queuesPlace)).toBe('?view=queues');
    expect(formatPlace({ view: 'queues', sort: 'name', order: 'asc', search: '' })).toBe(
      '?view=queues&sort=name',
    );
    expect(formatPlace({ view: 'queue', queue: 'orders', offset: 16, message: 'ID' })).toBe(
      '?queue=orders&offset=16&message=ID',
    );
  });
});

describe('an address that means nothing', () => {
  it.each(['', '?', '?view=', '?view=charts', '?queue=', '?x=1'])('%j is the overview', (search) => {
    expect(parsePlace(search)).toEqual(overviewPlace);
  });

  it('has the defaults', () => {
    expect(parsePlace('?view=queues&sort=colour&order=up')).toEqual(queuesPlace);
    for (const message of ['', '&source=a']) {
      expect(parsePlace(`?queue=a&message=${message}`)).toEqual({ view: 'queue', queue: 'a', offset: 0 });
    }
    expect(parsePlace('?queue=a&message=m&source=')).toEqual({
      view: 'queue',
      queue: 'a',
      offset: 0,
      message: 'm',
    });
    for (const offset of ['0', '-1', '1.5', 'x', '1e9', '']) {
      expect(parsePlace(`?queue=a&offset=${offset}`)).toEqual({ view: 'queue', queue: 'a', offset: 0 });
    }
  });
});
