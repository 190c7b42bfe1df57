// Runs the items of a list in parallel, as many as the processor has time for. Mutants mostly wait, but too many at a time leave the runner
// too little CPU time, and its results must then be repeated. So another item starts only while the processor has idle time.
import { cpus } from 'node:os';

export type CrewLimits = {
  /** This many run at any load. */
  readonly least: number;
  readonly most: number;
  /** Another item starts if this share of the processor time was idle: 0 to 1. */
  readonly idleShare: number;
};

const glanceMs = 250;

/** Resolves when `work` has settled for every item; rejects when it rejects for one. */
export async function workOff<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  limits: CrewLimits,
  idleShare: () => number = idleGauge(),
): Promise<void> {
  const waiting = [...items];
  const running = new Set<Promise<void>>();
  while (waiting.length > 0 || running.size > 0) {
    const share = idleShare();
    const isRoom = running.size < limits.least || (share > limits.idleShare && running.size < limits.most);
    const item = isRoom ? waiting.shift() : undefined;
    if (item !== undefined) {
      const task: Promise<void> = work(item).finally(() => running.delete(task));
      running.add(task);
    }
    if (running.size >= limits.least || waiting.length === 0) await Promise.race([...running, glance()]);
  }
}

function glance(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, glanceMs);
  });
}

/** Returns the idle share of all processors since the previous call. */
export function idleGauge(read: () => CpuTimes = cpuTimes): () => number {
  let before = read();
  return () => {
    const now = read();
    const total = now.total - before.total;
    const share = total > 0 ? (now.idle - before.idle) / total : 0;
    before = now;
    return share;
  };
}

type CpuTimes = { readonly idle: number; readonly total: number };

function cpuTimes(): CpuTimes {
  const times = cpus().map((cpu) => cpu.times);
  const total = times.flatMap((one) => Object.values(one)).reduce((sum, time) => sum + time, 0);
  return { idle: times.reduce((sum, { idle }) => sum + idle, 0), total };
}
