// How many frames each target gets. Of a hundred frames 90 go to the codec, 6 to a broker in virtual time and 4 to one on sockets: judging a
// frame on a broker takes as long as judging twenty in the codec.

import { type TargetName, targetNames } from './fuzz-target.ts';
import type { FuzzPlan } from './run-fuzz.ts';

const SHARES: Readonly<Record<TargetName, number>> = { codec: 90, gateway: 6, socket: 4 };

export function sharesOf(frameCount: number): FuzzPlan['frameCounts'] {
  return Object.fromEntries(targetNames.map((name) => [name, Math.floor((frameCount * SHARES[name]) / 100)]));
}

/** What `npm test` runs, always the same. */
export const testPlan: FuzzPlan = { firstSeed: 1, frameCounts: sharesOf(50_000), minimizes: true };
