// Keys of the page.

import { describe, expect, it } from 'vitest';
import { KeyReader, movedIndex, PAIR_MS } from './keys.ts';

const stroke = (key: string, now = 0) => ({ key, now, isInField: false, isModified: false });

describe('a key', () => {
  it.each([
    ['/', 'search'],
    ['?', 'help'],
    ['r', 'refresh'],
    ['x', undefined],
    ['o', undefined],
  ])('%s means %s', (key, action) => {
    expect(new KeyReader().read(stroke(key))).toBe(action);
  });

  it('belongs to the field it is typed into, or to the browser', () => {
    expect(new KeyReader().read({ ...stroke('/'), isInField: true })).toBeUndefined();
    expect(new KeyReader().read({ ...stroke('r'), isModified: true })).toBeUndefined();
  });
});

describe('a pair of keys', () => {
  it.each([
    ['o', 'overview'],
    ['q', 'queues'],
    ['/', undefined],
  ])('g %s means %s', (key, action) => {
    const reader = new KeyReader();
    expect(reader.read(stroke('g'))).toBeUndefined();
    expect(reader.read(stroke(key, PAIR_MS - 1))).toBe(action);
  });

  it('is none when the second key comes late, or another one before it', () => {
    const reader = new KeyReader();
    reader.read(stroke('g'));
    expect(reader.read(stroke('o', PAIR_MS))).toBeUndefined();
    reader.read(stroke('g', 5000));
    reader.read(stroke('x', 5001));
    expect(reader.read(stroke('q', 5002))).toBeUndefined();
  });
});

describe('an arrow key in a list', () => {
  it.each([
    ['ArrowDown', 0, 1],
    ['ArrowUp', 2, 1],
    ['Home', 2, 0],
    ['End', 0, 2],
    ['ArrowUp', 0, undefined],
    ['ArrowDown', 2, undefined],
    ['a', 1, undefined],
  ])('%s at %d moves to %s', (key, index, target) => {
    expect(movedIndex(key, index, 3)).toBe(target);
  });

  it('moves nothing in an empty list', () => {
    expect(movedIndex('Home', 0, 0)).toBeUndefined();
    expect(movedIndex('End', 0, 0)).toBeUndefined();
  });
});
