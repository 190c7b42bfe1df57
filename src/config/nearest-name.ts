// "Did you mean ..?": finds the known name that is nearest to a mistyped one, for keys, flags and commands. Pure. Implements CONFIG-002
// (messages).

/** The nearest of `names` by edit distance, or undefined when none is near enough (a third of the longer name, at least one edit). */
export function nearestName(mistyped: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let nearestDistance = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const distance = editDistance(mistyped.toLowerCase(), name.toLowerCase());
    const allowed = Math.max(1, Math.floor(Math.max(name.length, mistyped.length) / 3));
    if (distance <= allowed && distance < nearestDistance) {
      nearest = name;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** `; did you mean X?` or the empty text: the end of a message about an unknown name. */
export function didYouMean(mistyped: string, names: Iterable<string>, prefix = ''): string {
  const nearest = nearestName(mistyped, names);
  return nearest === undefined ? '' : `; did you mean ${prefix}${nearest}?`;
}

/** Edits (insert, delete, replace, swap of two neighbours) that turn one name into the other; a swap is the most common typing error. */
function editDistance(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number) => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= left.length; row++) {
    rows.push([row]);
    for (let column = 1; column <= right.length; column++) {
      const replaced = at(row - 1, column - 1) + (left[row - 1] === right[column - 1] ? 0 : 1);
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const swapped = isSwap ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY;
      rows[row]?.push(Math.min(replaced, swapped, at(row - 1, column) + 1, at(row, column - 1) + 1));
    }
  }
  return at(left.length, right.length);
}
