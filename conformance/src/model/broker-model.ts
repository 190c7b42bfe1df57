// A model of a broker that describes everything a broker may do. It keeps all states that explain what the runner saw. Where a rule
// leaves a choice, it keeps one state for each choice, and later observations remove the wrong ones. When no state is left, the broker
// has broken a rule. It knows no connection and no time. Areas: QUEUE, PUBLISH, OVERFLOW, DELIVERY, DLQ, NACK.
import { isDeepStrictEqual } from 'node:util';
import type { Breach, Explanation } from './breach.ts';
import type { FailureReason } from './command.ts';
import type { SeenDelivery } from './delivery.ts';
import { afterDelivery } from './delivery.ts';
import type { NamedDelivery } from './delivery-end.ts';
import { afterAck, afterConnectionEnd, afterNack, afterUnsubscribe } from './delivery-end.ts';
import { judgeOvertakings } from './delivery-order.ts';
import { firstDue } from './due-deliveries.ts';
import type { AnswerJudgement, QueueInfo } from './queue-answers.ts';
import { judgeInfo, judgeList, waitingRangesOf } from './queue-answers.ts';
import type { Publication } from './queue-entry.ts';
import { afterPublish, deadLetterQueueOptions, queueOf, withQueue } from './queue-entry.ts';
import type { Difference, ModelMessage, ModelQueueOptions, Queue, State } from './state.ts';
import { copyOf, emptyState, stateKey, withDifference } from './state.ts';

const unknownOptions: ModelQueueOptions = {
  mode: 'RoundRobin',
  maxQueueSize: Number.POSITIVE_INFINITY,
  overflowStrategy: 'DropOldest',
  maxRetryAttempts: Number.POSITIVE_INFINITY,
  enableDeadLetterQueue: false,
  deadLetterQueue: '',
  deadLetterQueueName: undefined,
};

/** The parts of a state that end with the answer to the current command. */
const endedByAnswer = { starting: undefined, ending: undefined } as const;

/** The model keeps at most this many states. */
const maxStates = 200;

export type Transition = (state: State) => readonly State[];

/** No state of the model explains what the runner saw. */
export class BrokenRule extends Error {
  readonly breach: Breach;

  constructor(breach: Breach) {
    super(breach.text);
    this.name = 'BrokenRule';
    this.breach = breach;
  }
}

export class BrokerModel {
  #states: readonly State[] = [emptyState()];
  #isLost = false;
  /** The options of an auto-created queue; undefined if not known. */
  readonly #defaults: ModelQueueOptions | undefined;
  readonly #known: ReadonlySet<string>;

  /** `known`: clauses of recommendations that this broker is known not to follow: such a state is as likely as any other. */
  constructor(defaults: ModelQueueOptions | undefined, known: ReadonlySet<string> = new Set()) {
    this.#defaults = defaults;
    this.#known = known;
  }

  /** The broker may be in none of the states: there were too many of them, or none could follow what came. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** The recommendations that the broker does not follow, in the state with the fewest of them. */
  get differences(): readonly Difference[] {
    return this.#states[0]?.differences ?? [];
  }

  // --- commands that the runner sends ---

  publish(publication: Publication): void {
    this.#step((state) => {
      if (state.queues.has(publication.queue)) return afterPublish(state, publication);
      return afterPublish(withQueue(state, publication.queue, this.#autoCreateOptions()), publication);
    });
  }

