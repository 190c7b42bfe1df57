// Runs schedules on all cores: several processes, each given some seeds at a time, until there are enough, the time is up, or one has
// failed (if requested). The result does not depend on which process runs a seed.

import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import type { Verdict } from './schedule.ts';
import { addCounts, type Counts } from './tally.ts';
import type { Delivered, Order } from './worker.ts';

export type PoolOptions = {
  readonly bundle: string;
  readonly firstSeed: number;
  readonly scheduleCount: number;
  /** No new seeds are started after this time, in milliseconds from the start. */
  readonly maxMs: number;
  readonly stopsAtFailure: boolean;
  /** Default: one per core. */
  readonly processCount?: number;
  /** Seeds that a process is given at a time. Default 20. */
  readonly seedsAtATime?: number;
};

export type Result = {
  readonly scheduleCount: number;
  readonly inputCounts: readonly number[];
  readonly counts: Counts;
  /** By seed, smallest first. */
  readonly failures: readonly Verdict[];
  readonly seconds: number;
};

const SEEDS_AT_A_TIME = 20;

/** An order of seeds that takes longer hangs, even at a low priority on a busy machine. */
const MAX_ORDER_MS = 300_000;

/** Rejects when a process ends by itself or hangs, because that is no verdict on a seed. */
export async function runPool(options: PoolOptions): Promise<Result> {
  const startedAt = performance.now();
  const inputCounts: number[] = [];
  const counts: Counts = {};
  const failures: Verdict[] = [];
  let given = 0;
  const next = (): Order | undefined => {
    const isOver = performance.now() - startedAt > options.maxMs;
    if (isOver || given >= options.scheduleCount || (options.stopsAtFailure && failures.length > 0))
      return undefined;
    const order = {
      firstSeed: options.firstSeed + given,
      count: Math.min(options.seedsAtATime ?? SEEDS_AT_A_TIME, options.scheduleCount - given),
      stopsAtFailure: options.stopsAtFailure,
    };
    given += order.count;
    return order;
  };
  const take = (delivered: Delivered): void => {
    for (const count of delivered.inputCounts) inputCounts.push(count);
    addCounts(counts, delivered.counts);
    failures.push(...delivered.failures);
  };
  const processCount = options.processCount ?? availableParallelism();
  await Promise.all(Array.from({ length: processCount }, () => employ(options.bundle, next, take)));
  failures.sort((a, b) => a.seed - b.seed);
  const seconds = (performance.now() - startedAt) / 1000;
  return { scheduleCount: inputCounts.length, inputCounts, counts, failures, seconds };
}

/** Gives orders to one process until there are none left. */
function employ(
  bundle: string,
  next: () => Order | undefined,
  take: (delivered: Delivered) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child: ChildProcess = fork(bundle, [], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    let isDone = false;
    let order: Order | undefined;
    let cancel: NodeJS.Timeout | undefined;
    const giveNext = (): void => {
      clearTimeout(cancel);
      order = next();
      if (order !== undefined) {
        child.send(order);
        cancel = setTimeout(() => child.kill('SIGKILL'), MAX_ORDER_MS);
        return;
      }
      isDone = true;
      child.disconnect();
    };
    child.on('message', (delivered: Delivered) => {
      take(delivered);
      giveNext();
    });
    child.on('error', reject);
    child.on('exit', (code) => {
      if (isDone) resolve();
      else {
        clearTimeout(cancel);
        const how = code === null ? 'came to no end' : `ended by itself with ${code}`;
        reject(
          new Error(
            `A process of the simulation ${how} in the ${order?.count} seeds from ${order?.firstSeed} on.`,
          ),
        );
      }
    });
    giveNext();
  });
}
