// In what order messages come. That one comes before another is wrong only when the other was there: so it is remembered who was
// passed, and judged when that one comes on the same connection, or is still there when all is quiet. Clauses: DELIVERY-031, 033,
// 035 to 037. What was sent before and given back is left out: it may rest, and nobody sees for how long.
import type { Breach } from './breach.ts';
import type { Difference, ModelMessage, Queue, State } from './state.ts';
import { isFanOut } from './state.ts';
import { unsentMessages } from './waiting-range.ts';

export type Ordered = { readonly breach?: Breach; readonly differences: readonly Difference[] };

type Overtaking = NonNullable<ModelMessage['overtakenBy']>;

/** Judges that `message` comes on `connection`, and notes in the queue whom it passes. */
export function judgeOrder(
  queue: Queue,
  message: ModelMessage,
  { connection, at }: { readonly connection: number; readonly at: number },
): Ordered {
  const wrong = judgeOvertaken(queue, message, connection);
  if (wrong !== undefined) return wrong;
  // Dead letters are published by nobody: what order they have is the broker's to decide.
  if (message.deadLetter !== undefined) return { differences: [] };
  for (const other of unsentMessages(queue)) {
    if (other.serial === message.serial || other.waitingSince >= at || mayBeGivenBack(other)) continue;
    noteOvertaking(queue, other, message, connection);
  }
  return { differences: [] };
}

/** What comes now was passed before, by something that came on the same connection. */
function judgeOvertaken({ options }: Queue, message: ModelMessage, connection: number): Ordered | undefined {
  const { overtakenOn, overtakenBy } = message;
  if (options.mode !== 'PriorityBased' && !mayBeGivenBack(message) && overtakenOn.includes(connection)) {
    const text = `${message.content.id} comes after a later message of its publisher, to the same subscriber`;
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
  const ids = `${message.content.id} comes before ${other.content.id}`;
  // A next attempt does not wait: it goes to who has its place still, also when something more urgent waits for room.
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
  return { connection, must: false, rule: { clause, text: `${ids}, which waits longer` } };
}

/** All is quiet: who was passed and is still there was passed indeed. The others were passed by chance. */
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

/** It was sent before, seen or not, and waits again: at what place is the broker's to decide. */
function mayBeGivenBack({ sentCount, mayHaveBeenSent }: ModelMessage): boolean {
  return sentCount > 0 || mayHaveBeenSent;
}

/** From the second time on that a message was cut short, it may be kept back for a while. */
export function mayBackOff({ interruptionCount }: ModelMessage): boolean {
  return interruptionCount >= 2;
}
