// One possible state of the broker: what its queues may contain after everything that the runner saw. The model keeps several states at
// a time, one for each choice that the specification leaves to the broker. Plain data; a state is copied before it is changed.
import type { DeliveryMode } from '../history/operation.ts';
import type { OverflowStrategy } from './command.ts';
import type { WaitingRange } from './waiting-range.ts';

export type ModelQueueOptions = {
  readonly mode: DeliveryMode;
  readonly maxQueueSize: number;
  readonly overflowStrategy: OverflowStrategy;
  readonly maxRetryAttempts: number;
  readonly enableDeadLetterQueue: boolean;
  /** The name of the dead letter queue, given or generated; empty: the queue has none, or its name is not known. */
  readonly deadLetterQueue: string;
  /** The name in the queue options; undefined: the broker generates one. */
  readonly deadLetterQueueName: string | undefined;
};

/** What was published. */
export type Content = {
  readonly id: string;
  readonly payload: string;
  readonly headers: Readonly<Record<string, string>>;
  /** 0 Low .. 3 Critical. */
  readonly priority: number;
};

/** The copy of a fan-out message for one member. */
export type Copy = {
  member: number;
  phase: 'owed' | 'held' | 'paused' | 'acknowledged' | 'failed' | 'gone';
  failedCount: number;
};

export type ModelMessage = {
  /** The place in publish order over all queues. */
  serial: number;
  content: Content;
  /** The connection that published it; undefined for a dead letter. */
  publisher: number | undefined;
  phase: 'waiting' | 'held' | 'paused';
  holder: number | undefined;
  /** The last connection that it was delivered on. */
  lastHolder: number | undefined;
  sentCount: number;
  /** The runner saw every delivery of it, so that `sentCount` is exact. */
  isCounted: boolean;
  /** It waited when the connection of a subscriber ended, so that a delivery to that connection may have been under way. */
  mayHaveBeenSent: boolean;
  failedCount: number;
  /** How many deliveries in a row ended with their connection; from the second on the broker may back off. */
  interruptionCount: number;
  /** The number of the command since which it waits. */
  waitingSince: number;
  /** The possible members of its fan-out: the subscribers at each time while it waited. */
  audiences: readonly (readonly number[])[];
  /** Undefined until the runner saw the first copy. */
  copies: Copy[] | undefined;
  /** Connections that have acknowledged a copy of it. When it waits again, the broker may leave them out. */
  acknowledgedBy: readonly number[];
  /** The overflow strategy dropped it after some of its copies were sent. */
  isDropped: boolean;
  /** The failure reason of the first copy that failed. */
  failure: string | undefined;
  deadLetter: DeadLetter | undefined;
  /** Connections on which a later message of the same publisher was delivered before this one. */
  overtakenOn: readonly number[];
  /** A message that was delivered before this one against a rule: on which connection, and which rule. */
  overtakenBy: { readonly connection: number; readonly rule: Difference; readonly must: boolean } | undefined;
};

export type Queue = {
  name: string;
  options: ModelQueueOptions;
  messages: ModelMessage[];
  /** Connections in the order in which they subscribed. */
  subscribers: number[];
  /** Connections that have unsubscribed at some time: deliveries that they still hold may get no next attempt, even after a new Subscribe. */
  formerSubscribers: readonly number[];
  /** The queue was deleted and created again, and its subscriptions are older: their order is not known. */
  wasRecreated: boolean;
  /** The subscribers that were served since all of them were idle; undefined if not known. */
  servedThisRound: number[] | undefined;
};

/** A recommendation that the broker does not follow. */
export type Difference = { readonly clause: string; readonly text: string };

/**
 * `attempts`: those that failed; undefined where copies failed differently often, because it is open which number counts. `publishedAs`: its
 * serial in its source queue.
 */
export type DeadLetter = {
  readonly reason: string;
  readonly source: string;
  readonly attempts: number | undefined;
  readonly publishedAs: number;
};

/**
 * A message of a deleted queue whose delivery may still be under way or unacknowledged. `at`: the number of the command that deleted the
 * queue.
 */
export type DeletedInFlightMessage = {
  readonly queue: string;
  readonly message: ModelMessage;
  readonly holders: readonly number[];
  readonly at: number;
  /** The runner saw no delivery: the message waited, and a delivery may have been under way. */
  readonly isUnseen: boolean;
};

export type State = {
  queues: Map<string, Queue>;
  /** Subscriptions to queues that do not exist, by queue name. */
  dormant: Map<string, number[]>;
  /** Messages of deleted queues that were or may have been in flight. */
  deletedInFlight: readonly DeletedInFlightMessage[];
  /** The subscription of a Subscribe without an answer so far: the broker may already serve it. */
  starting: { readonly connection: number; readonly queue: string } | undefined;
  /** The subscription of an Unsubscribe without an answer so far. */
  ending: { readonly connection: number; readonly queue: string } | undefined;
  /** The allowed answers to the current command. */
  answer: 'positive' | 'error' | 'either' | undefined;
  /** The waiting counts when the current QueueInfo or ListQueues was sent: the answer may show the state at any time since then. */
  countsWhenAsked: ReadonlyMap<string, WaitingRange> | undefined;
  /** The difference to record if the answer is positive, or if it is an Error. */
  onAnswer: { readonly positive?: Difference; readonly error?: Difference };
  differences: readonly Difference[];
  nextSerial: number;
};

export function emptyState(): State {
  return {
    queues: new Map(),
    dormant: new Map(),
    deletedInFlight: [],
    starting: undefined,
    ending: undefined,
    answer: undefined,
    countsWhenAsked: undefined,
    onAnswer: {},
    differences: [],
    nextSerial: 0,
  };
}

export function copyOf(state: State): State {
  return {
    ...state,
    queues: new Map([...state.queues].map(([name, queue]) => [name, copyOfQueue(queue)])),
    dormant: new Map([...state.dormant].map(([name, connections]) => [name, [...connections]])),
  };
}

function copyOfQueue(queue: Queue): Queue {
  const messages = queue.messages.map((message) => ({
    ...message,
    copies: message.copies?.map((copy) => ({ ...copy })),
  }));
  const servedThisRound = queue.servedThisRound === undefined ? undefined : [...queue.servedThisRound];
  return { ...queue, messages, subscribers: [...queue.subscribers], servedThisRound };
}

/** Equal for states that differ in nothing but their `differences`. */
export function stateKey(state: State): string {
  const { queues, dormant, deletedInFlight, starting, ending, answer, countsWhenAsked } = state;
  return JSON.stringify([
    [...queues],
    [...dormant],
    deletedInFlight,
    starting,
    ending,
    answer,
    [...(countsWhenAsked ?? [])],
  ]);
}

export function isFanOut({ options }: Queue): boolean {
  return options.mode === 'FanOutWithAck' || options.mode === 'FanOutWithoutAck';
}

/** A copy of the state with the difference added, unless it has one for the same clause. */
export function withDifference(state: State, difference: Difference | undefined): State {
  if (difference === undefined) return state;
  if (state.differences.some(({ clause }) => clause === difference.clause)) return state;
  return { ...state, differences: [...state.differences, difference] };
}
