// All plans of the retained-memory judge, in a few processes: garbage collections hold a process, and each measures itself.

import type { Plugin } from 'esbuild';
import { bundleWorker } from '../simulation/bundle.ts';
import { type Result, runPool } from '../simulation/pool.ts';
import { PLAN_COUNT } from './plan.ts';

const SEEDS_AT_A_TIME = 3;

export type RunOptions = {
  /** For the bundle; removed by the caller. */
  readonly folder: string;
  readonly name: string;
  readonly plugins?: readonly Plugin[];
  readonly stopsAtFailure: boolean;
  /** Default: all. */
  readonly planCount?: number;
};

export async function runRetainedMemory({
  folder,
  name,
  plugins = [],
  stopsAtFailure,
  planCount = PLAN_COUNT,
}: RunOptions): Promise<Result> {
  const worker = 'src/testing/retained-memory/worker.ts';
  return runPool({
    bundle: await bundleWorker(folder, name, plugins, worker),
    firstSeed: 1,
    scheduleCount: planCount,
    maxMs: Number.POSITIVE_INFINITY,
    stopsAtFailure,
    seedsAtATime: SEEDS_AT_A_TIME,
  });
}
