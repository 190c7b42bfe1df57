// Draws pairs of planted faults whose checks have different areas, each pair at most once. Pure: the same random numbers give the same pairs.
import type { Random } from '../src/random.ts';
import type { Mutant } from './mutants.ts';

export type Drawn = Pick<Mutant, 'id' | 'mustFail'>;

/** So many draws in a row that give nothing new end the drawing. */
const MAX_FUTILE_DRAWS = 10_000;

/** Ends when no further pair is found. */
export function* drawPairs<Fault extends Drawn>(
  faults: readonly Fault[],
  random: Pick<Random, 'integer'>,
): Generator<readonly [Fault, Fault]> {
  const known = new Set<string>();
  for (let futile = 0; futile < MAX_FUTILE_DRAWS; futile += 1) {
    const first = faults[random.integer(0, faults.length - 1)];
    const second = faults[random.integer(0, faults.length - 1)];
    if (first === undefined || second === undefined) return;
    const name = [first.id, second.id].sort().join(' ');
    if (known.has(name) || haveCommonArea(first, second)) continue;
    known.add(name);
    futile = 0;
    yield [first, second];
  }
}

function haveCommonArea(first: Drawn, second: Drawn): boolean {
  const areas = new Set(first.mustFail.map(areaOf));
  return second.mustFail.some((id) => areas.has(areaOf(id)));
}

function areaOf(checkId: string): string {
  return checkId.slice(0, checkId.indexOf('-'));
}
