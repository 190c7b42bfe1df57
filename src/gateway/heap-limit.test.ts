// The limit of the heap with the young generation of each version of Node.js.

import { once } from 'node:events';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { heapLimitBytes, heapLimitOf } from './heap-limit.ts';

const MIB = 1024 * 1024;

/** The limit in MiB, where V8 says so many. */
function limitMib(heapSizeLimitMib: number, nodeVersion: string, options?: string): number {
  const given = options === undefined ? {} : { options };
  return heapLimitOf({ heapSizeLimitBytes: heapSizeLimitMib * MIB, nodeVersion, ...given }) / MIB;
}

describe('the limit of the heap', () => {
  it('of 128 MiB for the old generation is the same with each version of Node.js [LIMIT-029]', () => {
    const said = {
      '20.20.2': 176,
      '22.23.3': 176,
      '24.21.0': 320,
      '25.9.0': 320,
      '26.12.1': 224,
      '30.0.0': 224,
    };
    const limits = Object.entries(said).map(([version, mib]) => limitMib(mib, version));
    expect(limits).toEqual([176, 176, 176, 176, 176, 176]);
  });

  it('contains no more of the young generation than its size was set to', () => {
    expect(limitMib(152, '24.21.0', '--max-semi-space-size=8')).toBe(152);
    expect(limitMib(224, '20.20.2', '--expose-gc --max_semi_space_size 32')).toBe(176);
    expect(limitMib(176, '26.12.1', '--max-semi-space-size=16 --max-old-space-size=128')).toBe(176);
  });

  it('of this process is what V8 says without that part of the young generation', async () => {
    const worker = new Worker('setInterval(() => undefined, 1000)', { eval: true });
    await once(worker, 'online');
    // A worker has the defaults.
    const youngMib = Number(worker.resourceLimits?.maxYoungGenerationSizeMb);
    await worker.terminate();
    expect(heapLimitBytes).toBe(getHeapStatistics().heap_size_limit - (youngMib - 48) * MIB);
  });
});
