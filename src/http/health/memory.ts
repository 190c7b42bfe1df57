// The memory rule of health: how much of its memory the broker uses, and from which share on it is unhealthy. The sampler is
// injected, so that tests set the memory instead of using it up. Implements HEALTH-004, HEALTH-005, HEALTH-009.

import { memoryUsage } from 'node:process';
import { getHeapStatistics } from 'node:v8';

/** From this share of memory on the broker is unhealthy. */
const UNHEALTHY_SHARE = 0.9;

export type MemorySample = {
  /** Memory of the process that is in RAM. */
  readonly residentBytes: number;
  /** The configured limit, else the container's, else the machine's. */
  readonly residentLimitBytes: number;
  readonly heapUsedBytes: number;
  /** What the heap of the process may hold. */
  readonly heapLimitBytes: number;
};

export type MemorySampler = () => MemorySample;

/** Samples this process against its limits. */
export function processMemorySampler(residentLimitBytes: number, heapLimitBytes: number): MemorySampler {
  return () => ({
    residentBytes: memoryUsage.rss(),
    residentLimitBytes,
    heapUsedBytes: getHeapStatistics().used_heap_size,
    heapLimitBytes,
  });
}

/** The larger of two shares: resident memory and heap. The heap can be full long before the machine's memory is. */
export function memoryShare(sample: MemorySample): number {
  return Math.max(
    sample.residentBytes / sample.residentLimitBytes,
    sample.heapUsedBytes / sample.heapLimitBytes,
  );
}

export function isMemoryHealthy(sample: MemorySample): boolean {
  return memoryShare(sample) < UNHEALTHY_SHARE;
}
