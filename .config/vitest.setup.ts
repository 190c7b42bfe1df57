// What all test files share. One seed for every property of a run: TRUEMQ_SEED repeats a run, its absence draws a new one. The seed stands
// in fast-check's own failure report.
import fc from 'fast-check';
import { runsOf } from '../src/testing/property-runs.ts';
// A module of its own, because this one runs again for each test file, and each time would add one more way to compare.
import './buffer-equality.ts';

/** Of fast-check, for properties that name no number. */
const DEFAULT_RUNS = 100;

const given = process.env['TRUEMQ_SEED'];
fc.configureGlobal({
  numRuns: runsOf(DEFAULT_RUNS),
  seed: given === undefined ? Date.now() & 0x7fffffff : Number(given),
});
