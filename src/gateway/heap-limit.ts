// How much the heap of this process holds before the process ends. V8's own limit contains the most that the young generation may take, which is
// 48 MiB with Node.js 20 and 192 with 24, and little of that is in use when the old generation is full.

import { getHeapStatistics } from 'node:v8';

const MIB = 1024 * 1024;

/** What the young generation uses of its memory beside a full old generation, at most: all of it in Node.js 20 and 22. */
const USED_YOUNG_MIB = 48;
/** V8 gives the young generation three times the largest size of a semi-space. */
const SEMI_SPACES = 3;

export type HeapFacts = {
  /** `heap_size_limit` of V8's statistics, in bytes. */
  readonly heapSizeLimitBytes: number;
  /** `process.versions.node`. */
  readonly nodeVersion: string;
  /** The options of Node.js, on the command line and in NODE_OPTIONS, one behind the other. Default: none. */
  readonly options?: string;
};

/** In bytes. */
export function heapLimitOf({ heapSizeLimitBytes, nodeVersion, options = '' }: HeapFacts): number {
  const [, given] = /--max[-_]semi[-_]space[-_]size[= ](\d+)/.exec(options) ?? [];
  const semiSpaceMib = given === undefined ? defaultSemiSpaceMib(nodeVersion) : Number(given);
  const unusedMib = Math.max(0, SEMI_SPACES * semiSpaceMib - USED_YOUNG_MIB);
  return heapSizeLimitBytes - unusedMib * MIB;
}

/** The largest size of a semi-space, in MiB. */
function defaultSemiSpaceMib(nodeVersion: string): number {
  const major = Number.parseInt(nodeVersion, 10);
  if (major >= 26) return 32;
  return major >= 24 ? 64 : 16;
}

/** Of this process, in bytes. */
export const heapLimitBytes = heapLimitOf({
  heapSizeLimitBytes: getHeapStatistics().heap_size_limit,
  nodeVersion: process.versions.node,
  options: [...process.execArgv, process.env['NODE_OPTIONS']].join(' '),
});
