// Reproducible random numbers (the 32-bit generator "mulberry32"). Each check has its own stream, which depends on the seed of the run and
// the id of the check, so that it gets the same numbers whether it runs alone or with other checks.

/** Seeds of runs go from 0 to this one. */
export const maxSeed = 2 ** 31 - 1;

export type Random = {
  /** A number from 0 to 1, 1 excluded. */
  fraction(): number;
  /** A whole number from `low` to `high`, both included. */
  integer(low: number, high: number): number;
  bytes(count: number): Buffer;
};

/** The stream of `seed` and `name`. Equal arguments give equal streams. */
export function randomFor(seed: number, name: string): Random {
  let state = hash(`${seed}:${name}`);
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  const integer = (low: number, high: number): number => low + Math.floor(fraction() * (high - low + 1));
  const bytes = (count: number): Buffer => Buffer.from(Array.from({ length: count }, () => integer(0, 255)));
  return { fraction, integer, bytes };
}

/** FNV-1a, 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (const byte of Buffer.from(text)) value = Math.imul(value ^ byte, 0x01000193);
  return value | 0;
}
