// Loads with many parties: how many queues, who publishes to them, who subscribes. A table.
import type { DeliveryMode } from '../../src/history/operation.ts';

export type Shape = {
  readonly load: string;
  readonly mode: DeliveryMode;
  readonly queueCount: number;
  /** Of each queue. */
  readonly publisherCount: number;
  /** Of each queue; those that read and acknowledge at once. */
  readonly subscriberCount: number;
  /** Of each queue, besides: acknowledge one delivery every ten milliseconds. */
  readonly slowCount: number;
  /** Publisher and subscriber of a queue are one connection. */
  readonly isOneConnection: boolean;
  /** Unconfirmed publishes of each publisher. */
  readonly window: number;
  /** Values of the header priority, in turn; empty: no header. */
  readonly priorities: readonly string[];
  /** Messages of a pass, all publishers together; a multiple of their number. */
  readonly passCount: number;
};

const usual = {
  mode: 'RoundRobin',
  queueCount: 1,
  publisherCount: 1,
  subscriberCount: 1,
  slowCount: 0,
  isOneConnection: false,
  window: 256,
  priorities: [],
  passCount: 60_000,
} as const;

export const shapes: readonly Shape[] = [
  {
    ...usual,
    load: '1,000 connections, each with a queue of its own',
    queueCount: 1000,
    isOneConnection: true,
    window: 4,
  },
  {
    ...usual,
    load: '100 publishers, one queue, 100 subscribers',
    publisherCount: 100,
    subscriberCount: 100,
    window: 16,
  },
  {
    ...usual,
    load: 'PriorityBased, four priorities',
    mode: 'PriorityBased',
    priorities: ['Low', 'Normal', 'High', 'Critical'],
  },
  {
    ...usual,
    load: 'FanOutWithAck, nine that read, one that is slow',
    mode: 'FanOutWithAck',
    subscriberCount: 9,
    slowCount: 1,
    passCount: 10_000,
  },
];

/** Deliveries of one message that a pass waits for. */
export function deliveriesOfOne({ mode, subscriberCount }: Shape): number {
  return mode === 'FanOutWithAck' || mode === 'FanOutWithoutAck' ? subscriberCount : 1;
}
