// Judges the order of deliveries. A message that overtakes another one is wrong only if the other one was waiting. So the model records
// the overtaking, and judges it when the overtaken message is delivered on the same connection, or still waits when the broker is quiet.
// Messages that were delivered and released before are left out: the broker may back off for an unknown time. Clauses: DELIVERY-031,
// 033, 035 to 037.
import type { Breach } from './breach.ts';
import type { Difference, ModelMessage, Queue, State } from './state.ts';
import { isFanOut } from './state.ts';
import { unsentMessages } from './waiting-range.ts';

export type Ordered = { readonly breach?: Breach; readonly differences: readonly Difference[] };

type Overtaking = NonNullable<ModelMessage['overtakenBy']>;

/** Judges the delivery of `message` on `connection`, and records which messages it overtakes. */
export function judgeOrder(
  queue: Queue,
  message: ModelMessage,
  { connection, at }: { readonly connection: number; readonly at: number },
): Ordered {
  const wrong = judgeOvertaken(queue, message, connection);
  if (wrong !== undefined) return wrong;
  // Dead letters have no publisher: the broker may choose their order.
  if (message.deadLetter !== undefined) return { differences: [] };
  for (const other of unsentMessages(queue)) {
    if (other.serial === message.serial || other.waitingSince >= at || mayBeGivenBack(other)) continue;
    noteOvertaking(queue, other, message, connection);
  }
  return { differences: [] };
}

/** A breach or difference when the message was overtaken on the same connection. */
function judgeOvertaken({ options }: Queue, message: ModelMessage, connection: number): Ordered | undefined {
  const { overtakenOn, overtakenBy } = message;
  if (options.mode !== 'PriorityBased' && !mayBeGivenBack(message) && overtakenOn.includes(connection)) {
    const text = `${message.content.id} is delivered after a later message of its publisher, to the same subscriber`;
    return { breach: { clause: 'DELIVERY-035', text }, differences: [] };
  }
  if (overtakenBy === undefined || overtakenBy.connection !== connection) return undefined;
  return overtakenBy.must
    ? { breach: overtakenBy.rule, differences: [] }
    : { differences: [overtakenBy.rule] };
}

function noteOvertaking(queue: Queue, other: ModelMessage, message: ModelMessage, connection: number): void {
  const isLater = message.serial > other.serial;
  const isFirst = message.sentCount === 0 && !mayBeGivenBack(other);
  if (isLater && message.publisher === other.publisher && isFirst)
    other.overtakenOn = [...other.overtakenOn, connection];
  const passed = overtakingOf(queue, other, message, connection);
  if (passed !== undefined) other.overtakenBy ??= passed;
}

function overtakingOf(
  queue: Queue,
  other: ModelMessage,
  message: ModelMessage,
  connection: number,
): Overtaking | undefined {
  const isPriority = queue.options.mode === 'PriorityBased';
  const ids = `${message.content.id} is delivered before ${other.content.id}`;
  // A next attempt does not wait: its subscriber still has room for it, even when a message of higher priority waits.
  if (message.phase !== 'waiting') return undefined;
  if (isPriority && other.content.priority > message.content.priority) {
    return {
      connection,
      must: true,
      rule: { clause: 'DELIVERY-031', text: `${ids}, which waits with a higher priority` },
    };
  }
  const isEqual = !isPriority || other.content.priority === message.content.priority;
  const isYounger = message.serial > other.serial;
  if (!isEqual || !isYounger || isFanOut(queue)) return undefined;
  const clause = isPriority ? 'DELIVERY-033' : 'DELIVERY-037';
  return { connection, must: false, rule: { clause, text: `${ids}, which has waited longer` } };
}

/** The broker is quiet: a message that still waits was overtaken. The others were released or acknowledged meanwhile. */
export function judgeOvertakings(state: State): {
  readonly breach?: Breach;
  readonly differences: readonly Difference[];
} {
  const differences: Difference[] = [];
  let breach: Breach | undefined;
  for (const queue of state.queues.values()) {
    for (const message of queue.messages) {
      const { overtakenBy } = message;
      message.overtakenBy = undefined;
      if (overtakenBy === undefined || message.phase !== 'waiting' || message.copies !== undefined) continue;
      if (overtakenBy.must) breach ??= overtakenBy.rule;
      else differences.push(overtakenBy.rule);
    }
  }
  return breach === undefined ? { differences } : { breach, differences };
}

/** It was delivered before, seen or not, and waits again: the broker may choose its place. */
function mayBeGivenBack({ sentCount, mayHaveBeenSent }: ModelMessage): boolean {
  return sentCount > 0 || mayHaveBeenSent;
}

/** From the second delivery that ended with its connection, the broker may back off. */
export function mayBackOff({ interruptionCount }: ModelMessage): boolean {
  return interruptionCount >= 2;
}
