// Keys of the page: which key, or pair of keys, means what. Pure. Keys typed into a field belong to the field.

export type KeyAction = 'search' | 'overview' | 'queues' | 'help' | 'refresh';

/** The second key of a pair must come within this time. */
export const PAIR_MS = 1500;

export type Keystroke = {
  readonly key: string;
  /** Milliseconds on a clock that never goes back. */
  readonly now: number;
  readonly isInField: boolean;
  /** With Ctrl, Alt or Meta: a key of the browser. */
  readonly isModified: boolean;
};

export class KeyReader {
  #pairUntil = 0;

  /** What the key asks for; undefined: nothing. */
  read({ key, now, isInField, isModified }: Keystroke): KeyAction | undefined {
    const isSecond = now < this.#pairUntil;
    this.#pairUntil = 0;
    if (isInField || isModified) return undefined;
    if (key === 'g') {
      this.#pairUntil = now + PAIR_MS;
      return undefined;
    }
    return isSecond ? pairs[key] : singles[key];
  }
}

const singles: Readonly<Record<string, KeyAction>> = { '/': 'search', '?': 'help', r: 'refresh' };
const pairs: Readonly<Record<string, KeyAction>> = { o: 'overview', q: 'queues' };

/** For the help dialog. */
export const keyHelp: readonly (readonly [keys: readonly string[], meaning: string])[] = [
  [['g', 'o'], 'Overview'],
  [['g', 'q'], 'Queues'],
  [['/'], 'Search queues'],
  [['↑', '↓'], 'Move in a list'],
  [['Enter'], 'Open the selected line'],
  [['r'], 'Refresh the messages of a queue'],
  [['Esc'], 'Close a dialog, or leave the search'],
  [['?'], 'This help'],
];

/** The index to move to in a list of `count` items for an arrow key, Home or End; undefined: the key moves nothing. */
export function movedIndex(key: string, index: number, count: number): number | undefined {
  const target = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: count - 1 }[key];
  if (target === undefined || target < 0 || target >= count) return undefined;
  return target;
}
