// Delta debugging: removes parts of an input as long as what is left still fails, first whole items, then smaller and smaller runs of them.

/** How often an input is tried, at most: the result is then the smallest so far. */
const DEFAULT_MAX_TRIES = 400;

/** The shortest found list that still fails. `items` must fail. */
export async function minimize<Item>(
  items: readonly Item[],
  fails: (items: readonly Item[]) => Promise<boolean>,
  maxTries = DEFAULT_MAX_TRIES,
): Promise<readonly Item[]> {
  let smallest = items;
  let tries = 0;
  let size = Math.ceil(smallest.length / 2);
  while (size >= 1) {
    let hasShrunk = false;
    for (let at = 0; at < smallest.length && smallest.length > 1; ) {
      if (tries >= maxTries) return smallest;
      tries += 1;
      const rest = [...smallest.slice(0, at), ...smallest.slice(at + size)];
      if (rest.length > 0 && (await fails(rest))) {
        smallest = rest;
        hasShrunk = true;
      } else at += size;
    }
    if (size === 1 && !hasShrunk) return smallest;
    size = size === 1 ? 1 : Math.ceil(size / 2);
  }
  return smallest;
}
