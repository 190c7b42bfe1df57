// Checks that every accepted message ends after a long time without faults: acknowledged, sent without ack, dead-lettered and then the
// same, removed with its queue, purged, or discarded for a reason that its queue allows, and counted (PUBLISH, DELIVERY).

import { DeliveryMode } from '../../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../../model/overflow-strategy.ts';
import type { QueueOptions } from '../../../model/queue-options.ts';
import type { Ledger } from '../ledger.ts';
import type { Copy, SeenLetter, SeenMessage, SeenSubscription } from '../ledger-entries.ts';
import { type Checker, type Complain, describeMessage } from './checker.ts';

/** Messages that may enter and leave a dead letter queue in one batch, without being observed. */
const MAX_LETTERS_OF_A_BATCH = 50;

/** More frames than any run of the simulation sends at once. */
const UNBOUNDED_BURST_BYTES = 1_000_000;

export function terminalStatesChecker(): Checker {
  const ids = new Map<string, number>();
  return (fact, ledger, complain) => {
    if (fact.kind !== 'finished' || ledger.isDraining) return;
    checkNothingIsHeld(ledger, complain);
    for (const { queue, id } of ledger.messages.values()) {
      const name = `${queue} ${id}`;
      ids.set(name, (ids.get(name) ?? 0) + 1);
    }
    const accepted = [...ledger.messages.values()].filter(({ state }) => state === 'accepted');
    const lost = accepted.filter(
      (message) => isLost(message, ledger) && ids.get(`${message.queue} ${message.id}`) === 1,
    );
    for (const message of lost) {
      if (!mayBeDiscarded(message, ledger))
        complain(`${describeMessage(message)} is lost, and nothing allows that`);
    }
    const discarded = ledger.figures?.discardedCount ?? 0;
    if (lost.length > discarded) complain(`${lost.length} messages are lost and ${discarded} were discarded`);
    checkDropOldest(lost, ledger, complain);
    checkFailed(accepted, ledger, complain);
    checkRepeats(accepted, ledger, complain);
    checkFanOut(accepted, ledger, complain);
  };
}

function checkNothingIsHeld(ledger: Ledger, complain: Complain): void {
  const { figures } = ledger;
  for (const { info } of ledger.queues.values()) {
    if (info !== undefined && info.messageCount > 0)
      complain(`${info.messageCount} messages still wait in ${info.name}`);
  }
  if (figures === undefined) return;
  const { inFlightCount, queuedBytes } = figures;
  if (inFlightCount !== 0) complain(`${inFlightCount} messages are still in flight`);
  if (queuedBytes !== 0) complain(`${queuedBytes} bytes of messages are still held`);
  for (const { open, leavingSince, number } of ledger.connections.values()) {
    if (leavingSince === undefined && open.length > 0)
      complain(`connection ${number} is still owed ${open.length} answers`);
  }
}

/** Not acknowledged or refused by a subscriber, as far as observed, and not removed with a queue. */
function isLost(message: SeenMessage, ledger: Ledger): boolean {
  const { copies, letter } = message;
  if (isTakenOut(message.queue, message.acceptedEpoch, ledger)) return false;
  if (letter !== undefined) return isLetterLost(letter, message.acceptedEpoch, ledger);
  // Sent is done, even if it was lost on the way to a client that left.
  const isDoneOnSending = message.options?.mode === DeliveryMode.FanOutWithoutAck;
  if (isDoneOnSending && (copies.length > 0 || ledger.leftCount > 0)) return false;
  const letters = message.options?.deadLetterQueueName ?? `${message.queue}.dlq`;
  if (isTakenOut(letters, message.acceptedEpoch, ledger)) return false;
  return !copies.some(isTaken) && message.options !== undefined;
}

function isLetterLost({ queue, copies }: SeenLetter, acceptedEpoch: number, ledger: Ledger): boolean {
  const { info } = ledger.queue(queue);
  const isDoneOnSending = info === undefined || info.options.mode === DeliveryMode.FanOutWithoutAck;
  return !isDoneOnSending && !copies.some(isTaken) && !isTakenOut(queue, acceptedEpoch, ledger);
}

/** Removed by a deletion of the queue or by a purge. */
export function isTakenOut(queue: string, acceptedEpoch: number, ledger: Ledger): boolean {
  return ledger.isDisturbed(queue, acceptedEpoch) || ledger.mayBePurged(queue, acceptedEpoch);
}

function isTaken({ possibleAcks }: Copy): boolean {
  return possibleAcks.some(({ failureReason }) => failureReason === undefined);
}

function mayBeDiscarded({ options, queue, sendCount, copies, letter }: SeenMessage, ledger: Ledger): boolean {
  if (options === undefined || letter !== undefined) return true;
  if (options.overflowStrategy === OverflowStrategy.DropOldest) return true;
  if (options.enableDeadLetterQueue) return mayPushOut(dlqNameOf(queue, options), ledger);
  const wasRefused = copies.some(({ possibleAcks }) => possibleAcks.length > 0);
  return options.messageTtlMs !== undefined || sendCount >= options.maxRetryAttempts || wasRefused;
}

export function dlqNameOf(queue: string, { deadLetterQueueName }: QueueOptions): string {
  return deadLetterQueueName ?? `${queue}.dlq`;
}