  /** `otherwise`: the difference to record if the broker ignores this form of Ack; undefined if it must not ignore it. */
  acknowledge(named: NamedDelivery, otherwise?: Difference): void {
    this.#step((state) => {
      const counted = afterAck(state, named);
      return otherwise === undefined ? counted : [...counted, withDifference(copyOf(state), otherwise)];
    });
  }

  refuse(connection: number, id: string, reason: FailureReason, at: number): void {
    this.#step((state) => afterNack(state, { connection, id, queue: undefined, at }, reason));
  }

  leave(connection: number, at: number): void {
    this.#step((state) => afterConnectionEnd(state, connection, at));
  }

  /** Without a subscription the broker should answer positively; an Error is allowed. */
  unsubscribe(connection: number, queue: string, at: number): void {
    const error: Difference = {
      clause: 'DELIVERY-063',
      text: 'Unsubscribe without a subscription is refused',
    };
    this.#step((state) => {
      const isThere = state.queues.get(queue)?.subscribers.includes(connection) === true;
      const answered = isThere
        ? ({ answer: 'positive' } as const)
        : ({ answer: 'either', onAnswer: { error } } as const);
      return afterUnsubscribe(state, queue, connection, at).map((next) => ({ ...next, ...answered }));
    });
  }

  /** An existing queue never changes; whether creating it again is an Error is only recommended. */
  create(name: string, options: ModelQueueOptions, isBare: boolean): void {
    this.#step((state) => {
      const live = state.queues.get(name);
      if (live !== undefined) {
        const onAnswer = againDifference(isBare, isSameOptions(live.options, options));
        return [{ ...copyOf(state), answer: 'either', onAnswer }];
      }
      const made = { ...withQueue(state, name, options), answer: 'positive' } as const;
      const { enableDeadLetterQueue, deadLetterQueue } = options;
      if (!enableDeadLetterQueue) return [made];
      return [
        withQueue(made, deadLetterQueue, deadLetterQueueOptions(queueOf(made, name))),
        ...withDeadLetterQueueLater(made, name),
      ];
    });
  }

  /** The messages are removed; the subscriptions stay dormant, or end. */
  delete(name: string, at: number): void {
    this.#step((state) => {
      const queue = state.queues.get(name);
      const error: Difference = { clause: 'QUEUE-015', text: 'DeleteQueue of a missing queue is refused' };
      if (queue === undefined) return [{ ...copyOf(state), answer: 'either', onAnswer: { error } }];
      const deleted = withoutQueue({ ...copyOf(state), answer: 'positive' }, queue, at);
      const deadLetterQueue = state.queues.get(queue.options.deadLetterQueue);
      if (deadLetterQueue === undefined) return deleted;
      const text = 'the dead letter queue of a deleted queue is deleted too';
      const both = deleted.flatMap((next) => withoutQueue(next, deadLetterQueue, at));
      return [...deleted, ...both.map((next) => withDifference(next, { clause: 'QUEUE-020', text }))];
    });
  }

  /** A command that changes nothing: QueueInfo or ListQueues. */
  ask(): void {
    this.#step((state) => [
      { ...copyOf(state), answer: 'positive', countsWhenAsked: waitingRangesOf(state) },
    ]);
  }

  /** The broker may create a missing queue. A dead letter queue should exist before it is needed. */
  subscribe(connection: number, name: string): void {
    const clause = this.#defaults === undefined ? 'DLQ-004' : 'QUEUE-047';
    const missing: Difference = { clause, text: 'Subscribe to a missing queue is refused' };
    const second: Difference = { clause: 'DELIVERY-064', text: 'a second Subscribe is refused' };
    this.#step((state) => {
      const queue = state.queues.get(name);
      const error = queue === undefined ? missing : second;
      const isFree = queue === undefined || queue.subscribers.includes(connection);
      return [
        {
          ...copyOf(state),
          starting: { connection, queue: name },
          ...(isFree ? { answer: 'either', onAnswer: { error } } : { answer: 'positive' }),
        },
      ];
    });
  }

  // --- what the runner receives ---

  answered(isError: boolean, { clause, what }: { readonly clause: string; readonly what: string }): void {
    const text = isError ? `${what} is refused` : `${what} is accepted, not refused`;
    this.#explain((state) => {
      const { answer, onAnswer } = state;
      const fits = answer === 'either' || answer === (isError ? 'error' : 'positive');
      if (!fits) return { states: [], breach: { clause, text } };
      const next: State = { ...copyOf(state), answer: undefined, onAnswer: {}, ...endedByAnswer };
      return { states: [withDifference(next, isError ? onAnswer.error : onAnswer.positive)] };
    });
  }

  /**
   * SubscribeAck: deliveries may follow. A missing queue exists now. If the connection had subscribed before, the second Subscribe may
   * also change nothing.
   */
  subscribed(connection: number, name: string): void {
    const difference = { clause: 'QUEUE-047', text: 'Subscribe to a missing queue does not create it' };
    this.#step((state) => {
      if (state.queues.has(name)) return [withSubscriber(copyOf(state), name, connection)];
      const dormant = state.dormant.get(name) ?? [];
      const wasThere = dormant.includes(connection);
      const unmade = copyOf(state);
      if (!wasThere) unmade.dormant.set(name, [...dormant, connection]);
      const made = withSubscriber(withQueue(state, name, this.#autoCreateOptions()), name, connection);
      return [made, wasThere ? unmade : withDifference(unmade, difference)];
    });
  }

  delivered(seen: SeenDelivery): void {
    this.#explain((state) => afterDelivery(state, seen));
  }

  info(name: string, info: QueueInfo): void {
    this.#explain((state) => {
      const judged = judgeInfo(state, name, info, state.countsWhenAsked);
      return explained({ ...copyOf(state), countsWhenAsked: undefined }, judged);
    });
  }

  list(names: readonly string[], known: readonly string[]): void {
    this.#explain((state) =>
      explained({ ...copyOf(state), countsWhenAsked: undefined }, judgeList(state, names, known)),
    );
  }

  // --- when the broker is quiet ---

  /**
   * The delivery that is still due; undefined when none is due in one of the likeliest states, which are those with the fewest
   * differences. Whether the broker is in one of the other states shows only when no delivery follows.
   */
  due(late: boolean): Breach | undefined {
    if (this.#isLost) return undefined;
    const [first] = this.#states;
    const likeliest = this.#states.filter(
      (state) => first !== undefined && this.#costOf(state) === this.#costOf(first),
    );
    const all = likeliest.map((state) => firstDue(state, late));
    return all.some((breach) => breach === undefined) ? undefined : all[0];
  }

  /** The wait is over: removes the states in which a delivery is still due. */
  overdue(late: boolean): void {
    this.#explain((state) => {
      const breach = firstDue(state, late);
      return breach === undefined ? { states: [state] } : { states: [], breach };
    });
  }

  /** Everything sent was received: judges the order, and drops deliveries of deleted queues that never came. */
  quiet(): void {
    this.#explain((state) => {
      const next = copyOf(state);
      next.deletedInFlight = next.deletedInFlight.filter(({ isUnseen }) => !isUnseen);
      return explained(next, judgeOvertakings(next));
    });
  }

  /** Whether the queue exists in every state. */
  has(name: string): boolean {
    return this.#states.every(({ queues }) => queues.has(name));
  }

  /** Whether the queue exists in some state. */
  mayHave(name: string): boolean {
    return this.#states.some(({ queues }) => queues.has(name));
  }

  /** The queues that have messages and no subscriber in some state. */
  unserved(): readonly string[] {
    const queues = this.#states.flatMap((state) => [...state.queues.values()]);
    const unserved = queues.filter(
      ({ messages, subscribers }) => messages.length > 0 && subscribers.length === 0,
    );
    return [...new Set(unserved.map(({ name }) => name))];
  }

  /** The number of subscribers of the queue in each state. */
  subscriberCounts(name: string): readonly unknown[] {
    return this.#states.map((state) => state.queues.get(name)?.subscribers.length);
  }

  #costOf({ differences }: State): number {
    return differences.filter(({ clause }) => !this.#known.has(clause)).length;
  }

  /** If the defaults are not known, only the name and the subscribers of such a queue are judged. */
  #autoCreateOptions(): ModelQueueOptions {
    return this.#defaults ?? unknownOptions;
  }

  #step(step: Transition): void {
    this.#keep(this.#states.flatMap(step));
  }

  #explain(explain: (state: State) => Explanation): void {
    const all = this.#states.map(explain);
    const states = all.flatMap((one) => one.states);
    if (states.length > 0) return this.#keep(states);
    // A state that names no rule cannot follow what came, whether the broker may do so or not.
    this.#isLost ||= all.some(({ breach }) => breach === undefined);
    const breach = all[0]?.breach;
    if (!this.#isLost && breach !== undefined) throw new BrokenRule(breach);
  }

  #keep(states: readonly State[]): void {
    if (states.length === 1) {
      this.#states = states;
      return;
    }
    const sorted = [...states].sort((a, b) => this.#costOf(a) - this.#costOf(b));
    const byKey = new Map<string, State>();
    for (const state of sorted) {
      const key = stateKey(state);
      if (!byKey.has(key)) byKey.set(key, state);
    }
    this.#states = [...byKey.values()].slice(0, maxStates);
    this.#isLost ||= byKey.size > maxStates;
  }
}

