// Checks order: first deliveries follow the order of acceptance, highest priority first in mode PriorityBased, both for one subscriber and
// over all of them (DELIVERY).

import { DeliveryMode } from '../../../model/delivery-mode.ts';
import type { Ledger } from '../ledger.ts';
import type { Copy, SeenMessage, SeenSubscription, Send } from '../ledger-entries.ts';
import {
  type Checker,
  type Complain,
  cameBack,
  describeCopy,
  describeMessage,
  optionsOf,
} from './checker.ts';

type First = { readonly copy: Copy; readonly send: Send; readonly byPriority: boolean };

export function orderChecker(): Checker {
  const perSubscription = new Map<SeenSubscription, SeenMessage[]>();
  const perQueue = new Map<string, First[]>();
  /** Messages whose PublishAcks may follow in the same batch. */
  let fresh: First[] = [];
  const judgeFresh = (ledger: Ledger, complain: Complain): void => {
    for (const first of fresh) {
      const { copy } = first;
      if (copy.message.state !== 'accepted' || optionsOf(copy, ledger) === undefined) continue;
      const received = listOf(perSubscription, copy.subscription);
      for (const earlier of received) checkOne(earlier, first, complain);
      received.push(copy.message);
      if (copy.message.copies[0] !== copy) continue;
      const all = listOf(perQueue, copy.queue);
      for (const other of all) checkOvertaken(other, first, complain);
      all.push(first);
    }
    fresh = [];
  };
  return (fact, ledger, complain) => {
    if (fact.kind === 'stepped' || fact.kind === 'finished') judgeFresh(ledger, complain);
    if (fact.kind === 'lifeEnded') {
      fresh = [];
      perSubscription.clear();
      perQueue.clear();
    }
    if (fact.kind === 'stepped') forgetDisturbed(perSubscription, perQueue, ledger);
    if (fact.kind !== 'delivered' || fact.copy.isDeadLetter) return;
    const { copy, send } = fact;
    const mode = optionsOf(copy, ledger)?.mode;
    if (mode === undefined || copy.sends.length !== 1) return;
    if (send.attempt === 2 && mode !== DeliveryMode.FanOutWithAck) {
      for (const other of listOf(perQueue, copy.queue))
        checkReturned(other, { copy, send, byPriority: mode === DeliveryMode.PriorityBased }, complain);
    }
    if (send.attempt !== 1) return;
    // A fan-out whose copies were lost begins anew, in its old place, and deliveries lost on the way to a client that left are not observed.
    if (mode === DeliveryMode.FanOutWithAck && (ledger.leftCount > 0 || cameBack(copy))) return;
    fresh.push({ copy, send, byPriority: mode === DeliveryMode.PriorityBased });
  };
}

/** Deliveries from a deleted queue prove nothing about a new queue with its name. */
function forgetDisturbed(
  perSubscription: Map<SeenSubscription, SeenMessage[]>,
  perQueue: Map<string, First[]>,
  ledger: Ledger,
): void {
  for (const name of perQueue.keys()) {
    if (!ledger.isDisturbed(name, ledger.epoch)) continue;
    perQueue.delete(name);
    for (const subscription of perSubscription.keys()) {
      if (subscription.queue === name) perSubscription.delete(subscription);
    }
  }
}

/** To one subscriber: the order of each publisher's publishes, and the order of acceptance over all publishers. */
function checkOne(earlier: SeenMessage, { copy, byPriority }: First, complain: Complain): void {
  const { message } = copy;
  if (byPriority && earlier.published.priority !== message.published.priority) return;
  const samePublisher = earlier.command.connection === message.command.connection;
  const isWrong = samePublisher
    ? message.acceptedOrder < earlier.acceptedOrder
    : message.acceptedByEpoch < earlier.acceptedEpoch;
  if (isWrong)
    complain(`${describeCopy(copy)} came after ${describeMessage(earlier)}, which was accepted later`);
}

/** Over all subscribers: no waiting message was passed over for a later or less urgent one. */
function checkOvertaken(other: First, { copy, send, byPriority }: First, complain: Complain): void {
  const { message } = copy;
  const earlier = other.copy.message;
  if (other.send.epoch <= message.acceptedByEpoch || send.epoch <= other.send.byEpoch) return;
  const urgency = byPriority ? message.published.priority - earlier.published.priority : 0;
  const isYounger = earlier.acceptedEpoch > message.acceptedByEpoch;
  if (urgency > 0 || (urgency === 0 && isYounger))
    complain(`${describeCopy(copy)} was passed over for ${describeMessage(earlier)}`);
}

/** Messages returned from an ended connection wait in their old place. */
function checkReturned(other: First, { copy, send, byPriority }: First, complain: Complain): void {
  const { message } = copy;
  const [held] = message.copies;
  const endedEpoch = held?.subscription.connection.endedEpoch;
  if (message.state !== 'accepted' || message.copies.length !== 2 || endedEpoch === undefined) return;
  const earlier = other.copy.message;
  const isYounger = earlier.acceptedEpoch > message.acceptedByEpoch;
  const isLessUrgent = !byPriority || earlier.published.priority <= message.published.priority;
  // The end is stepped in the next batch at the latest.
  const wasPassedOver = other.send.epoch > endedEpoch + 1 && other.send.byEpoch < send.epoch;
  if (isYounger && isLessUrgent && wasPassedOver)
    complain(`${describeCopy(copy)} had come back and was passed over for ${describeMessage(earlier)}`);
}

function listOf<Key, Item>(lists: Map<Key, Item[]>, key: Key): Item[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
