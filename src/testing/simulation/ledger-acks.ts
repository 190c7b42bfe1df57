// Which delivery an ack is for, as far as that is certain from outside, and when it has certainly ended one.

import { DeliveryMode } from '../../model/delivery-mode.ts';
import type { Ledger } from './ledger.ts';
import { type Copy, lastSend, type SeenCommand } from './ledger-entries.ts';

/** Records an ack with every copy that it may be for. */
export function bookAck(command: SeenCommand): void {
  const { sent, connection } = command;
  connection.recentAcks.push(command);
  const candidates = [...connection.copies.values()].filter(
    (copy) =>
      copy.message.id === sent.id &&
      copy.settledEpoch === undefined &&
      (sent.queue === '' || copy.queue === sent.queue),
  );
  if (candidates.length === 0) connection.strayAckCount += 1;
  for (const copy of candidates) {
    const { failureReason } = sent;
    copy.possibleAcks.push({ command, failureReason, isCertain: candidates.length === 1 });
  }
}

/** Records, with a copy that was just sent, the acks that arrived before it was written but may have been stepped after it. */
export function bookEarlyAcks(copy: Copy, epoch: number): void {
  const { connection } = copy.subscription;
  connection.recentAcks = connection.recentAcks.filter(
    ({ takenEpoch }) => takenEpoch === undefined || takenEpoch >= epoch,
  );
  for (const command of connection.recentAcks) {
    const { id, queue, failureReason } = command.sent;
    const isMeant = id === copy.message.id && (queue === '' || queue === copy.queue);
    const isKnown = copy.possibleAcks.some((ack) => ack.command === command);
    if (isMeant && !isKnown) copy.possibleAcks.push({ command, failureReason, isCertain: false });
  }
}

/** The ack was stepped: ends the copy that it was certainly for. */
export function settleTaken(command: SeenCommand, ledger: Ledger): void {
  const { sent, connection } = command;
  if (sent.failureReason === 'HandlerException') return;
  for (const copy of connection.copies.values()) {
    if (copy.message.id !== sent.id || !isCertainlySettled(copy, command, ledger)) continue;
    copy.settledEpoch = ledger.epoch;
    copy.wasRefusedForGood = sent.failureReason !== undefined;
  }
}

/** Whether the ack is the first for the copy, can mean no other copy, and arrived while the copy was certainly in flight. */
function isCertainlySettled(copy: Copy, command: SeenCommand, ledger: Ledger): boolean {
  const [first] = copy.possibleAcks;
  if (first?.command !== command || !first.isCertain || copy.settledEpoch !== undefined) return false;
  const send = lastSend(copy);
  // One that came before the message was sent again may have been stepped before that, when it was too late for the delivery before.
  if (command.afterEpoch < send.epoch) return false;
  const info = ledger.queue(copy.queue).info;
  if (info === undefined || info.options.mode === DeliveryMode.FanOutWithoutAck) return false;
  if (ledger.isDisturbed(copy.queue, copy.sends[0]?.epoch ?? 0)) return false;
  const { ackTimeoutMs, retryDelayMs, maxRetryDelayMs } = ledger.settings;
  const canBeRetried =
    !copy.message.isInherited &&
    !ledger.isDraining &&
    sendCountOf(copy) < info.options.maxRetryAttempts &&
    info.options.messageTtlMs === undefined &&
    !copy.subscription.isEnding &&
    info.subscriberCount === 1;
  const heldForMs = ackTimeoutMs + (canBeRetried ? Math.min(retryDelayMs, maxRetryDelayMs) : 0);
  // When the drain times out, connections are closed before their last input is read.
  return ledger.batchAt(ledger.epoch) < Math.min(send.at + heldForMs, ledger.drainedAt);
}

/** How often the message was sent from the queue of this copy, to all subscribers. */
export function sendCountOf({ isDeadLetter, message }: Copy): number {
  return isDeadLetter ? (message.letter?.sendCount ?? 0) : message.sendCount;
}
