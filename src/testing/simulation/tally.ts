// The coverage counters of a simulation: faults of every kind, ways of a message's life, pairs of delivery mode and overflow strategy.
// Counts of many runs are summed up.

import { QueuedMessage } from '../../broker/queue/message.ts';
import { transitions } from '../../broker/queue/message-state.ts';
import { DeliveryMode } from '../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import type { QueueOptions } from '../../model/queue-options.ts';

export const faults = {
  'bytes split on the way': 'line',
  'bytes joined on the way': 'line',
  'bytes delayed on the way': 'line',
  'client stops reading': 'line',
  'broker cannot write on': 'line',
  'connection breaks': 'line',
  'client ends its side': 'line',
  'client disconnects': 'line',
  'client never connects': 'line',
  'frame with broken layout': 'bytes',
  'frame with broken header': 'bytes',
  'commit comes late': 'store',
  'commit fails at once': 'store',
  'commit fails late': 'store',
  'failed commit is kept': 'store',
  'store does not open': 'store',
  'store opens slowly': 'store',
  'probe comes late': 'store',
  'probe fails': 'store',
  'recovery comes slowly': 'store',
  'recovery fails': 'store',
  'close fails': 'store',
  'crash before anything is written': 'crash',
  'crash tears the last write': 'crash',
  'crash after all is written': 'crash',
  'crash between commits': 'crash',
  'crash at rest': 'crash',
  'crash amid recovery': 'crash',
  'crash while clients are refused': 'crash',
  'restart fails': 'crash',
  'restart at the end': 'crash',
  'connection refused': 'line',
  'compression comes late': 'bytes',
  'wall clock jumps': 'time',
  'ack just in time': 'acks',
  'ack too late': 'acks',
  'no ack': 'acks',
  'ack twice': 'acks',
  'ack from another connection': 'acks',
  'ack of nothing': 'acks',
  'handler fails': 'acks',
  'payload not understood': 'acks',
  'publish repeated': 'commands',
  'queue deleted': 'commands',
  'queue created anew': 'commands',
  'queue purged': 'commands',
  unsubscribed: 'commands',
  'rate exceeded': 'commands',
  'shutdown amid work': 'end',
  'shutdown at rest': 'end',
} as const;

export type Fault = keyof typeof faults;

export type Counts = Record<string, number>;

/** Everything that must occur, by name. */
export function expectedNames(): readonly string[] {
  return [...Object.keys(faults).map((fault) => `fault: ${fault}`), ...wayNames(), ...pairNames()];
}

/** The ledger of the simulation follows a message to its dead letter and no further; the properties of the core requeue. */
const UNDRAWN_WAYS: readonly string[] = ['way: waiting.requeue'];

function wayNames(): readonly string[] {
  const names = Object.entries(transitions).flatMap(([state, row]) =>
    Object.keys(row).map((event) => `way: ${state}.${event}`),
  );
  return names.filter((name) => !UNDRAWN_WAYS.includes(name));
}

function pairNames(): readonly string[] {
  return Object.keys(DeliveryMode).flatMap((mode) =>
    Object.keys(OverflowStrategy).map((strategy) => `pair: ${mode} ${strategy}`),
  );
}

export class Tally {
  readonly counts: Counts = {};

  fault(fault: Fault): void {
    this.#add(`fault: ${fault}`);
  }

  /** A publish to a queue with these options. */
  pair({ mode, overflowStrategy }: QueueOptions): void {
    this.#add(`pair: ${nameOf(DeliveryMode, mode)} ${nameOf(OverflowStrategy, overflowStrategy)}`);
  }

  way(state: string, event: string): void {
    this.#add(`way: ${state}.${event}`);
  }

  #add(name: string): void {
    this.counts[name] = (this.counts[name] ?? 0) + 1;
  }
}

/** Adds the counts of one run to a sum. */
export function addCounts(sum: Counts, counts: Counts): void {
  for (const [name, count] of Object.entries(counts)) sum[name] = (sum[name] ?? 0) + count;
}

/** Reports every change of a message's state; the result ends that. */
export function watchMessages(tell: (state: string, event: string) => void): () => void {
  const { move } = QueuedMessage.prototype;
  QueuedMessage.prototype.move = function (event) {
    const { state } = this;
    move.call(this, event);
    tell(state, event);
  };
  return () => {
    QueuedMessage.prototype.move = move;
  };
}

function nameOf(values: Readonly<Record<string, number>>, value: number): string {
  return Object.keys(values).find((name) => values[name] === value) ?? String(value);
}
