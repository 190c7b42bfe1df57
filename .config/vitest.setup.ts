// What all test files share. One seed for every property of a run: TRUEMQ_SEED repeats a run, its absence draws a new one. The seed stands
// in fast-check's own failure report.
import fc from 'fast-check';
import { expect } from 'vitest';
import { runsOf } from '../src/testing/property-runs.ts';

/** Of fast-check, for properties that name no number. */
const DEFAULT_RUNS = 100;

const given = process.env['TRUEMQ_SEED'];
fc.configureGlobal({
  numRuns: runsOf(DEFAULT_RUNS),
  seed: given === undefined ? Date.now() & 0x7fffffff : Number(given),
});

/** Compares buffers as Node does: vitest compares byte by byte as properties of an object, which takes a hundred times as long. */
expect.addEqualityTesters([
  (a: unknown, b: unknown) => (Buffer.isBuffer(a) && Buffer.isBuffer(b) ? a.equals(b) : undefined),
]);
