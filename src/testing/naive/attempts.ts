// How a delivery ends in the naive broker: acknowledged, refused, timed out and retried, or interrupted by the end of its connection
// (DELIVERY, RETRY, TTL, NACK).

import type { AcknowledgeInput, NegativeAcknowledgeInput } from '../../broker/interface/input.ts';
import type { DeadLetterReason } from '../../model/dead-letter-reason.ts';
import { admitDeadLetters } from './dead-letters.ts';
import { expire, finishIfEnded, giveUp, removeMessage, waitAgain } from './giving-up.ts';
import { send, sendTo } from './offering.ts';
import {
  isInFlight,
  isOverdue,
  isSubscribed,
  isTooOld,
  isWaiting,
  type NaiveCopy,
  type NaiveMessage,
  type NaiveQueue,
  type NaiveState,
  type NaiveSubscription,
  nextOrder,
  retryDelay,
  rotationOf,
} from './state.ts';

type Delivery = { readonly queue: NaiveQueue; readonly message: NaiveMessage; readonly copy: NaiveCopy };

/** Every delivery in flight, the earliest sent first. */
export function deliveriesInFlight(state: NaiveState): Delivery[] {
  const all = state.queues.flatMap((queue) =>
    queue.messages.flatMap((message) => message.copies.map((copy) => ({ queue, message, copy }))),
  );
  return all.filter(({ copy }) => isInFlight(copy)).sort((a, b) => a.copy.sendOrder - b.copy.sendOrder);
}

function meantBy(
  state: NaiveState,
  input: AcknowledgeInput | NegativeAcknowledgeInput,
): Delivery | undefined {
  return deliveriesInFlight(state).find(
    ({ queue, message, copy }) =>
      copy.subscription.connection.id === input.connection &&
      message.id === input.id &&
      (input.queue === undefined || input.queue === queue.name),
  );
}

export function acknowledge(state: NaiveState, input: AcknowledgeInput): void {
  const delivery = meantBy(state, input);
  if (delivery === undefined) return;
  const { queue, message, copy } = delivery;
  state.counters.acknowledgedCount += 1;
  queue.history.push('acknowledged');
  copy.state = 'acknowledged';
  widen(state, copy);
  if (queue.options.mode === 1) finishIfEnded(state, queue, message);
  else removeMessage(queue, message);
}

function widen(state: NaiveState, copy: NaiveCopy): void {
  const subscription = copy.subscription;
  const prompt = state.now - copy.sentAt <= state.settings.ackTimeoutMs / 4;
  if (subscription.fixed || !prompt) return;
  subscription.window = Math.min(subscription.window + 1, state.settings.maxInFlightPerSubscriber);
}

export function negativeAcknowledge(state: NaiveState, input: NegativeAcknowledgeInput): void {
  const delivery = meantBy(state, input);
  if (delivery === undefined) return;
  const { copy } = delivery;
  if (input.reason === 'DeserializationError') {
    if (copy.state === 'sent') countFailure(delivery);
    endFailed(state, delivery, input.reason);
  } else if (copy.state === 'sent') {
    countFailure(delivery);
    pauseOrEnd(state, delivery, input.reason, state.now);
  }
}

function countFailure({ queue, message, copy }: Delivery): void {
  copy.failedCount += 1;
  if (queue.options.mode !== 1) message.failedCount = copy.failedCount;
  message.cutShortCount = 0;
}

/** A failed attempt has been counted at `failedAt`: the next one is due after the pause, if there is to be one. */
function pauseOrEnd(state: NaiveState, delivery: Delivery, reason: DeadLetterReason, failedAt: number): void {
  const { queue, copy } = delivery;
  if (copy.failedCount >= queue.options.maxRetryAttempts) {
    endFailed(state, delivery, reason);
  } else if (state.draining || !isSubscribed(state, copy.subscription)) {
    leaveSubscriber(state, delivery);
  } else {
    copy.state = 'paused';
    copy.timerAt = failedAt + retryDelay(state, copy.failedCount);
    copy.timerOrder = nextOrder(state);
  }
}

function endFailed(state: NaiveState, { queue, message, copy }: Delivery, reason: DeadLetterReason): void {
  const failure = { reason, attempts: copy.failedCount };
  if (queue.options.mode !== 1) {
    giveUp(state, queue, message, failure);
    return;
  }
  copy.state = 'failed';
  message.firstFailure ??= failure;
  finishIfEnded(state, queue, message);
}

