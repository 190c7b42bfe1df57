// One measurement of the gate, in rounds: in each, every row has a broker, a skeleton and, if there is one, a kept broker of its own, in new
// processes. Passes alternate between them, so all see the same machine. A row measured alone is measured in the same way. A side that fails is
// a fault of its row.
import { changeOfRounds, type Round, ratioOfRounds } from './estimate.ts';
import type { MeasuredRow } from './judge.ts';
import type { GateRow } from './rows.ts';
import type { PassOrder } from './side.ts';
import { type Side, SideFault, type SideName } from './side-process.ts';

export type StartSide = (name: SideName) => Promise<Side>;

export type Measurement = {
  readonly rows: readonly GateRow[];
  readonly startSide: StartSide;
  /** In the order in which they work in the first pass. */
  readonly sides: readonly SideName[];
  readonly nowMs?: () => number;
};

type MeasuredRound = Round & { readonly messageCount: number };

type RowState = { readonly row: GateRow; readonly rounds: MeasuredRound[]; fault?: string };

type Sides = ReadonlyMap<SideName, Side>;

const roundCount = 6;
/** On a machine with much other work: no further round begins after this time for each row, if there were enough. */
const enoughRoundCount = 4;
const longestRowMs = 10_000;
const warmPassCount = 20;
const passCount = 24;

export const withoutKept: readonly SideName[] = ['broker', 'skeleton'];
export const withKept: readonly SideName[] = ['broker', 'kept', 'skeleton'];

export async function measureRows(measurement: Measurement): Promise<readonly MeasuredRow[]> {
  const { rows, nowMs = () => performance.now() } = measurement;
  const states: readonly RowState[] = rows.map((row) => ({ row, rounds: [] }));
  const endAtMs = nowMs() + longestRowMs * rows.length;
  for (let round = 0; round < roundCount; round += 1) {
    if (round >= enoughRoundCount && nowMs() > endAtMs) break;
    for (const state of states) if (state.fault === undefined) await measureOnce(state, measurement);
  }
  return states.map((state) => measuredRow(state, measurement.sides.includes('kept')));
}

async function measureOnce(state: RowState, measurement: Measurement): Promise<void> {
  try {
    state.rounds.push(await measureRound(state.row, measurement));
  } catch (error) {
    if (!(error instanceof SideFault)) throw error;
    state.fault = error.message;
  }
}

async function measureRound(row: GateRow, { sides: names, startSide }: Measurement): Promise<MeasuredRound> {
  const sides = new Map<SideName, Side>();
  try {
    for (const name of names) sides.set(name, await startSide(name));
    await alternatePasses(row, sides, warmPassCount);
    return await alternatePasses(row, sides, passCount);
  } finally {
    for (const side of sides.values()) side.stop();
  }
}

async function alternatePasses(row: GateRow, sides: Sides, count: number): Promise<MeasuredRound> {
  const turnsMs: Record<SideName, number[]> = { broker: [], kept: [], skeleton: [] };
  let messageCount = 0;
  const names = [...sides.keys()];
  for (let pass = 0; pass < count; pass += 1) {
    for (const name of names) {
      const figure = await sides.get(name)?.ask(orderFor(row, name));
      turnsMs[name].push(...(figure?.turnsMs ?? []));
      if (name === 'broker') messageCount += figure?.messageCount ?? 0;
    }
    // Whoever comes after the skeleton finds other caches than the one before it.
    names.reverse();
  }
  const { broker: brokerMs, kept: keptMs, skeleton: skeletonMs } = turnsMs;
  return { brokerMs, skeletonMs, messageCount, ...(sides.has('kept') ? { keptMs } : {}) };
}

function orderFor(row: GateRow, name: SideName): PassOrder {
  const { payloadBytes, subscriberCount, windowCount, brokerTurnCount, skeletonTurnCount } = row;
  const turnCount = name === 'skeleton' ? skeletonTurnCount : brokerTurnCount;
  return { payloadBytes, subscriberCount, windowCount, turnCount };
}

function measuredRow({ row: { name }, rounds, fault }: RowState, hasKept: boolean): MeasuredRow {
  if (fault !== undefined) return { name, messageCount: 0, fault };
  const messageCount = rounds.reduce((sum, round) => sum + round.messageCount, 0);
  const ratio = ratioOfRounds(rounds);
  const change = changeOfRounds(rounds);
  if (ratio === undefined || (hasKept && change === undefined)) return { name, messageCount };
  return { name, messageCount, ratio, ...(change === undefined ? {} : { change }) };
}
