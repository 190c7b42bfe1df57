// How many frames each target gets. Of a hundred frames 90 go to the codec, 6 to a broker in virtual time and 4 to one on sockets: judging a
// frame on a broker takes as long as judging twenty in the codec.

import { type TargetName, targetNames } from './fuzz-target.ts';
import type { FuzzPlan } from './run-fuzz.ts';

const SHARES: Readonly<Record<TargetName, number>> = { codec: 90, gateway: 6, socket: 4 };

/** Each target gets a frame at least: one that has judged nothing must not be counted as passed. */
export function sharesOf(frameCount: number): FuzzPlan['frameCounts'] {
  const shareOf = (name: TargetName): number => Math.max(1, Math.floor((frameCount * SHARES[name]) / 100));
  return Object.fromEntries(targetNames.map((name) => [name, shareOf(name)]));
}

/** What `npm test` runs, always the same. */
export const testPlan: FuzzPlan = { firstSeed: 1, frameCounts: sharesOf(50_000), minimizes: true };
