// The runner's own idea of a broker: it does not say what a broker does, but what it may do. It keeps every state that explains all
// that was seen; where a rule leaves a choice, ways part, and what comes next tells them apart. When no state is left, the broker has
// broken a rule, whatever it chose. It knows no connection and no time. Areas: QUEUE, PUBLISH, OVERFLOW, DELIVERY, DLQ, NACK.
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

/** What is over with the answer to its command. */
const endedByAnswer = { starting: undefined, ending: undefined } as const;

/** More ways than these are not followed. */
const maxStates = 200;

export type Transition = (state: State) => readonly State[];

/** The model has no state left: what was seen cannot be. */
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
  /** What a queue made on demand is like; undefined where that is not known. */
  readonly #defaults: ModelQueueOptions | undefined;
  readonly #known: ReadonlySet<string>;

  /** `known`: recommendations that this broker is known to have decided otherwise: such a way is as likely as any. */
  constructor(defaults: ModelQueueOptions | undefined, known: ReadonlySet<string> = new Set()) {
    this.#defaults = defaults;
    this.#known = known;
  }

  /** Too many ways have parted: the one that the broker has taken may not be among those that are followed. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** What the broker decided otherwise than recommended, on the way with the fewest such decisions. */
  get differences(): readonly Difference[] {
    return this.#states[0]?.differences ?? [];
  }

  // --- commands: what may follow from sending them ---

  publish(publication: Publication): void {
    this.#step((state) => {
      if (state.queues.has(publication.queue)) return afterPublish(state, publication);
      return afterPublish(withQueue(state, publication.queue, this.#autoCreateOptions()), publication);
    });
  }

  /** `otherwise`: the recommendation by which the Ack means what it means; without it it may mean nothing. */
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

  /** Where there is no subscription, not any more or never, an Error is only not recommended. */
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

  /** A queue that exists is never changed; whether it is an Error to create it again is only recommended. */
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

  /** Its messages are gone; its subscriptions stay registered, or end. */
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

  /** The command has no effect, or none before its answer. */
  ask(): void {
    this.#step((state) => [
      { ...copyOf(state), answer: 'positive', countsWhenAsked: waitingRangesOf(state) },
    ]);
  }

  /** A missing queue is made on demand, or not; a dead letter queue should be there before it is needed. */
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

  // --- what comes ---

  answered(isError: boolean, { clause, what }: { readonly clause: string; readonly what: string }): void {
    const text = isError ? `${what} is refused` : `${what} is answered as if it were right`;
    this.#explain((state) => {
      const { answer, onAnswer } = state;
      const fits = answer === 'either' || answer === (isError ? 'error' : 'positive');
      if (!fits) return { states: [], breach: { clause, text } };
      const next: State = { ...copyOf(state), answer: undefined, onAnswer: {}, ...endedByAnswer };
      return { states: [withDifference(next, isError ? onAnswer.error : onAnswer.positive)] };
    });
  }

  /**
   * SubscribeAck: from here on deliveries may come. A missing queue is there now, but where the connection had subscribed to it
   * before: that a second Subscribe changes nothing is as right.
   */
  subscribed(connection: number, name: string): void {
    const difference = { clause: 'QUEUE-047', text: 'Subscribe to a missing queue does not make it' };
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

  // --- when all is quiet ---

  /**
   * What is still waited for; undefined when one of the likeliest states, those with the fewest differences, waits for nothing. The
   * others may be what the broker is in, but that shows only when nothing comes.
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

  /** The time to wait is over: the broker is in none of the states that still wait for something. */
  overdue(late: boolean): void {
    this.#explain((state) => {
      const breach = firstDue(state, late);
      return breach === undefined ? { states: [state] } : { states: [], breach };
    });
  }

  /** Nothing is under way. */
  quiet(): void {
    this.#explain((state) => {
      const next = copyOf(state);
      next.deletedInFlight = next.deletedInFlight.filter(({ isUnseen }) => !isUnseen);
      return explained(next, judgeOvertakings(next));
    });
  }

  /** Whether the queue exists, whatever the broker chose. */
  has(name: string): boolean {
    return this.#states.every(({ queues }) => queues.has(name));
  }

  /** Whether the queue may exist. */
  mayHave(name: string): boolean {
    return this.#states.some(({ queues }) => queues.has(name));
  }

  /** The queues that may hold messages and have no subscriber. */
  unserved(): readonly string[] {
    const queues = this.#states.flatMap((state) => [...state.queues.values()]);
    const unserved = queues.filter(
      ({ messages, subscribers }) => messages.length > 0 && subscribers.length === 0,
    );
    return [...new Set(unserved.map(({ name }) => name))];
  }

  /** How many subscribers the queue may have. */
  subscriberCounts(name: string): readonly unknown[] {
    return this.#states.map((state) => state.queues.get(name)?.subscribers.length);
  }

  #costOf({ differences }: State): number {
    return differences.filter(({ clause }) => !this.#known.has(clause)).length;
  }

  /** Where nothing is known of the defaults, nobody looks at more than the name and the subscribers of such a queue. */
  #autoCreateOptions(): ModelQueueOptions {
    return this.#defaults ?? unknownOptions;
  }

  #step(step: Transition): void {
    this.#keep(this.#states.flatMap(step));
  }

  #explain(explain: (state: State) => Explanation): void {
    const all = this.#states.map(explain);
    const states = all.flatMap((one) => one.states);
    const breach = all[0]?.breach;
    if (states.length === 0 && this.#isLost) return;
    if (states.length === 0 && breach !== undefined) throw new BrokenRule(breach);
    this.#keep(states);
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

/** Its messages go with it; its subscriptions stay registered, or end. */
function withoutQueue(state: State, queue: Queue, at: number): readonly State[] {
  const next = copyOf(state);
  next.queues.delete(queue.name);
  next.deletedInFlight = [...next.deletedInFlight, ...deletedInFlightOf(queue, at)];
  if (queue.subscribers.length === 0) return [next];
  const text = 'subscriptions to a deleted queue are forgotten';
  const forgotten = withDifference(copyOf(next), { clause: 'QUEUE-016', text });
  next.dormant.set(queue.name, queue.subscribers);
  return [next, forgotten];
}

/** The dead letter queue is made when it is needed, and where its name was not given, under a name that nobody has told. */
function withDeadLetterQueueLater(made: State, name: string): readonly State[] {
  const text = 'a dead letter queue is not made together with its source';
  const lazy = withDifference(copyOf(made), { clause: 'DLQ-004', text });
  const { options } = queueOf(made, name);
  if (options.deadLetterQueueName !== undefined) return [lazy];
  const hidden = withDifference(copyOf(made), {
    clause: 'DLQ-003',
    text: 'a dead letter queue without a given name is not <queue>.dlq',
  });
  queueOf(hidden, name).options = { ...options, deadLetterQueue: '' };
  return [lazy, hidden];
}

function explained(state: State, judged: AnswerJudgement | undefined): Explanation {
  if (judged?.breach !== undefined) return { states: [], breach: judged.breach };
  const differences = judged?.differences ?? [];
  return { states: [differences.reduce<State>((next, one) => withDifference(next, one), state)] };
}

/** Under what name the dead letters are kept is not among the options. */
function isSameOptions(live: ModelQueueOptions, wanted: ModelQueueOptions): boolean {
  return isDeepStrictEqual({ ...live, deadLetterQueue: '' }, { ...wanted, deadLetterQueue: '' });
}

function againDifference(isBare: boolean, isSame: boolean): State['onAnswer'] {
  if (!isBare && !isSame)
    return { positive: { clause: 'QUEUE-012', text: 'other options for an existing queue are no Error' } };
  const clause = isBare ? 'QUEUE-010' : 'QUEUE-011';
  return { error: { clause, text: 'CreateQueue for an existing queue is refused' } };
}

/** What was in flight lives on, or not; what waited may have been on its way. */
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
