// What the gate measures: few rows, short passes of a fixed number of messages, so that a slow machine warms the code up as well as a fast one.
// A table. The skeleton gets more messages in a pass, because each costs it less: both passes take about the same time.
import type { LoadShape } from '../../src/bench/jobs/session.ts';

export type GateRow = {
  readonly name: string;
  readonly storage: 'memory' | 'durable';
  readonly shape: LoadShape;
  readonly payloadBytes: number;
  /** Messages of one pass through the broker. */
  readonly passCount: number;
  /** How many times as many through the skeleton. */
  readonly skeletonFactor: number;
};

const single: LoadShape = { mode: 'RoundRobin', subscriberCount: 1 };
const ten: LoadShape = { mode: 'FanOutWithAck', subscriberCount: 10 };

export const gateRows: readonly GateRow[] = [
  row('throughput, 100 B', 'memory', single, 100, 50_000, 4),
  row('throughput, 1 KiB', 'memory', single, 1024, 30_000, 3),
  row('throughput, 16 KiB', 'memory', single, 16_384, 5_000, 2),
  row('fan-out 1 to 10 with acknowledgments, 1 KiB', 'memory', ten, 1024, 10_000, 3),
  row('durable, 1 KiB', 'durable', single, 1024, 12_000, 2),
];

function row(
  name: string,
  storage: GateRow['storage'],
  shape: LoadShape,
  payloadBytes: number,
  passCount: number,
  skeletonFactor: number,
): GateRow {
  return { name, storage, shape, payloadBytes, passCount, skeletonFactor };
}