/** The delivery returns from the subscriber without an ack or a failure. */
function leaveSubscriber(state: NaiveState, { queue, message, copy }: Delivery): void {
  if (queue.options.mode !== 1) {
    waitAgain(state, queue, message, copy.cutShort);
    return;
  }
  copy.state = 'ended';
  finishIfEnded(state, queue, message);
}

/** What is in flight on these subscriptions, whose connection or right has ended, waits again. */
export function giveBack(state: NaiveState, isLost: (subscription: NaiveSubscription) => boolean): void {
  const cut = deliveriesInFlight(state).filter(({ copy }) => isLost(copy.subscription));
  for (const delivery of cut) {
    delivery.copy.cutShort = true;
    leaveSubscriber(state, delivery);
    admitDeadLetters(state);
  }
}

/** At one instant: ack timeouts in the order of sending, then pauses in the order of their beginning, then expiry by age. */
type DueEvent = {
  readonly at: number;
  readonly rank: 0 | 1 | 2;
  readonly order: number;
  readonly run: () => void;
};

/** Everything that will happen by itself, the first to happen first. */
export function comingEvents(state: NaiveState): DueEvent[] {
  if (state.draining) return [];
  const events = state.queues.flatMap((queue) =>
    queue.messages.flatMap((message) => [
      ...expiryOf(state, queue, message),
      ...message.copies.flatMap((copy) => timerOf(state, { queue, message, copy })),
    ]),
  );
  return events.sort((a, b) => a.at - b.at || a.rank - b.rank || a.order - b.order);
}

function expiryOf(state: NaiveState, queue: NaiveQueue, message: NaiveMessage): DueEvent[] {
  const ttl = queue.options.messageTtlMs;
  if (ttl === undefined || !isWaiting(message)) return [];
  const run = () => expire(state, queue, message);
  return [{ at: message.acceptedAt + ttl, rank: 2, order: message.order, run }];
}

function timerOf(state: NaiveState, delivery: Delivery): DueEvent[] {
  const { timerAt: at, timerOrder: order } = delivery.copy;
  if (delivery.copy.state === 'sent') return [{ at, rank: 0, order, run: () => timeOut(state, delivery) }];
  if (delivery.copy.state !== 'paused' || cannotTryYet(state, delivery)) return [];
  return [{ at, rank: 1, order, run: () => tryAgain(state, delivery) }];
}

/** When a message that is held back may be offered; nothing else happens then. */
export function comingOffers(state: NaiveState): number[] {
  if (state.draining) return [];
  const held = state.queues.flatMap((queue) => queue.messages);
  return held
    .filter((one) => one.copies.length === 0 && one.heldUntil > state.now)
    .map((one) => one.heldUntil);
}

function timeOut(state: NaiveState, delivery: Delivery): void {
  const { subscription, timerAt } = delivery.copy;
  countFailure(delivery);
  if (!subscription.fixed) subscription.window = Math.max(1, Math.floor(subscription.window / 2));
  pauseOrEnd(state, delivery, 'MaxRetriesExceeded', timerAt);
}

function tryAgain(state: NaiveState, delivery: Delivery): void {
  const { queue, message, copy } = delivery;
  if (isTooOld(state, queue, message)) endFailed(state, delivery, 'MessageExpired');
  else if (queue.options.mode === 1) tryCopyAgain(state, delivery);
  else {
    const { subscription } = copy;
    const canKeep = isSubscribed(state, subscription) && subscription.connection.writable;
    const other = rotationOf(state, queue).find((one) => one !== subscription);
    const target = other ?? (canKeep ? subscription : undefined);
    if (target === undefined) waitAgain(state, queue, message, false);
    else if (target === subscription) send(state, queue, message, copy);
    else passOn(state, delivery, target);
  }
}

function passOn(state: NaiveState, { queue, message }: Delivery, other: NaiveSubscription): void {
  sendTo(state, queue, message, other);
}

/** A copy that is due stays paused while its member does not read, for it can go to nobody else. */
function cannotTryYet(state: NaiveState, { queue, copy }: Delivery): boolean {
  const { subscription } = copy;
  if (queue.options.mode !== 1 || !isSubscribed(state, subscription)) return false;
  return isOverdue(copy) && !subscription.connection.writable;
}

function tryCopyAgain(state: NaiveState, delivery: Delivery): void {
  const { queue, message, copy } = delivery;
  if (!isSubscribed(state, copy.subscription)) leaveSubscriber(state, delivery);
  else if (copy.subscription.connection.writable) send(state, queue, message, copy);
  else copy.overdue = true;
}
