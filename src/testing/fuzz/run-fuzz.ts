// Fuzzes the targets, each in processes of its own, and makes each failure as small as it can be.

import type { Plugin } from 'esbuild';
import { bundleWorker } from '../simulation/bundle.ts';
import { frameBytes } from '../wire-bytes.ts';
import { drawCase, FRAMES_PER_CASE } from './fuzz-case.ts';
import { carryOut, complaintOf, type FuzzOutcome } from './fuzz-process.ts';
import type { TargetName } from './fuzz-target.ts';
import { minimize } from './minimize.ts';
import { watchComplaints } from './process-watch.ts';
import { readSeeds } from './seed-frames.ts';

export type FuzzPlan = {
  readonly firstSeed: number;
  /** Frames for each target; a target without any is left out. */
  readonly frameCounts: Readonly<Partial<Record<TargetName, number>>>;
  /** Whether failing frames are made smaller, which takes a while. */
  readonly minimizes: boolean;
};

export type FuzzFailure = {
  readonly target: TargetName;
  readonly complaint: string;
  readonly seed?: number;
  /** The smallest frames found that fail alone; empty when the whole run is needed. */
  readonly frames: readonly Buffer[];
};

export type FuzzResult = {
  readonly target: TargetName;
  readonly outcome: FuzzOutcome;
  readonly failures: readonly FuzzFailure[];
  readonly seconds: number;
};

export function bundleFuzzer(folder: string, name: string, plugins: readonly Plugin[] = []): Promise<string> {
  return bundleWorker(folder, name, plugins, 'src/testing/fuzz/worker.ts');
}

/** One result for each target of the plan, in its order. */
export function runFuzz(bundle: string, plan: FuzzPlan): Promise<readonly FuzzResult[]> {
  const shares = Object.entries(plan.frameCounts) as [TargetName, number][];
  return Promise.all(shares.map(([target, frameCount]) => fuzzTarget(bundle, plan, { target, frameCount })));
}

type Share = { readonly target: TargetName; readonly frameCount: number };

async function fuzzTarget(
  bundle: string,
  { firstSeed, minimizes }: FuzzPlan,
  { target, frameCount }: Share,
): Promise<FuzzResult> {
  const startedAt = performance.now();
  const caseCount = Math.ceil(frameCount / FRAMES_PER_CASE);
  const outcome = await carryOut(bundle, { target, work: { kind: 'seeds', firstSeed, caseCount } });
  const failures = await failuresOf(bundle, target, outcome, minimizes);
  return { target, outcome, failures, seconds: (performance.now() - startedAt) / 1000 };
}

async function failuresOf(
  bundle: string,
  target: TargetName,
  { complaint, seed, figures }: FuzzOutcome,
  minimizes: boolean,
): Promise<readonly FuzzFailure[]> {
  if (complaint === undefined) {
    const complaints = figures === undefined ? [] : watchComplaints(figures);
    return complaints.map((text) => ({ target, complaint: text, frames: [] }));
  }
  if (seed === undefined) return [{ target, complaint, frames: [] }];
  const frames = minimizes ? await smallestFrames(bundle, target, drawCase(seed, readSeeds())) : [];
  return [{ target, complaint, seed, frames }];
}

/** Empty when the case does not fail by itself. */
export async function smallestFrames(
  bundle: string,
  target: TargetName,
  frames: readonly Buffer[],
): Promise<readonly Buffer[]> {
  const fails = async (some: readonly Buffer[]) => (await complaintOf(bundle, target, some)) !== undefined;
  if (!(await fails(frames))) return [];
  const few = await minimize(frames, fails);
  const [only] = few;
  return few.length === 1 && only !== undefined ? [await smallestFrame(only, fails)] : few;
}

/** Processes are started for each try: more would take minutes. */
const MAX_TRIES = 150;
const HEADER_BYTES = 5;

/** A frame that announces its true length still does when it is smaller. */
async function smallestFrame(
  frame: Buffer,
  fails: (frames: readonly Buffer[]) => Promise<boolean>,
): Promise<Buffer> {
  const isWhole = frame.length >= HEADER_BYTES && frame.readUInt32BE(0) === frame.length - HEADER_BYTES;
  const build = (bytes: readonly number[]): Buffer =>
    isWhole ? frameBytes(Buffer.from(bytes), frame[4]) : Buffer.from(bytes);
  const bytes = [...(isWhole ? frame.subarray(HEADER_BYTES) : frame)];
  return build(await minimize(bytes, (some) => fails([build(some)]), MAX_TRIES));
}
