// Checks deliveries: each was published so, goes to a subscriber, and is not settled, expired, refused, or removed with its queue
// (DELIVERY, TTL, DLQ).

import { isDeepStrictEqual } from 'node:util';
import { DeliveryMode } from '../../../model/delivery-mode.ts';
import { HeaderName } from '../../../protocol/header-name.ts';
import type { Message } from '../../../protocol/message.ts';
import type { Fact, Ledger } from '../ledger.ts';
import { sendCountOf } from '../ledger-acks.ts';
import type { Copy, Send } from '../ledger-entries.ts';
import {
  type Checker,
  type Complain,
  cameBack,
  describeCopy,
  describeMessage,
  isOneSubscriberMode,
  isRepeated,
  optionsOf,
  siblingsOf,
} from './checker.ts';

type Delivered = Extract<Fact, { kind: 'delivered' }>;

const addedHeaders: ReadonlySet<string> = new Set([
  HeaderName.DeliveryAttempts,
  HeaderName.DeadLetterReason,
  HeaderName.DeadLetterSource,
  HeaderName.DeadLetterAttempts,
  HeaderName.DeadLetteredAt,
]);

export function deliveriesChecker(): Checker {
  let drainEpoch = Number.POSITIVE_INFINITY;
  return (fact, ledger, complain) => {
    switch (fact.kind) {
      case 'draining':
        drainEpoch = ledger.epoch + 1;
        return;
      case 'lifeEnded':
        drainEpoch = Number.POSITIVE_INFINITY;
        return;
      case 'misdelivered': {
        const { connection, frame, why } = fact;
        complain(`${frame.id} of ${frame.queue} was delivered on connection ${connection.number}: ${why}`);
        return;
      }
      case 'delivered': {
        if (fact.send.epoch > drainEpoch) complain(`${describeCopy(fact.copy)} was delivered while draining`);
        checkContent(fact, complain);
        checkState(fact, ledger, complain);
        checkAge(fact, ledger, complain);
        checkAttempt(fact, ledger, complain);
        return;
      }
      case 'answered': {
        const message = ledger.messages.get(fact.command.sent.published?.number ?? -1);
        if (message?.state === 'refused' && message.copies.length > 0)
          complain(`${describeMessage(message)} was refused and had been delivered`);
        return;
      }
      default:
        return;
    }
  };
}

function checkContent({ copy, frame }: Delivered, complain: Complain): void {
  const { message } = copy;
  const { published } = message;
  const what = describeCopy(copy);
  if (frame.id !== message.id) complain(`${what} has the id ${frame.id}`);
  if (!frame.payload.equals(published.payload)) complain(`${what} has another payload`);
  if (!isDeepStrictEqual(carriedHeaders(frame), published.headers)) complain(`${what} has other headers`);
  if (copy.isDeadLetter) checkLetter(copy, frame, complain);
  else if (frame.queue !== message.queue) complain(`${what} came from ${frame.queue}`);
}

function carriedHeaders({ headers }: Message): ReadonlyMap<string, string> {
  return new Map([...headers].filter(([name]) => !addedHeaders.has(name)));
}

/** A message is dead-lettered once, and its dead letter headers do not change. */
function checkLetter({ message }: Copy, { queue, headers }: Message, complain: Complain): void {
  const { letter } = message;
  if (letter === undefined) return;
  const same =
    letter.queue === queue &&
    letter.reason === headers.get(HeaderName.DeadLetterReason) &&
    letter.source === headers.get(HeaderName.DeadLetterSource) &&
    letter.attempts === Number(headers.get(HeaderName.DeadLetterAttempts)) &&
    letter.wallAt === Date.parse(headers.get(HeaderName.DeadLetteredAt) ?? '');
  if (!same) complain(`${describeMessage(message)} was dead-lettered a second time`);
}

function checkState({ copy, send }: Delivered, ledger: Ledger, complain: Complain): void {
  const { message } = copy;
  const what = describeCopy(copy);
  if (message.state === 'refused') complain(`${what} was delivered and had been refused`);
  if (message.isWithdrawn && !isRepeated(message, ledger))
    complain(`${what} was delivered and its publisher had left before there was room for it`);
  const { congestedSince } = copy.subscription.connection;
  // The batch after the one that filled the output may have begun before the broker noticed.
  if (congestedSince !== undefined && send.epoch > congestedSince + 1 && copy.sends.length === 1)
    complain(`${what} was delivered although the connection takes no more`);
  if (wasSettled(copy, send, ledger)) complain(`${what} was delivered after its ack took effect`);
  if (copy.isDeadLetter) return;
  const firstAsLetter = message.letter?.copies[0]?.sends[0];
  if (firstAsLetter !== undefined && firstAsLetter.byEpoch < send.epoch)
    complain(`${what} was delivered after it was dead-lettered`);
  const { deleted } = ledger.queue(copy.queue);
  const wasThere = message.state === 'accepted' && message.acceptedByEpoch <= (deleted?.afterEpoch ?? -1);
  if (deleted !== undefined && wasThere && send.epoch > deleted.epoch)
    complain(`${what} was delivered after its queue was deleted`);
}

/** In modes with one subscriber at a time, an ack of any delivery ends the message. */
function wasSettled(copy: Copy, send: Send, ledger: Ledger): boolean {
  const options = optionsOf(copy, ledger);
  const all = options !== undefined && isOneSubscriberMode(options) ? siblingsOf(copy) : [copy];
  return all.some(({ settledEpoch }) => settledEpoch !== undefined && settledEpoch < send.epoch);
}

function checkAge({ copy, send }: Delivered, ledger: Ledger, complain: Complain): void {
  const ttl = optionsOf(copy, ledger)?.messageTtlMs;
  if (ttl === undefined) return;
  const acceptedAt = copy.isDeadLetter ? letterAt(copy, ledger) : acceptedAtOf(copy);
  if (acceptedAt !== undefined && send.at - acceptedAt >= ttl)
    complain(`${describeCopy(copy)} was delivered at the age of ${send.at - acceptedAt} ms, of ${ttl}`);
}

function acceptedAtOf({ message }: Copy): number | undefined {
  return message.state === 'accepted' ? message.acceptedAt : undefined;
}

function letterAt({ message }: Copy, ledger: Ledger): number | undefined {
  return ledger.batches.findLast(({ wallAt }) => wallAt === message.letter?.wallAt)?.at;
}

/** The header also counts deliveries that were lost with a connection and not observed. */
function checkAttempt({ copy, send }: Delivered, ledger: Ledger, complain: Complain): void {
  const options = optionsOf(copy, ledger);
  // Frames to a client that leaves may be older than frames sent to others before.
  if (options === undefined || copy.subscription.connection.leavingSince !== undefined) return;
  const seen = isOneSubscriberMode(options) ? sendCountOf(copy) : copy.sends.length;
  const what = describeCopy(copy);
  // Copies of a fan-out that began anew count from what was sent before; who got that may not have been seen.
  const isExact = ledger.leftCount === 0 && !(options.mode === DeliveryMode.FanOutWithAck && cameBack(copy));
  const isOff = isExact ? send.attempt !== seen : send.attempt < seen;
  if (isOff) complain(`${what} says attempt ${send.attempt}, and it is number ${seen}`);
  if (options.mode === DeliveryMode.FanOutWithoutAck && copy.sends.length > 1)
    complain(`${what} was delivered twice without acknowledgments`);
}
