// Scenarios in this process whose broker's queues are some virtual milliseconds away: inputs travel there, and effects travel back. So a step
// takes time, and timers of the broker are seen to fire late. FEATURES_SEED gives other delays.

import { DelayedBackend } from '../../../src/testing/delayed-backend.ts';
import type { Driver } from './driver.ts';
import { type InProcessProfile, inProcessDriver } from './in-process.ts';

const MIN_DELAY_MS = 1;
const MAX_DELAY_MS = 7;

/** What a step does, such as a handshake and a command, takes a few trips in each direction. */
const TRIPS_OF_A_STEP = 8;

export function delayedDriver(): Driver {
  const seed = Number(process.env['FEATURES_SEED'] ?? 1);
  return inProcessDriver(() => delayedProfile(seed));
}

function delayedProfile(seed: number): InProcessProfile {
  /** Of the broker that runs now. */
  let backend: DelayedBackend | undefined;
  return {
    tolerance: { earlyMs: 0, lateMs: TRIPS_OF_A_STEP * MAX_DELAY_MS },
    between: (remote, environment) => {
      const delays = { seed, minDelayMs: MIN_DELAY_MS, maxDelayMs: MAX_DELAY_MS };
      backend = new DelayedBackend({ environment, remote, ...delays });
      return backend;
    },
    settle: async (environment) => {
      await environment.settle();
      while (backend?.isBusy) await environment.advance(1);
    },
  };
}
