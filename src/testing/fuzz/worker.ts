// The process that fuzzes one target: it is given a range of seeds, or the frames of one case, and sends back what is wrong. It tells which
// case it begins, so that the process that started it knows where it hung or died. Started as a bundle, into which a fault may be planted.

import { brokerTarget } from './broker-target.ts';
import { codecTarget } from './codec-target.ts';
import { drawCase, FRAMES_PER_CASE } from './fuzz-case.ts';
import type { FuzzTarget, TargetName } from './fuzz-target.ts';
import { startSocketBroker, startVirtualBroker } from './fuzzed-broker.ts';
import { ProcessWatch, threadCpuMs, type WatchFigures } from './process-watch.ts';
import { readSeeds } from './seed-frames.ts';

export type FuzzOrder = {
  readonly target: TargetName;
  readonly work:
    | { readonly kind: 'seeds'; readonly firstSeed: number; readonly caseCount: number }
    /** As hex. */
    | { readonly kind: 'frames'; readonly frames: readonly string[] };
};

export type FuzzNews =
  | { readonly kind: 'begun'; readonly seed: number }
  | { readonly kind: 'wrong'; readonly complaint: string; readonly seed?: number }
  | { readonly kind: 'done'; readonly frameCount: number; readonly figures?: WatchFigures };

/** Processor time that the frames of a case may take. A case takes a few milliseconds. */
const MAX_CASE_CPU_MS = 1000;
/** Cases after which a target frees what it was allowed to keep. */
const SWEEP_CASES = 100;
/** The part of the cases after which the process is taken to be warm. */
const WARM_SHARE = 0.2;

async function openTarget(name: TargetName): Promise<FuzzTarget> {
  switch (name) {
    case 'codec':
      return codecTarget();
    case 'gateway':
      return brokerTarget(() => startVirtualBroker());
    case 'socket':
      return brokerTarget(startSocketBroker);
  }
}

/** Exceptions in events of streams and in promises, which reach no caller. */
const strays: string[] = [];
for (const event of ['uncaughtException', 'unhandledRejection'] as const)
  process.on(event, (error: unknown) => strays.push(exceptionText(error)));

function exceptionText(error: unknown): string {
  return `throws ${error instanceof Error ? (error.stack ?? error.message).split('\n').slice(0, 3).join(' ') : String(error)}`;
}

async function judgeCase(target: FuzzTarget, frames: readonly Buffer[]): Promise<string | undefined> {
  const begunAt = threadCpuMs();
  try {
    const complaint = await target.judge(frames);
    const spent = threadCpuMs() - begunAt;
    const isSlow = spent > MAX_CASE_CPU_MS;
    return (
      strays.splice(0)[0] ??
      complaint ??
      (isSlow ? `takes ${spent.toFixed(0)} ms of processor time` : undefined)
    );
  } catch (error) {
    return exceptionText(error);
  }
}

async function fuzz(name: TargetName, firstSeed: number, caseCount: number): Promise<void> {
  const seeds = readSeeds();
  const target = await openTarget(name);
  const warmAt = firstSeed + Math.floor(caseCount * WARM_SHARE);
  let watch: ProcessWatch | undefined;
  for (let seed = firstSeed; seed < firstSeed + caseCount; seed += 1) {
    tell({ kind: 'begun', seed });
    const complaint = await judgeCase(target, drawCase(seed, seeds));
    if (complaint !== undefined) return tell({ kind: 'wrong', complaint, seed });
    const isSweeping = (seed - firstSeed) % SWEEP_CASES === SWEEP_CASES - 1 || seed === warmAt;
    const left = isSweeping ? await target.sweep() : undefined;
    if (left !== undefined) return tell({ kind: 'wrong', complaint: left });
    if (seed === warmAt) watch = await ProcessWatch.begun();
    await turnOfTheEventLoop();
  }
  const left = await target.sweep();
  if (left !== undefined) return tell({ kind: 'wrong', complaint: left });
  const figures = await watch?.end();
  await target.close();
  tell({ kind: 'done', frameCount: caseCount * FRAMES_PER_CASE, ...(figures && { figures }) });
}

/** What the runtime frees in a turn of its own, as zlib's contexts, would pile up without any. */
function turnOfTheEventLoop(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve));
}

/** One case on a target of its own. */
async function judgeFrames(name: TargetName, frames: readonly string[]): Promise<void> {
  const target = await openTarget(name);
  const complaint =
    (await judgeCase(
      target,
      frames.map((frame) => Buffer.from(frame, 'hex')),
    )) ?? (await target.sweep());
  await target.close();
  if (complaint !== undefined) tell({ kind: 'wrong', complaint });
  else tell({ kind: 'done', frameCount: frames.length });
}

function tell(news: FuzzNews): void {
  process.send?.(news);
}

process.on('message', ({ target, work }: FuzzOrder) => {
  const working =
    work.kind === 'seeds' ? fuzz(target, work.firstSeed, work.caseCount) : judgeFrames(target, work.frames);
  working.catch((error: unknown) => tell({ kind: 'wrong', complaint: exceptionText(error) }));
});
