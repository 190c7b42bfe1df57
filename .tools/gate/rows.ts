// What the gate measures: few rows, in short passes of a fixed number of messages, so that a slow machine warms the code up as well as a fast
// one. A table. The skeleton gets more turns in a pass, because each costs it less: both passes take about the same time.
import type { LoadShape } from './load.ts';

export type GateRow = LoadShape & {
  readonly name: string;
  /** Turns of one pass through the broker, and of one through the skeleton. */
  readonly brokerTurnCount: number;
  readonly skeletonTurnCount: number;
};

/**
 * A turn takes 1 to 5 ms at the broker and 0.2 to 1 ms at the skeleton: shorter ones are mostly those of the event loop, and other processes come
 * between longer ones.
 */
export const gateRows: readonly GateRow[] = [
  row('100 B to 1 subscriber', { payloadBytes: 100, subscriberCount: 1, windowCount: 256 }, [12, 40]),
  row('1 KiB to 1 subscriber', { payloadBytes: 1024, subscriberCount: 1, windowCount: 256 }, [8, 28]),
  row('16 KiB to 1 subscriber', { payloadBytes: 16_384, subscriberCount: 1, windowCount: 256 }, [3, 8]),
  row(
    '1 KiB to 10 subscribers with acknowledgments',
    { payloadBytes: 1024, subscriberCount: 10, windowCount: 128 },
    [4, 14],
  ),
];

function row(
  name: string,
  shape: LoadShape,
  [brokerTurnCount, skeletonTurnCount]: readonly [number, number],
): GateRow {
  return { name, ...shape, brokerTurnCount, skeletonTurnCount };
}