/** Whether the queue may have been full: it may have held more than was observed after a batch. */
export function mayPushOut(queue: string, ledger: Ledger): boolean {
  const { info, peakCount } = ledger.queue(queue);
  if (info === undefined || info.options.messageTtlMs !== undefined) return true;
  const { maxQueueSize } = info.options;
  return maxQueueSize < MAX_LETTERS_OF_A_BATCH || peakCount * 4 > maxQueueSize;
}

/** A message that certainly failed for one of its subscribers is dead-lettered, if there is a dead letter queue. */
function checkFailed(accepted: readonly SeenMessage[], ledger: Ledger, complain: Complain): void {
  for (const message of accepted) {
    const { options, copies, letter, queue, acceptedEpoch } = message;
    if (options?.enableDeadLetterQueue !== true || letter !== undefined) continue;
    const to = dlqNameOf(queue, options);
    if (
      ledger.isDisturbed(queue, acceptedEpoch) ||
      isTakenOut(to, acceptedEpoch, ledger) ||
      mayPushOut(to, ledger)
    )
      continue;
    if (copies.some((copy) => hasFailed(copy, options)))
      complain(`${describeMessage(message)} failed for a subscriber and is not in ${to}`);
  }
}

function hasFailed(
  { sends, possibleAcks, subscription, wasRefusedForGood }: Copy,
  options: QueueOptions,
): boolean {
  if (options.mode === DeliveryMode.FanOutWithoutAck) return false;
  const stayed = subscription.connection.leavingSince === undefined && !subscription.isEnding;
  return (
    wasRefusedForGood || (stayed && sends.length === options.maxRetryAttempts && possibleAcks.length === 0)
  );
}

/** A publish with an id that certainly was in the queue and unsettled before and after it is a repeat, and not delivered. */
function checkRepeats(accepted: readonly SeenMessage[], ledger: Ledger, complain: Complain): void {
  const byName = new Map<string, SeenMessage[]>();
  for (const message of accepted) {
    const name = `${message.queue} ${message.id}`;
    byName.set(name, [...(byName.get(name) ?? []), message]);
  }
  for (const same of byName.values()) {
    for (const first of same) {
      for (const second of same) {
        const wasThere = first.acceptedByEpoch <= second.command.afterEpoch;
        const isThere = first.copies.some(({ sends }) =>
          sends.some(({ epoch }) => epoch > second.acceptedByEpoch),
        );
        const isCertain = wasThere && isThere && !ledger.isDisturbed(first.queue, first.acceptedEpoch);
        if (isCertain && second.copies.length > 0)
          complain(`${describeMessage(second)} is a repeat and was delivered`);
      }
    }
  }
}

/** With DropOldest, no older message can outlast the last publish. */
function checkDropOldest(lost: readonly SeenMessage[], ledger: Ledger, complain: Complain): void {
  for (const message of lost) {
    const { options, queue, copies } = message;
    const isPushedOut =
      options?.overflowStrategy === OverflowStrategy.DropOldest &&
      options.messageTtlMs === undefined &&
      copies.length === 0;
    if (!isPushedOut || ledger.leftCount > 0) continue;
    const others = [...ledger.messages.values()].filter(
      (other) => other.queue === queue && other.acceptedByEpoch > 0,
    );
    const lastAccepted = Math.max(...others.map(({ acceptedByEpoch }) => acceptedByEpoch));
    for (const other of others) {
      const first = other.copies[0]?.sends[0];
      const isOlder = other.acceptedByEpoch < message.acceptedEpoch;
      if (ledger.isDisturbed(queue, other.acceptedEpoch)) continue;
      if (isOlder && first !== undefined && first.epoch > lastAccepted && first.attempt === 1)
        complain(
          `${describeMessage(message)} was pushed out and ${describeMessage(other)}, which is older, was not`,
        );
    }
  }
}

/** Every permanent subscriber has had a copy, unless unsent copies may have been removed. */
function checkFanOut(accepted: readonly SeenMessage[], ledger: Ledger, complain: Complain): void {
  const steady = [...ledger.connections.values()]
    .filter(({ leavingSince, wasCongested }) => leavingSince === undefined && !wasCongested)
    .flatMap(({ subscriptions }) => [...subscriptions.values()].filter(({ isEnding }) => !isEnding));
  for (const message of accepted) {
    const first = message.copies[0]?.sends[0];
    if (
      first === undefined ||
      !isFannedOutWhole(message, ledger) ||
      isTakenOut(message.queue, message.acceptedEpoch, ledger)
    )
      continue;
    for (const subscription of steady) {
      const isMember = subscription.queue === message.queue && subscription.startedEpoch < first.epoch;
      if (isMember && !hasCopy(message, subscription)) {
        const { number } = subscription.connection;
        complain(`${describeMessage(message)} was never sent to connection ${number}, which was a member`);
      }
    }
  }
}

function isFannedOutWhole({ options }: SeenMessage, { settings }: Ledger): boolean {
  // A subscriber that is not writable misses copies, and that may end before it is observed.
  if (options?.mode === DeliveryMode.FanOutWithoutAck) return settings.maxBurstBytes >= UNBOUNDED_BURST_BYTES;
  const mayBeTaken =
    options?.messageTtlMs !== undefined || options?.overflowStrategy === OverflowStrategy.DropOldest;
  return options?.mode === DeliveryMode.FanOutWithAck && !mayBeTaken;
}

function hasCopy({ copies }: SeenMessage, subscription: SeenSubscription): boolean {
  return copies.some((copy) => copy.subscription === subscription);
}
