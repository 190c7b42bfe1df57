// What the page says in words: the state of the broker, the trouble of a queue, its options. Pure.

import type { Health, QueueFacts } from '../../live/live-events.ts';
import type { Phase, Refusal } from '../live/live-store.ts';
import type { QueueRow } from '../live/queue-row.ts';
import { countOf, formatAge, formatCount } from './format.ts';

/** The first line of the overview. `now` by the broker's clock. */
export function healthSentence(health: Health, queues: Iterable<QueueRow>, now: number): string {
  const state = health.isHealthy
    ? 'Healthy.'
    : `Unhealthy: ${health.reasons.join(' ') || 'no reason given.'}`;
  return `${state} ${waitingSentence([...queues], now)}`;
}

/** The first line of the overview before the first snapshot. */
export function connectionSentence(phase: Phase, refusal: Refusal | undefined): string {
  if (phase !== 'lost') return 'Connecting to the broker …';
  if (refusal !== undefined) return 'The broker answers, but shows this page nothing.';
  return 'The broker does not answer. Check that it runs, and that its dashboard is at this address; the page tries again every second.';
}

/** Why the broker gives no live values, and what to do. */
export function refusalSentence({ status, detail }: Refusal): string {
  if (status === 401) return `${detail} To enter a name and a password again, reload the page.`;
  if (status === 403) return `${detail} When it is allowed again, reload the page.`;
  return `${detail} The page tries again every 5 seconds; what it shows is old until then.`;
}

function waitingSentence(rows: readonly QueueRow[], now: number): string {
  const waiting = rows.filter(({ waitingCount }) => waitingCount > 0);
  const queues = countOf(rows.length, 'queue');
  if (rows.length === 0) return 'There are no queues.';
  if (waiting.length === 0) return `No message waits in ${queues}.`;
  const count = waiting.reduce((sum, { waitingCount }) => sum + waitingCount, 0);
  const oldestAt = waiting.reduce(
    (least, row) => (row.oldestAt > 0 ? Math.min(least, row.oldestAt) : least),
    Infinity,
  );
  const age = Number.isFinite(oldestAt) ? `; oldest ${formatAge(now - oldestAt)}` : '';
  const verb = count === 1 ? 'waits' : 'wait';
  return `${countOf(count, 'message')} ${verb} in ${formatCount(waiting.length)} of ${queues}${age}.`;
}

export type Trouble = 'no subscribers' | 'not acknowledging' | `full (${string})`;

/** What is wrong with a queue, the worst first. A queue of dead letters needs no subscriber. */
export function troublesOf(row: QueueRow): readonly Trouble[] {
  const { facts, waitingCount, subscriberCount, deadLetterCount } = row;
  const troubles: Trouble[] = [];
  if (waitingCount >= facts.maxQueueSize) troubles.push(`full (${facts.overflowStrategy})`);
  if (row.isNotAcknowledging) troubles.push('not acknowledging');
  if (waitingCount > deadLetterCount && subscriberCount === 0) troubles.push('no subscribers');
  return troubles;
}

const modeWords: Readonly<Record<string, string>> = {
  RoundRobin: 'round robin',
  FanOutWithAck: 'fan-out with ack',
  FanOutWithoutAck: 'fan-out without ack',
  PriorityBased: 'priority',
};

/** A delivery mode in small letters; a name that is not known as it is. */
export function modeWord(mode: string): string {
  return modeWords[mode] ?? mode;
}

/** `Round robin; dropped to 10 000 messages, oldest first; retries 3 times, then orders.dlq.` */
export function optionsSentence(facts: QueueFacts): string {
  const mode = modeWord(facts.deliveryMode);
  const parts = [
    mode.charAt(0).toUpperCase() + mode.slice(1),
    overflowWords(facts),
    ...(facts.messageTtlMs === null ? [] : [`messages expire after ${formatAge(facts.messageTtlMs)}`]),
    retryWords(facts),
  ];
  return `${parts.join('; ')}.`;
}

function overflowWords({ overflowStrategy, maxQueueSize, deadLetterQueueName }: QueueFacts): string {
  const size = countOf(maxQueueSize, 'message');
  switch (overflowStrategy) {
    case 'DropOldest':
      return `dropped to ${size}, oldest first`;
    case 'DropNewest':
      return `at most ${size}, new ones are dropped`;
    case 'BlockPublisher':
      return `at most ${size}, then publishers wait`;
    case 'RedirectToDlq':
      return `at most ${size}, new ones go to ${deadLetterQueueName ?? 'the dead letter queue'}`;
    default:
      return `at most ${size} (${overflowStrategy})`;
  }
}

function retryWords({ deliveryMode, maxRetryAttempts, deadLetterQueueName }: QueueFacts): string {
  if (deliveryMode === 'FanOutWithoutAck') return 'sent once, without acknowledgment';
  const times = maxRetryAttempts === 1 ? 'once' : `${formatCount(maxRetryAttempts)} times`;
  return `retries ${times}, then ${deadLetterQueueName ?? 'the message is dropped'}`;
}
