// Keys: what a terminal sends for them, and what they change.

import { describe, expect, it } from 'vitest';
import { type Key, keysOf } from './keys.ts';
import { sortKeys } from './sorting.ts';
import { firstView, type View, viewAfter } from './view.ts';

const ESCAPE = '\u001b';

function viewAfterAll(keys: readonly Key[], start: Partial<View> = {}): View {
  return keys.reduce(
    (view, key) => {
      const next = viewAfter(view, key, 10);
      if (next === undefined) throw new Error(`${key} quits`);
      return next;
    },
    { ...firstView('waiting'), ...start } as View,
  );
}

describe('input', () => {
  it.each([
    ['q', ['q']],
    [`${ESCAPE}[A${ESCAPE}[B${ESCAPE}OA${ESCAPE}OB`, ['up', 'down', 'up', 'down']],
    [`${ESCAPE}[5~${ESCAPE}[6~`, ['page-up', 'page-down']],
    [`${ESCAPE}[H${ESCAPE}[F${ESCAPE}[1~${ESCAPE}[4~`, ['home', 'end', 'home', 'end']],
    ['\u0003', ['ctrl-c']],
    [ESCAPE, ['escape']],
    [`${ESCAPE}${ESCAPE}[A`, ['escape', 'up']],
    ['a\r\u007f\b', ['a', 'enter', 'backspace', 'backspace']],
    ['注😀', ['注', '😀']],
    [`${ESCAPE}[1;5Q${ESCAPE}[200~${ESCAPE}OQ${ESCAPE}q\u0001`, []],
  ])('%j means %j', (chunk, keys) => {
    expect(keysOf(chunk)).toEqual(keys);
  });
});

describe('a view', () => {
  it('is left by q and Ctrl-C', () => {
    expect(viewAfter(firstView('name'), 'q', 10)).toBeUndefined();
    expect(viewAfter(firstView('name'), 'ctrl-c', 10)).toBeUndefined();
  });

  it('is sorted by the next column with s, around in a circle', () => {
    expect(
      sortKeys.map((_, index) => viewAfterAll(Array(index + 1).fill('s'), { sortKey: 'name' }).sortKey),
    ).toEqual([...sortKeys.slice(1), 'name']);
  });

  it('is sorted by the column of a letter, from the top and not reversed', () => {
    const start = { isReversed: true, offset: 7 };
    const sorted = [...'nwfioa'].map((letter) => viewAfterAll([letter], start));
    expect(sorted.map(({ sortKey }) => sortKey)).toEqual(sortKeys);
    for (const view of sorted) expect(view).toMatchObject({ isReversed: false, offset: 0 });
  });

  it('is reversed and put back by r', () => {
    expect(viewAfterAll(['r'])).toMatchObject({ isReversed: true });
    expect(viewAfterAll(['r', 'r'])).toMatchObject({ isReversed: false });
  });

  it.each([
    [['down', 'down', 'up'], 1],
    [['up'], 0],
    [['page-down', 'page-down', 'page-up', 'down'], 11],
    [['page-up'], 0],
    [['page-down', 'home'], 0],
  ])('scrolls by %j to row %i', (keys, offset) => {
    expect(viewAfterAll(keys).offset).toBe(offset);
  });

  it('finds queues by what is typed after /, in which letters are no commands', () => {
    expect(viewAfterAll(['/', 'q', 's', 'x', 'backspace', 'up'])).toMatchObject({
      filter: 'qs',
      isTyping: true,
    });
    const done = viewAfterAll(['/', 'q', 'enter', 'r']);
    expect(done).toMatchObject({ filter: 'q', isTyping: false, isReversed: true });
    expect(viewAfterAll(['/', 'q', 'escape'])).toMatchObject({ filter: '', isTyping: false });
    expect(viewAfterAll(['/', 'q', 'enter', 'escape'])).toMatchObject({ filter: '' });
    expect(viewAfter(viewAfterAll(['/']), 'ctrl-c', 10)).toBeUndefined();
  });

  it('ignores other keys', () => {
    expect(viewAfterAll(['x', 'enter', 'backspace'])).toEqual(firstView('waiting'));
  });
});
