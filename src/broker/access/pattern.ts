// A pattern for queue names: `*` stands for any run of characters, everything else for itself, in any case. Compiled once; a match reads each
// character of a name a bounded number of times, whatever the pattern, because patterns come from users. Implements AUTH-018 and AUTH-019.

/** A text of UTF-16 units that was folded. */
export type FoldedText = { readonly length: number; charCodeAt(index: number): number };

/** A literal part between two `*`, and for each position where a comparison that fails there goes on (Knuth, Morris and Pratt). */
type Part = { readonly text: string; readonly fallback: readonly number[] };

export class Pattern {
  /** What a name begins with, folded. */
  readonly start: string;
  /** What follows in a name, in this order, with anything in between. */
  readonly #middle: readonly Part[];
  /** What a name ends with, folded; undefined: the pattern has no `*`. */
  readonly end: string | undefined;

  constructor(text: string) {
    const [start = '', ...rest] = foldCase(text).split('*');
    this.start = start;
    this.end = rest.pop();
    this.#middle = rest
      .filter((part) => part !== '')
      .map((part) => ({ text: part, fallback: fallbackOf(part) }));
  }

  /** Whether the pattern matches a name that was folded with `foldCase`. */
  matches(name: FoldedText): boolean {
    const start = this.start;
    if (this.end === undefined) return name.length === start.length && hasAt(name, start, 0);
    const endAt = name.length - this.end.length;
    if (endAt < start.length || !hasAt(name, start, 0) || !hasAt(name, this.end, endAt)) return false;
    let at = start.length;
    for (const part of this.#middle) {
      const found = endOfFirst(name, part, at, endAt);
      if (found === undefined) return false;
      at = found;
    }
    return true;
  }
}

const ascii = /^[\0-\x7f]*$/;

/**
 * The text with every letter in one case. Folds letter by letter: as a whole text, a Greek word that ends in sigma would be folded otherwise
 * than the beginning of a longer one. A letter whose other case has more than one letter stays as it is, and so do the two that only
 * Turkish takes for cases of i: two names that differ in more than the case of a letter never become equal.
 */
export function foldCase(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return Array.from(text, foldLetter).join('');
}

const dottedCapitalAndDotlessSmallI = /[\u0130\u0131]/;

function foldLetter(letter: string): string {
  if (dottedCapitalAndDotlessSmallI.test(letter)) return letter;
  const upper = letter.toUpperCase();
  // Through the upper case, because some letters have two small forms.
  const capital = upper.length === letter.length ? upper : letter;
  const lower = capital.toLowerCase();
  return lower.length === letter.length ? lower : capital;
}

function hasAt(name: FoldedText, text: string, at: number): boolean {
  for (let index = 0; index < text.length; index += 1) {
    if (name.charCodeAt(at + index) !== text.charCodeAt(index)) return false;
  }
  return true;
}

/** Where the first occurrence of the part within `from` to `until` ends; the earliest leaves most room for the parts behind it. */
function endOfFirst(
  name: FoldedText,
  { text, fallback }: Part,
  from: number,
  until: number,
): number | undefined {
  let matched = 0;
  for (let at = from; at < until; at += 1) {
    const unit = name.charCodeAt(at);
    while (matched > 0 && text.charCodeAt(matched) !== unit) matched = fallback[matched - 1] ?? 0;
    if (text.charCodeAt(matched) === unit) matched += 1;
    if (matched === text.length) return at + 1;
  }
  return undefined;
}

/** For each beginning of the text, the length of its longest end that the text begins with. */
function fallbackOf(text: string): readonly number[] {
  const fallback = [0];
  let matched = 0;
  for (let at = 1; at < text.length; at += 1) {
    while (matched > 0 && text.charCodeAt(matched) !== text.charCodeAt(at))
      matched = fallback[matched - 1] ?? 0;
    if (text.charCodeAt(matched) === text.charCodeAt(at)) matched += 1;
    fallback.push(matched);
  }
  return fallback;
}
