// An error in the command line or in an input file: an unknown flag, an invalid target file, a pattern that matches nothing. The command
// prints only the message, which names the wrong value and the allowed ones, and ends with exit code 2.

export class UsageError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'UsageError';
  }
}

/** The known word that is most similar to a mistyped one; undefined if none is similar. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known.map((candidate) => ({ candidate, distance: editDistance(word, candidate) }));
  const best = ranked.sort((a, b) => a.distance - b.distance)[0];
  return best !== undefined && best.distance <= Math.max(2, word.length / 3) ? best.candidate : undefined;
}

/** Adds a suggestion to the message: `unknown flag --tarqet; did you mean --target?` */
export function didYouMean(message: string, word: string, known: readonly string[]): string {
  const near = nearest(word, known);
  return near === undefined ? message : `${message}; did you mean ${near}?`;
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, left] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, right] of [...b].entries()) {
      const substituted = (row[j] ?? 0) + (left === right ? 0 : 1);
      next.push(Math.min(substituted, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