function withSubscriber(state: State, name: string, connection: number): State {
  const queue = queueOf(state, name);
  if (!queue.subscribers.includes(connection)) queue.subscribers.push(connection);
  queue.servedThisRound = undefined;
  for (const message of queue.messages) message.audiences = [...message.audiences, [...queue.subscribers]];
  return state;
}

/** The states without the queue and its messages; its subscriptions stay dormant, or end. */
function withoutQueue(state: State, queue: Queue, at: number): readonly State[] {
  const next = copyOf(state);
  next.queues.delete(queue.name);
  next.deletedInFlight = [...next.deletedInFlight, ...deletedInFlightOf(queue, at)];
  if (queue.subscribers.length === 0) return [next];
  const text = 'subscriptions to a deleted queue end';
  const forgotten = withDifference(copyOf(next), { clause: 'QUEUE-016', text });
  next.dormant.set(queue.name, queue.subscribers);
  return [next, forgotten];
}

/** The states in which the broker creates the dead letter queue when it needs it, with a generated name that the runner does not know. */
function withDeadLetterQueueLater(made: State, name: string): readonly State[] {
  const text = 'the dead letter queue is not created together with its source queue';
  const lazy = withDifference(copyOf(made), { clause: 'DLQ-004', text });
  const { options } = queueOf(made, name);
  if (options.deadLetterQueueName !== undefined) return [lazy];
  const hidden = withDifference(copyOf(made), {
    clause: 'DLQ-003',
    text: 'the generated name of a dead letter queue is not <queue>.dlq',
  });
  queueOf(hidden, name).options = { ...options, deadLetterQueue: '' };
  return [lazy, hidden];
}

