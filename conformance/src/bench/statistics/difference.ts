// Whether two figures differ by more than noise. A difference counts if the rounds of the two do not overlap, and if it is larger than the
// spread of each and than the usual noise of one machine. With fewer than three rounds on a side there is no result. Pure.
import type { Estimate } from './estimate.ts';

export type Direction = 'more' | 'less';

export type FigureDifference = {
  /** The later median by the earlier one. */
  readonly ratio: number;
  /** The share below which a change is noise. */
  readonly noise: number;
  readonly verdict: 'better' | 'worse' | 'within noise' | 'too few rounds';
};

/** The same program measured twice, interleaved, comes out this far apart on a quiet machine. */
const minNoise = 0.03;
const minRoundCount = 3;

/** `better` says which way is better: more of it, or less. */
export function differenceOf(before: Estimate, after: Estimate, better: Direction): FigureDifference {
  const ratio = before.median === 0 ? 1 : after.median / before.median;
  const noise = Math.max(minNoise, before.spread, after.spread);
  return { ratio, noise, verdict: verdictOf(before, after, { ratio, noise, better }) };
}

function verdictOf(
  before: Estimate,
  after: Estimate,
  { ratio, noise, better }: { readonly ratio: number; readonly noise: number; readonly better: Direction },
): FigureDifference['verdict'] {
  if (Math.min(before.roundCount, after.roundCount) < minRoundCount) return 'too few rounds';
  const overlap = before.low <= after.high && after.low <= before.high;
  const change = Math.max(ratio, 1 / ratio) - 1;
  if (overlap || change <= noise) return 'within noise';
  return ratio > 1 === (better === 'more') ? 'better' : 'worse';
}
