// The facts of this machine on which defaults of the configuration depend. Reads no files of the broker.

import { availableParallelism, totalmem } from 'node:os';
import { getHeapStatistics } from 'node:v8';
import type { Machine } from '../config/configuration.ts';

/** `isTerminal`: whether stderr is a terminal. */
export function thisMachine(isTerminal: boolean): Machine {
  const memoryBytes = smallerLimit(process.constrainedMemory(), totalmem());
  const heapLimitBytes = getHeapStatistics().heap_size_limit;
  return { memoryBytes, heapLimitBytes, isTerminal, coreCount: availableParallelism() };
}

/** The container's memory limit; undefined if there is none: the runtime then reports nothing, 0, or more than the machine has. */
export function smallerLimit(containerBytes: number | undefined, machineBytes: number): number {
  const isLimited = containerBytes !== undefined && containerBytes > 0 && containerBytes < machineBytes;
  return isLimited ? containerBytes : machineBytes;
}
