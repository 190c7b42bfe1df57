// One measurement of the gate, in rounds: in each, every row has a broker and a skeleton of its own, in two new processes. Passes alternate
// between the two, so both see the same machine. A row measured alone is measured in the same way. A side that fails is a fault of its row.
import { type Pair, ratioOfPairs } from './estimate.ts';
import type { MeasuredRow } from './judge.ts';
import type { GateRow } from './rows.ts';
import { type Side, SideFault, type SideName } from './side-process.ts';

export type StartSide = (name: SideName) => Promise<Side>;

type MeasuredPair = Pair & { readonly messageCount: number };

type RowState = { readonly row: GateRow; readonly pairs: MeasuredPair[]; fault?: string };

const roundCount = 6;
/** On a machine with much other work: no further round begins after this time for each row, if there were enough. */
const enoughRoundCount = 4;
const longestRowMs = 10_000;
const warmPassCount = 20;
const passCount = 24;

export async function measureRows(
  rows: readonly GateRow[],
  startSide: StartSide,
  nowMs: () => number = () => performance.now(),
): Promise<readonly MeasuredRow[]> {
  const states: readonly RowState[] = rows.map((row) => ({ row, pairs: [] }));
  const endAtMs = nowMs() + longestRowMs * rows.length;
  for (let round = 0; round < roundCount; round += 1) {
    if (round >= enoughRoundCount && nowMs() > endAtMs) break;
    for (const state of states) if (state.fault === undefined) await measureOnce(state, startSide);
  }
  return states.map(measuredRow);
}

async function measureOnce(state: RowState, startSide: StartSide): Promise<void> {
  try {
    state.pairs.push(await measurePair(state.row, startSide));
  } catch (error) {
    if (!(error instanceof SideFault)) throw error;
    state.fault = error.message;
  }
}

async function measurePair(row: GateRow, startSide: StartSide): Promise<MeasuredPair> {
  const broker = await startSide('broker');
  try {
    const skeleton = await startSide('skeleton');
    try {
      await alternatePasses(row, broker, skeleton, warmPassCount);
      return await alternatePasses(row, broker, skeleton, passCount);
    } finally {
      skeleton.stop();
    }
  } finally {
    broker.stop();
  }
}

async function alternatePasses(
  { payloadBytes, subscriberCount, windowCount, brokerTurnCount, skeletonTurnCount }: GateRow,
  broker: Side,
  skeleton: Side,
  count: number,
): Promise<MeasuredPair> {
  const shape = { payloadBytes, subscriberCount, windowCount };
  const brokerMs: number[] = [];
  const skeletonMs: number[] = [];
  let messageCount = 0;
  for (let pass = 0; pass < count; pass += 1) {
    const own = await broker.ask({ ...shape, turnCount: brokerTurnCount });
    const other = await skeleton.ask({ ...shape, turnCount: skeletonTurnCount });
    brokerMs.push(...own.turnsMs);
    skeletonMs.push(...other.turnsMs);
    messageCount += Math.min(own.messageCount, other.messageCount);
  }
  return { brokerMs, skeletonMs, messageCount };
}

function measuredRow({ row: { name }, pairs, fault }: RowState): MeasuredRow {
  if (fault !== undefined) return { name, messageCount: 0, fault };
  const messageCount = pairs.reduce((sum, pair) => sum + pair.messageCount, 0);
  const ratio = ratioOfPairs(pairs);
  return { name, messageCount, ...(ratio === undefined ? {} : { ratio }) };
}
