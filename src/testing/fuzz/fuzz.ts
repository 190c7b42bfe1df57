// The fuzzer: `npm run fuzz` judges 1,000,000 frames, from a seed that is printed; with `--test` it judges those of `npm test`. `--keep NAME`
// writes the smallest failing frame to the corpus. Ends with `N passed, N failed`: one for each target, and one for each figure of its
// process that is judged.

import { randomInt } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { FRAMES_PER_CASE } from './fuzz-case.ts';
import { sharesOf, testPlan } from './fuzz-plan.ts';
import { complaintOf } from './fuzz-process.ts';
import { failureText, resultText } from './fuzz-report.ts';
import { type TargetName, targetNames } from './fuzz-target.ts';
import { bundleFuzzer, type FuzzFailure, type FuzzPlan, runFuzz } from './run-fuzz.ts';

const usage = `Usage: npm run fuzz -- [--frames N] [--seed N] [--target codec|gateway|socket] [--cases N] [--keep NAME]
       npm run fuzz -- --test
       npm run fuzz -- --target codec|gateway|socket --hex FRAME [--hex FRAME ..]`;

const DEFAULT_FRAMES = 1_000_000;
/** The target itself, its memory that is retained, its resident memory, its handles. */
const JUDGED_PER_TARGET = 4;

const corpus = new URL('../../../fixtures/malformed/found.json', import.meta.url);

function wholeNumber(name: string, text: string, min = 1): number {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value >= min) return value;
  throw new Error(`--${name} must be a whole number of at least ${min}, and is ${text}.\n${usage}`);
}

function targetOf(text: string): TargetName {
  const name = targetNames.find((one) => one === text);
  if (name === undefined)
    throw new Error(`--target must be one of ${targetNames.join(', ')}, and is ${text}.\n${usage}`);
  return name;
}

type Values = { readonly [name in 'frames' | 'seed' | 'cases']?: string | undefined };

function planOf({ frames, seed, cases }: Values, target: TargetName | undefined): FuzzPlan {
  const firstSeed = seed === undefined ? randomInt(2 ** 31) : wholeNumber('seed', seed, 0);
  const frameCount =
    cases === undefined
      ? wholeNumber('frames', frames ?? String(DEFAULT_FRAMES))
      : wholeNumber('cases', cases) * FRAMES_PER_CASE;
  const frameCounts = target === undefined ? sharesOf(frameCount) : { [target]: frameCount };
  return { firstSeed, frameCounts, minimizes: true };
}

/** Adds a frame to the corpus; what must happen is written there by hand. */
function keep(name: string, { frames, complaint }: FuzzFailure): void {
  const entries = JSON.parse(readFileSync(corpus, 'utf8')) as object[];
  const hex = Buffer.concat([...frames]).toString('hex');
  const lines = [...entries, { name, requirement: '', hex, code: '', closes: false, found: complaint }].map(
    (entry) => `  ${JSON.stringify(entry)}`,
  );
  writeFileSync(corpus, `[\n${lines.join(',\n')}\n]\n`);
}

async function judgeHex(bundle: string, target: TargetName, frames: readonly Buffer[]): Promise<boolean> {
  const complaint = await complaintOf(bundle, target, frames);
  process.stdout.write(
    complaint === undefined ? 'Nothing is wrong.\n' : failureText({ target, complaint, seed: 0, frames }),
  );
  return complaint === undefined;
}

async function main(): Promise<boolean> {
  const { values } = parseArgs({
    options: {
      ...{
        frames: { type: 'string' },
        seed: { type: 'string' },
        target: { type: 'string' },
        cases: { type: 'string' },
      },
      ...{
        keep: { type: 'string' },
        test: { type: 'boolean', default: false },
        hex: { type: 'string', multiple: true },
      },
    },
  });
  const target = values.target === undefined ? undefined : targetOf(values.target);
  const plan = values.test ? testPlan : planOf(values, target);
  const folder = `out/fuzz-${process.pid}`;
  try {
    const bundle = await bundleFuzzer(folder, 'worker');
    if (values.hex !== undefined)
      return await judgeHex(
        bundle,
        target ?? 'codec',
        values.hex.map((hex) => Buffer.from(hex, 'hex')),
      );
    process.stdout.write(`seeds from ${plan.firstSeed} on\n`);
    const results = await runFuzz(bundle, plan);
    for (const result of results) process.stdout.write(resultText(result));
    const failures = results.flatMap((result) => result.failures);
    const kept = failures.find(({ frames }) => frames.length > 0);
    if (values.keep !== undefined && kept !== undefined) keep(values.keep, kept);
    process.stdout.write(
      `${results.length * JUDGED_PER_TARGET - failures.length} passed, ${failures.length} failed\n`,
    );
    return failures.length === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}
