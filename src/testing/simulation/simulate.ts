// The simulation for people: `npm run simulate -- --seed N [--schedules K] [--minutes M]`. A seed alone is run once, and its last events are
// printed if it fails. With --minutes it goes on, from a seed that is printed, until something fails or the time is up.

import { randomInt } from 'node:crypto';
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { bundleWorker } from './bundle.ts';
import { runPool } from './pool.ts';
import { countsText, failuresText, figuresText } from './report.ts';

const usage = 'Usage: npm run simulate -- [--seed N] [--schedules K] [--minutes M]';

function wholeNumber(name: string, text: string | undefined, otherwise: number): number {
  const value = Number(text ?? otherwise);
  if (value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && value >= 0)) return value;
  throw new Error(`--${name} must be a whole number from 0 up, and is ${text}.\n${usage}`);
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: { seed: { type: 'string' }, schedules: { type: 'string' }, minutes: { type: 'string' } },
  });
  const isOpenEnded = values.minutes !== undefined;
  const firstSeed = wholeNumber('seed', values.seed, randomInt(2 ** 31));
  const onlyOne = values.seed !== undefined && !isOpenEnded;
  const scheduleCount = wholeNumber(
    'schedules',
    values.schedules,
    isOpenEnded ? Number.POSITIVE_INFINITY : onlyOne ? 1 : 1000,
  );
  const minutes = wholeNumber('minutes', values.minutes, Number.POSITIVE_INFINITY);
  const folder = `out/simulation-${process.pid}`;
  const bundle = await bundleWorker(folder, 'worker');
  const result = await runPool({
    bundle,
    firstSeed,
    scheduleCount,
    maxMs: minutes * 60_000,
    stopsAtFailure: isOpenEnded,
    ...(scheduleCount === 1 ? { processCount: 1 } : {}),
  });
  rmSync(folder, { recursive: true, force: true });
  if (scheduleCount > 1) process.stdout.write(countsText(result));
  process.stdout.write(failuresText(result.failures));
  process.stdout.write(`seeds from ${firstSeed} on: ${figuresText(result)}`);
  return result.failures.length === 0 && result.scheduleCount > 0;
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
