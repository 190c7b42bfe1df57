// What the user has chosen to see: the order, the first row, the filter by name. Pure: a key and a view make the next view.

import type { Key } from './keys.ts';
import { type Order, type SortKey, sortKeys } from './sorting.ts';

export type View = Order & {
  /** The row at the top, from 0. May be beyond the last one: the frame corrects it. */
  readonly offset: number;
  /** Only queues whose name contains it are shown, in upper or lower case; empty: all. */
  readonly filter: string;
  /** The filter is being typed: letters are its text. */
  readonly isTyping: boolean;
};

export function firstView(sortKey: SortKey): View {
  return { sortKey, isReversed: false, offset: 0, filter: '', isTyping: false };
}

/** The view after a key, of which `pageRows` rows fit on the screen; undefined: the user quits. */
export function viewAfter(view: View, key: Key, pageRows: number): View | undefined {
  if (key === 'ctrl-c') return undefined;
  if (view.isTyping) return afterTyping(view, key);
  if (key === 'q' || key === 'Q') return undefined;
  const sortKey = sortKeysByLetter.get(key);
  if (sortKey !== undefined) return { ...view, sortKey, isReversed: false, offset: 0 };
  const offset = offsetAfter(view.offset, key, pageRows);
  if (offset !== undefined) return { ...view, offset };
  if (key === 's') return { ...view, sortKey: nextSortKey(view.sortKey), isReversed: false, offset: 0 };
  if (key === 'r') return { ...view, isReversed: !view.isReversed, offset: 0 };
  if (key === '/') return { ...view, isTyping: true, filter: '', offset: 0 };
  return key === 'escape' ? { ...view, filter: '', offset: 0 } : view;
}

const sortKeysByLetter: ReadonlyMap<string, SortKey> = new Map([
  ['n', 'name'],
  ['w', 'waiting'],
  ['f', 'inflight'],
  ['i', 'in'],
  ['o', 'out'],
  ['a', 'oldest'],
]);

function nextSortKey(sortKey: SortKey): SortKey {
  return sortKeys[(sortKeys.indexOf(sortKey) + 1) % sortKeys.length] ?? sortKey;
}

function afterTyping(view: View, key: Key): View {
  const { filter } = view;
  if (key === 'enter') return { ...view, isTyping: false };
  if (key === 'escape') return { ...view, isTyping: false, filter: '' };
  if (key === 'backspace') return { ...view, filter: [...filter].slice(0, -1).join(''), offset: 0 };
  return [...key].length === 1 ? { ...view, filter: `${filter}${key}`, offset: 0 } : view;
}

function offsetAfter(offset: number, key: Key, pageRows: number): number | undefined {
  const page = Math.max(1, pageRows);
  switch (key) {
    case 'up':
      return Math.max(0, offset - 1);
    case 'down':
      return offset + 1;
    case 'page-up':
      return Math.max(0, offset - page);
    case 'page-down':
      return offset + page;
    case 'home':
      return 0;
    case 'end':
      return Number.MAX_SAFE_INTEGER - 1;
    default:
      return undefined;
  }
}
