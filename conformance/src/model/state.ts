// One possible state of the broker: what may be in its queues after all that was seen. The model holds several at a time, one for
// each way in which the broker may have taken what the specification leaves open. Plain data, copied where ways part.
import type { DeliveryMode } from '../history/operation.ts';
import type { OverflowStrategy } from './command.ts';
import type { WaitingRange } from './waiting-range.ts';

export type ModelQueueOptions = {
  readonly mode: DeliveryMode;
  readonly maxQueueSize: number;
  readonly overflowStrategy: OverflowStrategy;
  readonly maxRetryAttempts: number;
  readonly enableDeadLetterQueue: boolean;
  /** The dead letter queue, under whatever name; empty: there is none, or its name is not known. */
  readonly deadLetterQueue: string;
  /** The name that was given; undefined: generated. */
  readonly deadLetterQueueName: string | undefined;
};

/** What was published; never changes. */
export type Content = {
  readonly id: string;
  readonly payload: string;
  readonly headers: Readonly<Record<string, string>>;
  /** 0 Low .. 3 Critical. */
  readonly priority: number;
};

/** What a member of a fan-out has of a message. */
export type Copy = {
  member: number;
  phase: 'owed' | 'held' | 'paused' | 'acknowledged' | 'failed' | 'gone';
  failedCount: number;
};

export type ModelMessage = {
  /** The place in publish order over all queues. */
  serial: number;
  content: Content;
  /** The connection that published it; a dead letter has none. */
  publisher: number | undefined;
  phase: 'waiting' | 'held' | 'paused';
  holder: number | undefined;
  /** The last connection that it was sent on. */
  lastHolder: number | undefined;
  sentCount: number;
  /** Every sending was seen. */
  isCounted: boolean;
  /** It waited when a subscriber left with a connection, and may have been under way to it. */
  mayHaveBeenSent: boolean;
  failedCount: number;
  /** How often in a row its delivery was cut short; from the second time on it may rest. */
  interruptionCount: number;
  /** The command since which it waits. */
  waitingSince: number;
  /** Members that a fan-out may have: those present at some time while it waited. */
  audiences: readonly (readonly number[])[];
  /** Undefined until the first copy was seen. */
  copies: Copy[] | undefined;
  /** Connections that have acknowledged a copy of it, and may be left out when it waits again. */
  acknowledgedBy: readonly number[];
  /** It was pushed out when some of its copies had been sent. */
  isDropped: boolean;
  /** The reason of the first copy that failed. */
  failure: string | undefined;
  deadLetter: DeadLetter | undefined;
  /** Connections on which a later message of the same publisher has come before this one. */
  overtakenOn: readonly number[];
  /** A message that came although this one should have come before it, on which connection, and which rule says so. */
  overtakenBy: { readonly connection: number; readonly rule: Difference; readonly must: boolean } | undefined;
};

export type Queue = {
  name: string;
  options: ModelQueueOptions;
  messages: ModelMessage[];
  /** Connections in the order in which they subscribed. */
  subscribers: number[];
  /** Connections that have unsubscribed at some time: what they hold since then may be without a next attempt, also if they came back. */
  formerSubscribers: readonly number[];
  /** Its subscriptions are older than the queue, which was deleted and made again: in what order they came alive is not known. */
  wasRecreated: boolean;
  /** The subscribers that were served since all of them were idle; undefined while that is not known. */
  servedThisRound: number[] | undefined;
};

/** A rule that the broker has decided otherwise than recommended. */
export type Difference = { readonly clause: string; readonly text: string };

/** `publishedAs`: its serial in the queue that it left. */
export type DeadLetter = {
  readonly reason: string;
  readonly source: string;
  readonly attempts: number;
  readonly publishedAs: number;
};

/** A message that was in flight when its queue was deleted. `at`: the command that deleted it. */
export type DeletedInFlightMessage = {
  readonly queue: string;
  readonly message: ModelMessage;
  readonly holders: readonly number[];
  readonly at: number;
  /** It was not seen in flight: it waited, and may have been on its way. */
  readonly isUnseen: boolean;
};

export type State = {
  queues: Map<string, Queue>;
  /** Subscriptions to queues that do not exist. */
  dormant: Map<string, number[]>;
  /** Messages of deleted queues that were in flight. */
  deletedInFlight: readonly DeletedInFlightMessage[];
  /** The subscription that a Subscribe is about to begin: the broker may know of it before its answer is seen. */
  starting: { readonly connection: number; readonly queue: string } | undefined;
  /** The subscription that an Unsubscribe is about to end. */
  ending: { readonly connection: number; readonly queue: string } | undefined;
  /** What the command under way must be answered by. */
  answer: 'positive' | 'error' | 'either' | undefined;
  /** How many messages waited in each queue when the question under way was asked: the answer may be of any time since. */
  countsWhenAsked: ReadonlyMap<string, WaitingRange> | undefined;
  /** Differences to be noted when the answer is positive, or an Error. */
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

/** The same text for states that nothing can tell apart but what they differ from the recommendations in. */
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

/** A copy of the state with a difference noted; the same clause once only. */
export function withDifference(state: State, difference: Difference | undefined): State {
  if (difference === undefined) return state;
  if (state.differences.some(({ clause }) => clause === difference.clause)) return state;
  return { ...state, differences: [...state.differences, difference] };
}