function explained(state: State, judged: AnswerJudgement | undefined): Explanation {
  if (judged?.breach !== undefined) return { states: [], breach: judged.breach };
  const differences = judged?.differences ?? [];
  return { states: [differences.reduce<State>((next, one) => withDifference(next, one), state)] };
}

/** The name of the dead letter queue is not compared: a generated name is not an option. */
function isSameOptions(live: ModelQueueOptions, wanted: ModelQueueOptions): boolean {
  return isDeepStrictEqual({ ...live, deadLetterQueue: '' }, { ...wanted, deadLetterQueue: '' });
}

function againDifference(isBare: boolean, isSame: boolean): State['onAnswer'] {
  if (!isBare && !isSame)
    return {
      positive: {
        clause: 'QUEUE-012',
        text: 'CreateQueue with other options for an existing queue is accepted',
      },
    };
  const clause = isBare ? 'QUEUE-010' : 'QUEUE-011';
  return { error: { clause, text: 'CreateQueue for an existing queue is refused' } };
}

/** The messages of a queue that is deleted: they were in flight, or a delivery may have been under way. */
function deletedInFlightOf(queue: Queue, at: number): State['deletedInFlight'] {
  return queue.messages.map((message) => {
    const isUnseen = message.phase === 'waiting' && message.copies === undefined;
    return { queue: queue.name, message, holders: isUnseen ? [] : holdersOf(message), at, isUnseen };
  });
}

function holdersOf({ holder, copies }: ModelMessage): readonly number[] {
  if (copies !== undefined) return copies.map(({ member }) => member);
  return holder === undefined ? [] : [holder];
}
