// Checks delivery attempts: a message is with one subscriber at a time in the modes that require it, retry delays double, there are no more
// attempts than allowed, and a fan-out goes to the members at the time of publishing (RETRY, DELIVERY).

import { DeliveryMode } from '../../../model/delivery-mode.ts';
import type { QueueOptions } from '../../../model/queue-options.ts';
import type { Fact, Ledger } from '../ledger.ts';
import { sendCountOf } from '../ledger-acks.ts';
import { type Copy, lastSend, type SeenCommand } from '../ledger-entries.ts';
import {
  type Checker,
  type Complain,
  describeCopy,
  isOneSubscriberMode,
  optionsOf,
  siblingsOf,
} from './checker.ts';

type Delivered = Extract<Fact, { kind: 'delivered' }>;

/** `slackMs`: longest lateness of the broker, because of commits and a busy event loop. */
export function attemptsChecker(slackMs: number): Checker {
  return (fact, ledger, complain) => {
    if (fact.kind !== 'delivered') return;
    const options = optionsOf(fact.copy, ledger);
    if (options === undefined) return;
    checkNumber(fact, options, ledger, complain);
    checkPause(fact, options, ledger, slackMs, complain);
    if (isOneSubscriberMode(options)) checkHolder(fact, ledger, complain);
    else if (options.mode === DeliveryMode.FanOutWithAck) checkMember(fact, complain);
  };
}

/** Interrupted attempts do not count. */
function checkNumber({ copy }: Delivered, options: QueueOptions, ledger: Ledger, complain: Complain): void {
  const most = options.maxRetryAttempts;
  const what = describeCopy(copy);
  if (!isOneSubscriberMode(options)) {
    if (copy.sends.length > most) complain(`${what} was sent ${copy.sends.length} times, of ${most}`);
    return;
  }
  const isLeaving = (other: Copy): boolean => other.subscription.connection.leavingSince !== undefined;
  const cutShort = siblingsOf(copy).filter(isLeaving).length;
  const count = sendCountOf(copy);
  if (count > most + cutShort) complain(`${what} was sent ${count} times, of ${most}, ${cutShort} cut short`);
  if (ledger.leftCount === 0 && count > most) complain(`${what} was sent ${count} times, of ${most}`);
}

function checkPause(
  { copy, send }: Delivered,
  options: QueueOptions,
  ledger: Ledger,
  slackMs: number,
  complain: Complain,
): void {
  const previous = copy.sends.at(-2);
  if (previous === undefined || copy.subscription.isEnding) return;
  const { ackTimeoutMs, retryDelayMs, maxRetryDelayMs } = ledger.settings;
  const isExact =
    !isOneSubscriberMode(options) || (ledger.leftCount === 0 && copy.sends.length === sendCountOf(copy));
  const failures = isExact ? copy.sends.length - 1 : 1;
  const pauseMs = Math.min(retryDelayMs * 2 ** (failures - 1), maxRetryDelayMs);
  // A command that was received long ago may be stepped only now, if the broker has much to read.
  const recent = copy.possibleAcks.filter(({ command }) => mayBeSteppedSince(command, previous.at, ledger));
  const refusal = recent.find(({ failureReason }) => failureReason !== undefined);
  const refusedAt = Math.max(refusal?.command.handedOverAt ?? Number.POSITIVE_INFINITY, previous.at);
  const failedAt = Math.min(refusedAt, previous.at + ackTimeoutMs);
  const what = describeCopy(copy);
  if (send.byAt < failedAt + pauseMs)
    complain(`${what} was sent again after ${send.byAt - failedAt} ms, not ${pauseMs}`);
  const isLate = send.at > previous.byAt + ackTimeoutMs + pauseMs + slackMs;
  if (isExact && recent.length === 0 && isLate && !everCongested(ledger))
    complain(
      `${what} was sent again ${send.at - previous.byAt} ms after the last time, not ${ackTimeoutMs + pauseMs}`,
    );
}

function mayBeSteppedSince({ takenEpoch }: SeenCommand, at: number, ledger: Ledger): boolean {
  return takenEpoch === undefined || ledger.batchAt(takenEpoch) >= at;
}

function everCongested(ledger: Ledger): boolean {
  return [...ledger.connections.values()].some(({ wasCongested }) => wasCongested);
}

/** The last subscriber that was sent the message has it until an ack, a negative ack, the ack timeout or the end of its connection. */
function checkHolder({ copy, send }: Delivered, ledger: Ledger, complain: Complain): void {
  if (copy.subscription.connection.leavingSince !== undefined) return;
  for (const other of siblingsOf(copy)) {
    if (other === copy || other.possibleAcks.length > 0) continue;
    if (other.subscription.connection.leavingSince !== undefined) continue;
    if (send.byAt < lastSend(other).at + ledger.settings.ackTimeoutMs)
      complain(
        `${describeCopy(copy)} was sent while it was with connection ${other.subscription.connection.number}`,
      );
  }
}

/** Subscribers that joined later get no copy while an earlier member may still have its own. */
function checkMember({ copy }: Delivered, complain: Complain): void {
  const members = siblingsOf(copy);
  const first = members[0];
  if (first === undefined || copy.subscription.startedEpoch <= (first.sends[0]?.byEpoch ?? 0)) return;
  const stays = (other: Copy): boolean =>
    other !== copy &&
    !other.subscription.isEnding &&
    other.subscription.connection.leavingSince === undefined &&
    other.subscription.startedEpoch < (first.sends[0]?.epoch ?? 0);
  if (members.some(stays)) complain(`${describeCopy(copy)} was sent to a subscriber that came later`);
}
