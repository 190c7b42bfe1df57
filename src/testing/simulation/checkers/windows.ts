// Checks windows: no subscription is sent more than it may hold unacknowledged. Uses an upper bound of the window: every ack that may have
// widened it, and every timeout that certainly has narrowed it (DELIVERY).

import { DeliveryMode } from '../../../model/delivery-mode.ts';
import type { Ledger } from '../ledger.ts';
import { type Copy, lastSend, type SeenSubscription } from '../ledger-entries.ts';
import { type Checker, optionsOf } from './checker.ts';

const FIRST_SIZE = 8;

type Widest = {
  size: number;
  countedAcks: number;
  /** Acks that may not have widened the window, because it was at its maximum. */
  idleAcks: number;
};

export function windowsChecker(): Checker {
  const windows = new Map<SeenSubscription, Widest>();
  return (fact, ledger, complain) => {
    if (fact.kind !== 'delivered') return;
    const { copy, send } = fact;
    const { subscription } = copy;
    const isNew = copy.sends.length === 1;
    const mode = optionsOf(copy, ledger)?.mode;
    if (mode === undefined || mode === DeliveryMode.FanOutWithoutAck) return;
    const widest = windows.get(subscription) ?? firstWindow(subscription, ledger);
    windows.set(subscription, widest);
    if (subscription.maxInFlight === undefined) follow(widest, copy, ledger);
    const held = [...subscription.copies].filter((other) => isHeld(other, send.byAt, ledger)).length;
    // A retry keeps its place, even if the window has become narrower.
    if (isNew && held > widest.size) {
      const { connection, queue } = subscription;
      complain(
        `connection ${connection.number} holds ${held} messages of ${queue}, of ${widest.size} at most`,
      );
    }
  };
}

function firstWindow({ maxInFlight }: SeenSubscription, { settings }: Ledger): Widest {
  const size = Math.min(maxInFlight ?? FIRST_SIZE, settings.maxInFlightPerSubscriber);
  return { size, countedAcks: 0, idleAcks: 0 };
}

function isHeld(copy: Copy, at: number, ledger: Ledger): boolean {
  const isOpen = copy.possibleAcks.length === 0 && at < lastSend(copy).at + ledger.settings.ackTimeoutMs;
  return isOpen && optionsOf(copy, ledger) !== undefined;
}

function follow(widest: Widest, copy: Copy, ledger: Ledger): void {
  const most = ledger.settings.maxInFlightPerSubscriber;
  const ats = fastAcks(copy.subscription, ledger);
  const wanted = widest.size + Math.max(0, ats.length - widest.countedAcks);
  widest.size = Math.min(most, wanted);
  widest.idleAcks += wanted - widest.size;
  widest.countedAcks = ats.length;
  const previous = copy.sends.at(-2);
  if (previous === undefined || copy.possibleAcks.length > 0) return;
  // It was sent a second time to the same subscription without a refusal: it had timed out.
  const since = ats.filter((at) => at >= previous.at).length;
  const before = widest.size - since + Math.min(since, widest.idleAcks);
  widest.size = Math.min(most, Math.max(1, Math.floor(before / 2)) + since);
}

/** Times at which acks that may have widened the window took effect. */
function fastAcks({ copies }: SeenSubscription, ledger: Ledger): number[] {
  const ats: number[] = [];
  for (const { possibleAcks, sends } of copies) {
    for (const { command, failureReason } of possibleAcks) {
      const { handedOverAt, takenEpoch } = command;
      const byAt = takenEpoch === undefined ? Number.POSITIVE_INFINITY : ledger.batchAt(takenEpoch);
      const isFast = sends.some(
        (send) => byAt >= send.at && handedOverAt <= send.byAt + ledger.settings.ackTimeoutMs / 4,
      );
      if (failureReason === undefined && isFast) ats.push(byAt);
    }
  }
  return ats;
}
