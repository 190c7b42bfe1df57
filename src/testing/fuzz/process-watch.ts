// Watches the process in which a target runs: what it retains after garbage collections, its open handles and the delay of its event loop.
// Memory and handles at the end are judged against the beginning; the delay is a figure. Needs Linux, for the processor time of a thread.

import { readFileSync } from 'node:fs';
import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { collectGarbage, retainedBytes } from '../retained-memory/garbage.ts';

/** Compiled code, inline caches and tables that grow with use. Measured without a leak: below 2 MiB. */
const MAX_RETAINED_GROWTH_BYTES = 4 * 1024 * 1024;
/** The heap takes more than it needs and gives it back late. Measured without a leak: below 60 MiB. */
const MAX_RESIDENT_GROWTH_BYTES = 128 * 1024 * 1024;
/** How often the end is looked at again: handles are closed in later turns of the event loop. */
const MAX_LOOKS = 200;

/** At the end against the beginning. */
export type WatchFigures = {
  readonly retainedGrowthBytes: number;
  readonly residentGrowthBytes: number;
  readonly maxLoopDelayMs: number;
  /** Handles that were not open at the beginning. */
  readonly leftHandles: readonly string[];
};

export class ProcessWatch {
  readonly #retainedBytes: number;
  readonly #residentBytes: number;
  readonly #handles: readonly string[];
  readonly #delay: IntervalHistogram;

  private constructor(retained: number) {
    this.#retainedBytes = retained;
    this.#residentBytes = process.memoryUsage.rss();
    this.#handles = process.getActiveResourcesInfo();
    this.#delay = monitorEventLoopDelay({ resolution: 5 });
    this.#delay.enable();
  }

  /** Takes the present state as the beginning. */
  static async begun(): Promise<ProcessWatch> {
    return new ProcessWatch(await retainedBytes());
  }

  async end(): Promise<WatchFigures> {
    this.#delay.disable();
    for (let look = 0; look < MAX_LOOKS && this.#leftHandles().length > 0; look += 1) await collectGarbage();
    return {
      retainedGrowthBytes: (await retainedBytes()) - this.#retainedBytes,
      residentGrowthBytes: process.memoryUsage.rss() - this.#residentBytes,
      maxLoopDelayMs: this.#delay.max / 1e6,
      leftHandles: this.#leftHandles(),
    };
  }

  #leftHandles(): readonly string[] {
    const before = [...this.#handles];
    return process.getActiveResourcesInfo().filter((name) => {
      const at = before.indexOf(name);
      if (at >= 0) before.splice(at, 1);
      return at < 0;
    });
  }
}

/** What is wrong with the end of a watch. */
export function watchComplaints({
  retainedGrowthBytes,
  residentGrowthBytes,
  leftHandles,
}: WatchFigures): readonly string[] {
  return [
    ...(retainedGrowthBytes > MAX_RETAINED_GROWTH_BYTES
      ? [
          `${retainedGrowthBytes} bytes are retained that were not at the beginning, over ${MAX_RETAINED_GROWTH_BYTES}`,
        ]
      : []),
    ...(residentGrowthBytes > MAX_RESIDENT_GROWTH_BYTES
      ? [`the process has grown by ${residentGrowthBytes} bytes, over ${MAX_RESIDENT_GROWTH_BYTES}`]
      : []),
    ...(leftHandles.length > 0 ? [`handles are left open: ${leftHandles.join(', ')}`] : []),
  ];
}

/** Processor time of the main thread of a process in milliseconds, whatever else the machine does. Throws when the process is gone. */
export function threadCpuMs(pid: number = process.pid): number {
  const [nanoseconds] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'latin1').split(' ');
  return Number(nanoseconds) / 1e6;
}
