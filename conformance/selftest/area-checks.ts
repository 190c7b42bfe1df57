// Which checks are tried on a planted fault: those of the areas that it names. Pure.
import type { Check } from '../src/check.ts';

/** The checks that must fail, and the others of their areas but for those that are not tried on every fault. */
export function checksOn(
  { mustFail }: { readonly mustFail: readonly string[] },
  checks: readonly Check[],
): readonly string[] {
  const areas = new Set(mustFail.map(areaOf));
  return checks
    .filter((check) => mustFail.includes(check.id) || (areas.has(areaOf(check.id)) && isForAll(check)))
    .map(({ id }) => id);
}

/**
 * Not for all: those that play random scenarios, which nearly any fault makes fail, and those that start brokers again: too many at a time keep
 * each other from answering, and each costs what ten others do.
 */
function isForAll({ broad, isolation }: Check): boolean {
  return broad !== true && isolation !== 'restart';
}

function areaOf(id: string): string {
  return id.slice(0, id.indexOf('-'));
}
