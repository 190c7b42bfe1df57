// One measurement of the gate: starts skeleton and broker anew, warms both up, and then lets each row run in turns, skeleton and broker, in
// changing order. The figure of a row is the median of the rounds' ratios. A target that refuses or loses the load is a fault of its row.
import type { BenchTarget } from '../../src/bench/bench-target.ts';
import { cpuPerMessage } from '../../src/bench/jobs/job.ts';
import { leadFor, Session } from '../../src/bench/jobs/session.ts';
import { LoadFault } from '../../src/bench/load/load-fault.ts';
import { estimateOf } from '../../src/bench/statistics/estimate.ts';
import type { MeasuredRow } from './judge.ts';
import type { GateRow } from './rows.ts';

export type GateTargets = { readonly skeleton: BenchTarget; readonly broker: BenchTarget };

type Pass = { readonly messageCount: number; readonly cpuUs: number | undefined; readonly perSecond: number };
type Pair = { readonly skeleton: Pass; readonly broker: Pass };

const roundCount = 7;
const warmPassCount = 2;
const window = 256;
/** A pass ends by its number of messages; this ends one that hangs. */
const longestPassMs = 60_000;
const settings = {
  payloadBytes: [],
  window,
  prefetch: 256,
  rates: [],
  durationMs: 0,
  subscriberCounts: [],
  roundCount,
};

/** Throws a TargetFault when one of the two does not start. */
export async function measureRows(
  rows: readonly GateRow[],
  targets: GateTargets,
): Promise<readonly MeasuredRow[]> {
  const measured: MeasuredRow[] = [];
  for (const storage of ['memory', 'durable'] as const) {
    const own = rows.filter((row) => row.storage === storage);
    if (own.length > 0) measured.push(...(await measureStorage(own, targets, storage)));
  }
  return measured;
}

async function measureStorage(
  rows: readonly GateRow[],
  targets: GateTargets,
  storage: GateRow['storage'],
): Promise<readonly MeasuredRow[]> {
  const skeleton = await Session.start(targets.skeleton, settings, { storage });
  try {
    const broker = await Session.start(targets.broker, settings, { storage });
    try {
      const measured: MeasuredRow[] = [];
      for (const row of rows) measured.push(await measureRow(row, skeleton, broker));
      return measured;
    } finally {
      await broker.stop();
    }
  } finally {
    await skeleton.stop();
  }
}

async function measureRow(row: GateRow, skeleton: Session, broker: Session): Promise<MeasuredRow> {
  try {
    const pairs: Pair[] = [];
    for (let round = -warmPassCount; round < roundCount; round += 1) {
      const pair = await measurePair(row, skeleton, broker, round % 2 === 0);
      if (round >= 0) pairs.push(pair);
    }
    return rowOf(row.name, pairs);
  } catch (error) {
    if (!(error instanceof LoadFault)) throw error;
    await skeleton.dropLoads();
    await broker.dropLoads();
    return { name: row.name, messageCount: 0, fault: error.message };
  }
}

async function measurePair(
  row: GateRow,
  skeleton: Session,
  broker: Session,
  skeletonFirst: boolean,
): Promise<Pair> {
  const ofSkeleton = (): Promise<Pass> => onePass(row, skeleton, row.passCount * row.skeletonFactor);
  if (skeletonFirst) {
    const first = await ofSkeleton();
    return { skeleton: first, broker: await onePass(row, broker, row.passCount) };
  }
  const first = await onePass(row, broker, row.passCount);
  return { broker: first, skeleton: await ofSkeleton() };
}

async function onePass({ shape, payloadBytes }: GateRow, session: Session, maxCount: number): Promise<Pass> {
  const load = await session.load(shape);
  const order = { payloadBytes, window, durationMs: longestPassMs, maxCount };
  const before = session.broker.usage();
  const { publish, receive } = await load.pass({ ...order, ...leadFor(shape, order) });
  const { serverCpuUs } = cpuPerMessage(before, session.broker.usage(), publish.sentCount);
  const seconds = (receive.lastAtUs - publish.startedAtUs) / 1e6;
  return { messageCount: publish.sentCount, cpuUs: serverCpuUs, perSecond: publish.sentCount / seconds };
}

/** The row without a ratio where the system does not tell what a process uses. */
function rowOf(name: string, pairs: readonly Pair[]): MeasuredRow {
  const messageCount = pairs.reduce((sum, { broker }) => sum + broker.messageCount, 0);
  const cpu = medianOf(pairs.map(({ broker, skeleton }) => ratio(broker.cpuUs, skeleton.cpuUs)));
  const rate = medianOf(pairs.map(({ broker, skeleton }) => ratio(broker.perSecond, skeleton.perSecond)));
  return {
    name,
    messageCount,
    ...(cpu === undefined ? {} : { cpuRatio: cpu }),
    ...(rate === undefined ? {} : { rateRatio: rate }),
  };
}

function medianOf(values: readonly (number | null)[]): number | undefined {
  return estimateOf(values)?.median;
}

function ratio(value: number | undefined, base: number | undefined): number | null {
  return value === undefined || base === undefined || base === 0 ? null : value / base;
}
