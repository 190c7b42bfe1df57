// The simulation as a part of the tests: `node --import tsx src/testing/simulation/run.ts`. Ten thousand schedules, always the same, or from
// TRUEMQ_SEED on. Prints its figures and ends with `N passed, N failed`: every schedule counts, and everything that must have occurred.

import { rmSync } from 'node:fs';
import { bundleWorker } from './bundle.ts';
import { runPool } from './pool.ts';
import { countsText, failuresText, figuresText, medianOf, shortfalls } from './report.ts';
import { expectedNames } from './tally.ts';

const SCHEDULES = 10_000;
const MIN_OCCURRENCES = 100;
const MIN_MEDIAN_INPUTS = 200;

const folder = `out/simulation-${process.pid}`;
const firstSeed = Number(process.env['TRUEMQ_SEED'] ?? 1);
const bundle = await bundleWorker(folder, 'worker');
const result = await runPool({
  bundle,
  firstSeed,
  scheduleCount: SCHEDULES,
  maxMs: Number.POSITIVE_INFINITY,
  stopsAtFailure: false,
});
rmSync(folder, { recursive: true, force: true });

const missing = [...shortfalls(result, MIN_OCCURRENCES)];
const median = medianOf(result.inputCounts);
if (median < MIN_MEDIAN_INPUTS) missing.push(`${median} inputs at the median, not ${MIN_MEDIAN_INPUTS}`);
process.stdout.write(countsText(result));
process.stdout.write(failuresText(result.failures));
for (const text of missing) process.stdout.write(`FAIL ${text}\n`);
process.stdout.write(`seeds from ${firstSeed} on: ${figuresText(result)}`);
const failed = result.failures.length + missing.length;
const passed = result.scheduleCount - result.failures.length + expectedNames().length + 1 - missing.length;
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 && result.scheduleCount === SCHEDULES ? 0 : 1;
