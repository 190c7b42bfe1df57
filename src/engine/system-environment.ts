// The environment of a broker that runs for real: the machine's clocks, the event loop's timers, random ids.

import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Environment } from './environment.ts';

/** The longest time that a timer of the event loop can wait. */
const LONGEST_TIMER_MS = 2_147_483_647;

export const systemEnvironment: Environment = {
  clock: { now: () => performance.now(), wallNow: () => Date.now() },
  scheduler: {
    soon: (task) => void setImmediate(task),
    after: (delayMs, task) => {
      // A timer of the event loop may fire a fraction of a millisecond early; nothing here may.
      const timer = setTimeout(task, Math.min(Math.ceil(Math.max(0, delayMs)), LONGEST_TIMER_MS));
      timer.unref();
      return () => clearTimeout(timer);
    },
  },
  freshId: () => randomUUID().replaceAll('-', ''),
};
