// Where each entry of the browser's history was scrolled to when it was left, so that Back and Forward find it again. Entries are numbered from the first
// page on; a new entry takes the place of those that were after the present one. Pure.

export type LeftPlace = {
  /** Pixels from the top. */
  readonly y: number;
  /** The same within the list of messages, where that has a height of its own. */
  readonly listY?: number;
  /** The address of the link that had the focus by the keyboard. */
  readonly link?: string;
};

/** Of entries further back the places are forgotten. */
const MAX_ENTRIES = 100;

export class LeftPlaces {
  readonly #places: Map<number, LeftPlace>;

  /** `text`: what {@link toText} made before the page was loaded again; null or something else counts as nothing. */
  constructor(text: string | null) {
    this.#places = new Map(entriesIn(text));
  }

  get(entry: number): LeftPlace | undefined {
    return this.#places.get(entry);
  }

  /** A number that no entry has which was left. */
  newEntry(): number {
    return Math.max(-1, ...this.#places.keys()) + 1;
  }

  leave(entry: number, place: LeftPlace): void {
    this.#places.set(entry, place);
  }

  /** A new entry follows `entry`: the browser has no later ones any more. */
  cutAfter(entry: number): void {
    for (const other of this.#places.keys())
      if (other > entry || other <= entry - MAX_ENTRIES) this.#places.delete(other);
  }

  toText(): string {
    return JSON.stringify([...this.#places]);
  }
}

function entriesIn(text: string | null): [number, LeftPlace][] {
  try {
    const value: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(value) ? value.filter(isEntry) : [];
  } catch {
    return [];
  }
}

function isEntry(value: unknown): value is [number, LeftPlace] {
  if (!Array.isArray(value) || typeof value[0] !== 'number') return false;
  const place: unknown = value[1];
  return (
    typeof place === 'object' &&
    place !== null &&
    'y' in place &&
    typeof place.y === 'number' &&
    (!('listY' in place) || typeof place.listY === 'number')
  );
}
