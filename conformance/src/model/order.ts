// In what order messages come. That one comes before another is wrong only when the other was there: so it is remembered who was
// passed, and judged when that one comes on the same connection, or is still there when all is quiet. Clauses: DELIVERY-031, 033,
// 035 to 037. What was sent before and given back is left out: it may rest, and nobody sees for how long.
import type { Breach } from './breach.ts';
import type { Difference, Message, Queue, State } from './state.ts';
import { isFanOut } from './state.ts';
import { plainlyWaiting } from './waiting.ts';

export type Ordered = { readonly breach?: Breach; readonly differences: readonly Difference[] };

type Passed = NonNullable<Message['passedBy']>;

/** Judges that `message` comes on `connection`, and notes in the queue whom it passes. */
export function judgeOrder(
  queue: Queue,
  message: Message,
  { connection, at }: { readonly connection: number; readonly at: number },
): Ordered {
  const wrong = overtaken(queue, message, connection);
  if (wrong !== undefined) return wrong;
  // Dead letters are published by nobody: what order they have is the broker's to decide.
  if (message.letter !== undefined) return { differences: [] };
  for (const other of plainlyWaiting(queue)) {
    if (other.serial === message.serial || other.waitingSince >= at || mayBeGivenBack(other)) continue;
    notePassing(queue, other, message, connection);
  }
  return { differences: [] };
}

/** What comes now was passed before, by something that came on the same connection. */
function overtaken({ options }: Queue, message: Message, connection: number): Ordered | undefined {
  const { overtakenOn, passedBy } = message;
  if (options.mode !== 'PriorityBased' && !mayBeGivenBack(message) && overtakenOn.includes(connection)) {
    const text = `${message.content.id} comes after a later message of its publisher, to the same subscriber`;
    return { breach: { clause: 'DELIVERY-035', text }, differences: [] };
  }
  if (passedBy === undefined || passedBy.connection !== connection) return undefined;
  return passedBy.must ? { breach: passedBy.rule, differences: [] } : { differences: [passedBy.rule] };
}

function notePassing(queue: Queue, other: Message, message: Message, connection: number): void {
  const isLater = message.serial > other.serial;
  const isFirst = message.sentCount === 0 && !mayBeGivenBack(other);
  if (isLater && message.publisher === other.publisher && isFirst)
    other.overtakenOn = [...other.overtakenOn, connection];
  const passed = passing(queue, other, message, connection);
  if (passed !== undefined) other.passedBy ??= passed;
}

function passing(queue: Queue, other: Message, message: Message, connection: number): Passed | undefined {
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
export function judgePassed(state: State): {
  readonly breach?: Breach;
  readonly differences: readonly Difference[];
} {
  const differences: Difference[] = [];
  let breach: Breach | undefined;
  for (const queue of state.queues.values()) {
    for (const message of queue.messages) {
      const { passedBy } = message;
      message.passedBy = undefined;
      if (passedBy === undefined || message.phase !== 'waiting' || message.copies !== undefined) continue;
      if (passedBy.must) breach ??= passedBy.rule;
      else differences.push(passedBy.rule);
    }
  }
  return breach === undefined ? { differences } : { breach, differences };
}

/** It was sent before, seen or not, and waits again: at what place is the broker's to decide. */
function mayBeGivenBack({ sentCount, mayHaveBeenSent }: Message): boolean {
  return sentCount > 0 || mayHaveBeenSent;
}

/** From the second time on that a message was cut short, it may be kept back for a while. */
export function mayRest({ cutCount }: Message): boolean {
  return cutCount >= 2;
}
