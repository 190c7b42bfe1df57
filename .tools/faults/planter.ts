// Finds the one place of a fault in the broker's sources and makes the text with the fault in it. Must not write: the sources on disk
// are never touched. A fault that fits nowhere, or in two places, is an error: it would be planted elsewhere than meant.
import type { Fault } from './catalogue.ts';
import { type ProductSource, readProductSources } from './product-source.ts';
import { type Range, WantedTokens } from './token-text.ts';
import { type Token, tokensOf, withoutTrailingCommas, wordsOf } from './tokens.ts';

/** What it takes to plant a fault. */
export type Anchored = Pick<Fault, 'id' | 'find' | 'replace' | 'within'>;

/** One source of the broker with a fault in it. */
export type Planted = {
  /** From the root of the repository: `src/broker/queue.ts`. */
  readonly path: string;
  readonly text: string;
};

/** Fewer tokens in a row stand anywhere. */
const MIN_HINT_TOKENS = 4;

type Place = { readonly source: ProductSource; readonly range: Range };
type Change = Place & { readonly fault: Anchored; readonly replace: string };

export class Planter {
  readonly #read: () => readonly ProductSource[];
  #known: readonly ProductSource[] | undefined;
  #knownByWord: ReadonlyMap<string, readonly ProductSource[]> | undefined;

  /** Sources are read when the first fault is planted, and once. */
  constructor(read: () => readonly ProductSource[]) {
    this.#read = read;
  }

  get #sources(): readonly ProductSource[] {
    this.#known ??= this.#read();
    return this.#known;
  }

  get #byWord(): ReadonlyMap<string, readonly ProductSource[]> {
    this.#knownByWord ??= sourcesByWord(this.#sources);
    return this.#knownByWord;
  }

  /** Throws unless the text to replace stands exactly once and the replacement changes it. */
  plant(fault: Anchored): Planted {
    const { source, range, replace } = this.#changeOf(fault);
    return { path: source.path, text: replaced(source.text, range, replace) };
  }

  /** The code of the declaration in which the fault is planted, without it. Throws as `plant`. */
  codeAround(fault: Anchored): string {
    const { source, range } = this.#changeOf(fault);
    return source.codeAround(range);
  }

  /** Several faults in one broker. Throws as `plant`, and when two of them change the same text. */
  plantTogether(faults: readonly Anchored[]): readonly Planted[] {
    // From the end of each source, so that no change moves the place of another.
    const changes = faults
      .map((fault) => this.#changeOf(fault))
      .sort((a, b) => b.range.start - a.range.start);
    const texts = new Map<string, { text: string; from: Change }>();
    for (const change of changes) {
      const { source, range, fault } = change;
      const { text, from } = texts.get(source.path) ?? { text: source.text, from: undefined };
      if (from !== undefined && range.end > from.range.start)
        throw new Error(`${fault.id} and ${from.fault.id} change the same text: plant one of them.`);
      texts.set(source.path, { text: replaced(text, range, change.replace), from: change });
    }
    return [...texts].map(([path, { text }]) => ({ path, text }));
  }

  #changeOf(fault: Anchored): Change {
    const place = this.#placeOf(fault);
    const replace = fault.replace.trim();
    if (isSame(tokensOf(fault.find), tokensOf(replace)))
      throw new Error(`${fault.id}: the replacement changes nothing.`);
    return { ...place, fault, replace };
  }

  #placeOf(fault: Anchored): Place {
    const wanted = withoutTrailingCommas(tokensOf(fault.find));
    if (fault.within !== undefined && this.#scopes(fault.within).length === 0) {
      throw new Error(`${fault.id}: there is no declaration ${fault.within} in src/. Correct its "within".`);
    }
    const places = this.#places(wanted, fault.within);
    const [first] = places;
    if (first === undefined) throw new Error(`${fault.id}: ${this.#absence(wanted, fault)}`);
    if (places.length > 1) throw new Error(`${fault.id}: ${ambiguity(places)}`);
    return first;
  }

  #places(tokens: readonly Token[], within: string | undefined): readonly Place[] {
    const wanted = new WantedTokens(tokens);
    if (within === undefined) {
      const sources = this.#thatMayHold(tokens.map(({ text }) => text).join(' '));
      return sources.flatMap((source) => source.find(wanted).map((range) => ({ source, range })));
    }
    return this.#scopes(within).flatMap(({ source, range: scope }) =>
      source
        .find(wanted)
        .filter(({ start, end }) => scope.start <= start && end <= scope.end)
        .map((range) => ({ source, range })),
    );
  }

  #scopes(name: string): readonly Place[] {
    const sources = this.#thatMayHold(name);
    return sources.flatMap((source) => source.declarations(name).map((range) => ({ source, range })));
  }

  /** The sources with the rarest word of the code: to parse and search all of them for each fault takes most of the time. */
  #thatMayHold(code: string): readonly ProductSource[] {
    const holders = wordsOf(code).map((word) => this.#byWord.get(word) ?? []);
    return holders.reduce((fewest, some) => (some.length < fewest.length ? some : fewest), this.#sources);
  }

  /** With the place where most of the beginning stands, which is where the code was probably changed. */
  #absence(wanted: readonly Token[], { within }: Anchored): string {
    const where = within === undefined ? 'src/' : `${within} in src/`;
    const advice = 'Adapt "find" to the code, or remove the fault if the code can no longer have it.';
    for (let count = wanted.length - 1; count >= MIN_HINT_TOKENS; count -= 1) {
      const [nearest] = this.#places(wanted.slice(0, count), within);
      if (nearest === undefined) continue;
      const [last, next] = [wanted[count - 1]?.text, wanted[count]?.text];
      return `its text stands 0 times in ${where}; at ${textOf(nearest)} it fits up to "${last}", before "${next}". ${advice}`;
    }
    return `its text stands 0 times in ${where}. ${advice}`;
  }
}

export function openPlanter(root: string): Planter {
  return new Planter(() => readProductSources(root));
}

function sourcesByWord(sources: readonly ProductSource[]): ReadonlyMap<string, readonly ProductSource[]> {
  const byWord = new Map<string, ProductSource[]>();
  for (const source of sources) {
    for (const word of new Set(wordsOf(source.text))) {
      const holders = byWord.get(word);
      if (holders === undefined) byWord.set(word, [source]);
      else holders.push(source);
    }
  }
  return byWord;
}

function replaced(text: string, { start, end }: Range, by: string): string {
  return text.slice(0, start) + by + text.slice(end);
}

function ambiguity(places: readonly Place[]): string {
  const list = places.map(textOf).join(', ');
  return `its text stands ${places.length} times: ${list}. Make "find" longer, or name the declaration in "within".`;
}

function textOf({ source, range }: Place): string {
  return `${source.path}:${source.lineAt(range.start)}`;
}

function isSame(a: readonly Token[], b: readonly Token[]): boolean {
  return a.length === b.length && a.every(({ text }, index) => text === b[index]?.text);
}
