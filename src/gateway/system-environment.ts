// The environment of a real broker: the machine's clocks, the event loop's timers, random ids.

import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import type { Environment } from '../model/environment.ts';

/** The longest time that a timer of the event loop can wait. */
const MAX_TIMER_MS = 2_147_483_647;

export const systemEnvironment: Environment = {
  clock: { now: () => performance.now(), wallNow: () => Date.now() },
  scheduler: { soon: (task) => void setImmediate(task), after: runAfter },
  freshId: () => randomUUID().replaceAll('-', ''),
};

function runAfter(delayMs: number, task: () => void): () => void {
  const dueAt = performance.now() + delayMs;
  let timer = setTimer(delayMs, look);
  // A timer of the event loop may fire a fraction of a millisecond early and cannot wait for months. This one neither fires early nor has
  // that limit.
  function look(): void {
    const leftMs = dueAt - performance.now();
    if (leftMs <= 0) task();
    else timer = setTimer(leftMs, look);
  }
  return () => clearTimeout(timer);
}

/** A timer that does not keep the process alive. */
function setTimer(delayMs: number, task: () => void): NodeJS.Timeout {
  return setTimeout(task, Math.min(Math.ceil(Math.max(0, delayMs)), MAX_TIMER_MS)).unref();
}
