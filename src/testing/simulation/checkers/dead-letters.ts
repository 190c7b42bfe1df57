// Each dead letter has a reason that fits what was observed of the message in its source queue (DLQ, NACK, TTL).

import { OverflowStrategy } from '../../../model/overflow-strategy.ts';
import type { QueueOptions } from '../../../model/queue-options.ts';
import type { Ledger } from '../ledger.ts';
import type { Copy, SeenLetter, SeenMessage } from '../ledger-entries.ts';
import { type Checker, describeMessage, isOneSubscriberMode } from './checker.ts';

export function deadLettersChecker(): Checker {
  return (fact, ledger, complain) => {
    if (fact.kind !== 'delivered' || !fact.copy.isDeadLetter) return;
    const { message } = fact.copy;
    const { letter, options } = message;
    if (letter === undefined || letter.sendCount > 1) return;
    const what = `${describeMessage(message)}, a dead letter for ${letter.reason},`;
    if (letter.source !== message.queue) complain(`${what} says that it comes from ${letter.source}`);
    if (!ledger.batches.some(({ wallAt }) => wallAt === letter.wallAt))
      complain(`${what} has a time of its own`);
    if (options === undefined || ledger.isDisturbed(message.queue, message.acceptedEpoch)) return;
    const queue = options.deadLetterQueueName ?? `${message.queue}.dlq`;
    if (!options.enableDeadLetterQueue || letter.queue !== queue) complain(`${what} is in ${letter.queue}`);
    if (isOneSubscriberMode(options) && message.copies.some(wasAcknowledged))
      complain(`${what} had been acknowledged`);
    const wrong = contradiction(message, letter, options, ledger);
    if (wrong !== undefined) complain(`${what} ${wrong}`);
  };
}

function wasAcknowledged({ settledEpoch, wasRefusedForGood }: Copy): boolean {
  return settledEpoch !== undefined && !wasRefusedForGood;
}

/** The contradiction to the reason; undefined if there is none. */
function contradiction(
  message: SeenMessage,
  letter: SeenLetter,
  options: QueueOptions,
  ledger: Ledger,
): string | undefined {
  switch (letter.reason) {
    case 'MaxRetriesExceeded':
      return tooFewAttempts(message, letter, options, ledger);
    case 'HandlerException':
      return wasRefused(message, 'HandlerException')
        ? tooFewAttempts(message, letter, options, ledger)
        : 'was never refused so';
    case 'DeserializationError':
      return wasRefused(message, 'DeserializationError') ? undefined : 'was never refused so';
    case 'MessageExpired':
      return isOldEnough(message, letter, options, ledger) ? undefined : 'was not old enough';
    case 'QueueOverflow':
      if (options.overflowStrategy !== OverflowStrategy.RedirectToDlq)
        return 'is from a queue that does not redirect';
      return message.sendCount === 0 ? undefined : 'had been delivered';
    default:
      return 'has a reason that does not exist';
  }
}

function tooFewAttempts(
  message: SeenMessage,
  letter: SeenLetter,
  { maxRetryAttempts, mode }: QueueOptions,
  ledger: Ledger,
): string | undefined {
  if (letter.attempts !== maxRetryAttempts) return `says ${letter.attempts} attempts, of ${maxRetryAttempts}`;
  if (ledger.leftCount > 0) return undefined;
  const sent = isOneSubscriberMode({ mode } as QueueOptions)
    ? message.sendCount
    : Math.max(0, ...message.copies.map(({ sends }) => sends.length));
  return sent >= maxRetryAttempts ? undefined : `was sent ${sent} times, of ${maxRetryAttempts}`;
}

function wasRefused({ copies }: SeenMessage, reason: string): boolean {
  return copies.some(({ possibleAcks }) =>
    possibleAcks.some(({ failureReason }) => failureReason === reason),
  );
}

function isOldEnough(
  message: SeenMessage,
  letter: SeenLetter,
  options: QueueOptions,
  ledger: Ledger,
): boolean {
  const ttl = options.messageTtlMs;
  if (ttl === undefined) return false;
  const letterAt =
    ledger.batches.findLast(({ wallAt }) => wallAt === letter.wallAt)?.at ?? Number.POSITIVE_INFINITY;
  return message.state !== 'accepted' || letterAt - ledger.batchAt(message.acceptedEpoch) >= ttl;
}
