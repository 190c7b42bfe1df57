// The process that fuzzes, seen from outside: gives it one order, and ends it when it takes processor time and does not come to the next
// case. A process serves one order, because what it did with one may change what it does with the next.

import { fork } from 'node:child_process';
import type { TargetName } from './fuzz-target.ts';
import { threadCpuMs, type WatchFigures } from './process-watch.ts';
import type { FuzzNews, FuzzOrder } from './worker.ts';

/** Processor time after which a case that does not end hangs. */
const MAX_CASE_CPU_MS = 5_000;
/** A case that takes no processor time and does not end waits for something that never comes. */
const MAX_SILENT_MS = 90_000;
const LOOK_MS = 250;

export type FuzzOutcome = {
  readonly frameCount: number;
  readonly figures?: WatchFigures;
  readonly complaint?: string;
  /** The case that went wrong; absent when none is to blame alone. */
  readonly seed?: number;
};

export function carryOut(bundle: string, order: FuzzOrder): Promise<FuzzOutcome> {
  const child = fork(bundle, [], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return new Promise((resolve, reject) => {
    let seed: number | undefined;
    let heardAt = { wallMs: performance.now(), cpuMs: 0 };
    const finish = (outcome: FuzzOutcome): void => {
      clearInterval(looking);
      child.removeAllListeners();
      child.kill('SIGKILL');
      resolve(outcome);
    };
    const blame = (complaint: string): void =>
      finish({ frameCount: 0, complaint, ...(seed === undefined ? {} : { seed }) });
    const looking = setInterval(() => {
      const cpuMs = cpuOf(child.pid);
      if (cpuMs === undefined) return;
      if (cpuMs - heardAt.cpuMs > MAX_CASE_CPU_MS) blame('does not come back: a loop without an end');
      else if (performance.now() - heardAt.wallMs > MAX_SILENT_MS)
        blame('does not come back: it waits for what never comes');
    }, LOOK_MS);
    child.on('error', reject);
    child.on('exit', (code, signal) => blame(`the process ends with ${code ?? signal}`));
    child.on('message', (news: FuzzNews) => {
      heardAt = { wallMs: performance.now(), cpuMs: cpuOf(child.pid) ?? 0 };
      if (news.kind === 'begun') seed = news.seed;
      else if (news.kind === 'wrong') finish({ frameCount: 0, ...news });
      else finish(news);
    });
    child.send(order);
  });
}

function cpuOf(pid: number | undefined): number | undefined {
  try {
    return threadCpuMs(pid);
  } catch {
    return undefined;
  }
}

/** Whether a case goes wrong by itself, on a process of its own; with what. */
export async function complaintOf(
  bundle: string,
  target: TargetName,
  frames: readonly Buffer[],
): Promise<string | undefined> {
  const work = { kind: 'frames', frames: frames.map((frame) => frame.toString('hex')) } as const;
  return (await carryOut(bundle, { target, work })).complaint;
}
