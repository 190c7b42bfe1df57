// Judges the answers to QueueInfo and ListQueues against a state of the model. Clauses: QUEUE-021 to 028, DLQ-004.
import { deliveryModes } from '../history/operation.ts';
import type { Breach } from './breach.ts';
import { overflowStrategies } from './command.ts';
import type { Difference, Queue, State } from './state.ts';
import type { WaitingRange } from './waiting-range.ts';
import { waitingRange } from './waiting-range.ts';

export type QueueInfo = Readonly<Record<string, unknown>> | undefined;

export type AnswerJudgement = { readonly breach?: Breach; readonly differences: readonly Difference[] };

/** The waiting count of each queue when a question was sent: the answer may show the state at any time until the broker is quiet. */
export type WaitingRanges = ReadonlyMap<string, WaitingRange>;

export function waitingRangesOf(state: State): WaitingRanges {
  return new Map([...state.queues].map(([name, queue]) => [name, waitingRange(queue)]));
}

export function judgeInfo(
  state: State,
  name: string,
  info: QueueInfo,
  before: WaitingRanges | undefined,
): AnswerJudgement {
  const queue = state.queues.get(name);
  if (queue === undefined) {
    const text = `there is queue info for ${name}, which does not exist`;
    return info === undefined ? right : wrong('QUEUE-024', text);
  }
  if (info === undefined) return wrong('QUEUE-021', `there is no queue info for ${name}, which exists`);
  return judgeFields(queue, info) ?? judgeCount(queue, info['messageCount'], before?.get(name));
}

const right: AnswerJudgement = { differences: [] };

function wrong(clause: string, text: string): AnswerJudgement {
  return { breach: { clause, text }, differences: [] };
}

function judgeFields(queue: Queue, info: NonNullable<QueueInfo>): AnswerJudgement | undefined {
  const { name, options, subscribers } = queue;
  const expected: Readonly<Record<string, unknown>> = {
    name,
    deliveryMode: deliveryModes.indexOf(options.mode),
    maxSize: options.maxQueueSize,
    overflowStrategy: overflowStrategies.indexOf(options.overflowStrategy),
    maxRetryAttempts: options.maxRetryAttempts,
    enableDeadLetterQueue: options.enableDeadLetterQueue,
    deadLetterQueueName: options.deadLetterQueueName,
    subscriberCount: subscribers.length,
  };
  // The broker creates a dead letter queue itself; the options of it are only recommended.
  const isMade = options.deadLetterQueue === '' && !options.enableDeadLetterQueue;
  const judged = isMade ? ['name', 'subscriberCount'] : Object.keys(expected);
  // A field that is not set may be null.
  const field = judged.find((key) => (info[key] ?? undefined) !== expected[key]);
  if (field === undefined) return undefined;
  const text = `${field} of ${name} is ${JSON.stringify(info[field])}, not ${JSON.stringify(expected[field])}`;
  return wrong(field === 'subscriberCount' ? 'QUEUE-026' : 'QUEUE-009', text);
}

function judgeCount(queue: Queue, count: unknown, before: WaitingRange | undefined): AnswerJudgement {
  const now = waitingRange(queue);
  const min = Math.min(now.min, before?.min ?? now.min);
  const max = Math.max(now.max, before?.max ?? now.max);
  if (typeof count !== 'number' || count < min || count > max) {
    const range = min === max ? `${min}` : `${min} to ${max}`;
    return wrong('QUEUE-025', `messageCount of ${queue.name} is ${JSON.stringify(count)}, not ${range}`);
  }
  const isFanOut = queue.options.mode === 'FanOutWithAck';
  const text = 'messageCount leaves out a FanOutWithAck message whose copy for a subscriber is not sent yet';
  const isUsual = count >= Math.min(now.usual, before?.usual ?? now.usual) || !isFanOut;
  return isUsual ? right : { differences: [{ clause: 'DELIVERY-018', text }] };
}

/** `known`: all queue names of the scenario. */
export function judgeList(state: State, names: readonly string[], known: readonly string[]): AnswerJudgement {
  const listed = new Set(names);
  const extra = known.find((name) => listed.has(name) && !state.queues.has(name));
  if (extra !== undefined) return wrong('QUEUE-028', `${extra} is listed but does not exist`);
  const made = [...state.queues.values()].filter(({ options }) => options.enableDeadLetterQueue);
  const deadLetterQueueNames = new Set(made.map(({ options }) => options.deadLetterQueue));
  const absent = [...state.queues.keys()].filter((name) => !listed.has(name));
  const [missing] = absent.filter((name) => !deadLetterQueueNames.has(name));
  if (missing !== undefined) return wrong('QUEUE-028', `${missing} exists but is not listed`);
  const text = 'the dead letter queue is not created together with its source queue';
  return absent.length === 0 ? right : { differences: [{ clause: 'DLQ-004', text }] };
}
