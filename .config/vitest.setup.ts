// One seed for every property of a run: TRUEMQ_SEED repeats a run, its absence draws a new one. The seed stands in
// fast-check's own failure report.
import fc from 'fast-check';
import { runsOf } from '../src/testing/property-runs.ts';

/** Of fast-check, for properties that name no number. */
const DEFAULT_RUNS = 100;

const given = process.env['TRUEMQ_SEED'];
fc.configureGlobal({
  numRuns: runsOf(DEFAULT_RUNS),
  seed: given === undefined ? Date.now() & 0x7fffffff : Number(given),
});
