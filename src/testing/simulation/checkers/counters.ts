// Checks the broker's statistics: no counter falls, each equals what was observed, and every accepted message is waiting, in flight, or
// counted as removed (METRICS, DELIVERY).

import { DeliveryMode } from '../../../model/delivery-mode.ts';
import { Command } from '../../../protocol/command.ts';
import type { Figures } from '../history.ts';
import type { Fact, Ledger } from '../ledger.ts';
import type { Copy } from '../ledger-entries.ts';
import { type Checker, type Complain, isOneSubscriberMode, optionsOf } from './checker.ts';

const counters = [
  'publishedCount',
  'deliveredCount',
  'acknowledgedCount',
  'retryCount',
  'deadLetteredCount',
  'discardedCount',
  'purgedCount',
  'firstDeliveryCount',
  'errorsCount',
] as const;

/** Batches between two checks of all acks. */
const ACKS_CHECKED_EVERY = 8;

/** Counts observed from outside. */
type Seen = Record<
  'positiveCount' | 'repeatCount' | 'retryFrameCount' | 'perhapsRetryFrameCount' | 'errorFrameCount',
  number
>;

const nothingSeen: Seen = {
  positiveCount: 0,
  repeatCount: 0,
  retryFrameCount: 0,
  perhapsRetryFrameCount: 0,
  errorFrameCount: 0,
};

type Counters = Readonly<Record<(typeof counters)[number], number>>;

export function countersChecker(): Checker {
  let seen: Seen = { ...nothingSeen };
  /** The counters at the beginning of this life. */
  let first: Counters | undefined;
  /** The counters at the failure of the store: the process continues. */
  let before: Figures | undefined;
  const ids = new Set<string>();
  const conservation = new Conservation();
  return (fact, ledger, complain) => {
    switch (fact.kind) {
      case 'answered':
        if (!fact.command.connection.isUnserved) takeAnswer(fact, seen, ids);
        return;
      case 'unasked':
        seen.errorFrameCount += 1;
        return;
      case 'delivered':
        countRetry(fact, seen, ledger);
        return;
      case 'stepped':
        checkNothingFalls(fact.before, fact.now, complain);
        conservation.check(fact.now, ledger, complain);
        return;
      case 'lifeEnded':
        before = ledger.figures;
        return;
      case 'serving':
        checkNothingFalls(before, fact.figures, complain);
        before = undefined;
        seen = { ...nothingSeen };
        first = fact.figures;
        for (const { queue, id } of ledger.messages.values()) ids.add(`${queue} ${id}`);
        conservation.beginAnew(fact.figures, ledger);
        return;
      case 'idle':
        if (ledger.figures !== undefined)
          checkAgainstSeen(countedSince(first, ledger.figures), seen, ledger, complain);
        return;
      default:
        return;
    }
  };
}

/**
 * A fan-out that began anew says of each first sending of a copy that the message was sent before, which is no retry. Unknown when the queue may
 * have been replaced, and with it the mode.
 */
function countRetry({ copy, send }: Extract<Fact, { kind: 'delivered' }>, seen: Seen, ledger: Ledger): void {
  if (send.attempt === 1) return;
  const mode = optionsOf(copy, ledger)?.mode;
  if (copy.sends.length > 1 || (mode !== undefined && mode !== DeliveryMode.FanOutWithAck))
    seen.retryFrameCount += 1;
  else if (mode === undefined) seen.perhapsRetryFrameCount += 1;
}

/** The statistics, with the counts of this life only. */
function countedSince(first: Counters | undefined, figures: Figures): Figures {
  if (first === undefined) return figures;
  const counted = counters.map((counter) => [counter, figures[counter] - first[counter]]);
  return { ...figures, ...Object.fromEntries(counted) };
}

function takeAnswer(
  { command, frame }: Extract<Fact, { kind: 'answered' }>,
  seen: Seen,
  ids: Set<string>,
): void {
  if (frame.command === Command.Error) seen.errorFrameCount += 1;
  if (frame.command !== Command.PublishAck) return;
  seen.positiveCount += 1;
  const name = `${command.sent.queue} ${command.sent.id}`;
  if (ids.has(name)) seen.repeatCount += 1;
  ids.add(name);
}

function checkNothingFalls(before: Figures | undefined, now: Figures, complain: Complain): void {
  if (before === undefined) return;
  for (const counter of counters) {
    if (now[counter] < before[counter])
      complain(`${counter} fell from ${before[counter]} to ${now[counter]}`);
  }
}

/** Deliveries that were lost on the way to a client that left were counted, but not observed. */
function checkAgainstSeen(figures: Figures, seen: Seen, ledger: Ledger, complain: Complain): void {
  const wholly = ledger.leftCount === 0;
  const atLeast = (counter: (typeof counters)[number], least: number, most = least): void => {
    const isOff = figures[counter] < least || (wholly && figures[counter] > most);
    if (isOff) complain(`${counter} is ${figures[counter]}, and ${least} were seen`);
  };
  atLeast('deliveredCount', ledger.deliverFrameCount);
  atLeast('retryCount', seen.retryFrameCount, seen.retryFrameCount + seen.perhapsRetryFrameCount);
  if (figures.publishedCount < seen.positiveCount - seen.repeatCount)
    complain(`publishedCount is ${figures.publishedCount}, and ${seen.positiveCount} were confirmed`);
  if (wholly && figures.publishedCount > seen.positiveCount)
    complain(`publishedCount is ${figures.publishedCount}, and ${seen.positiveCount} were confirmed`);
  if (wholly && figures.errorsCount !== seen.errorFrameCount + figures.discardedCount)
    complain(
      `errorsCount is ${figures.errorsCount}: ${seen.errorFrameCount} frames and ${figures.discardedCount} discarded`,
    );
  if (ledger.epoch % ACKS_CHECKED_EVERY === 0) checkAcks(figures, ledger, complain);
}

/** Checks all messages. */
function checkAcks(figures: Figures, ledger: Ledger, complain: Complain): void {
  let certain = 0;
  let possible = 0;
  let letters = 0;
  let perhapsInFlight = 0;
  const count = ({ possibleAcks, settledEpoch, wasRefusedForGood }: Copy): void => {
    possible += possibleAcks.length;
    if (settledEpoch === undefined) perhapsInFlight += 1;
    else if (!wasRefusedForGood) certain += 1;
  };
  for (const message of ledger.messages.values()) {
    for (const copy of message.copies) count(copy);
    if (message.letter === undefined) continue;
    if (!message.isInherited) letters += 1;
    for (const copy of message.letter.copies) count(copy);
  }
  // One of a client that left may have been for what it was sent in the same batch, which nobody has seen.
  for (const { leavingSince, strayAckCount } of ledger.connections.values()) {
    if (leavingSince !== undefined) possible += strayAckCount;
  }
  const { acknowledgedCount, deadLetteredCount, inFlightCount } = figures;
  if (acknowledgedCount < certain)
    complain(`acknowledgedCount is ${acknowledgedCount}, and ${certain} acks took effect`);
  if (acknowledgedCount > possible)
    complain(`acknowledgedCount is ${acknowledgedCount}, and ${possible} acks could count`);
  if (deadLetteredCount < letters)
    complain(`deadLetteredCount is ${deadLetteredCount}, and ${letters} were seen`);
  const noneUnseen = ledger.leftCount === 0;
  if (noneUnseen && inFlightCount > perhapsInFlight)
    complain(`inFlightCount is ${inFlightCount}, and ${perhapsInFlight} copies are not acknowledged`);
}

/**
 * In modes with one subscriber at a time, the published messages minus those held, acknowledged, discarded or purged were removed with
 * their queue. That difference changes only when a queue is deleted.
 */
class Conservation {
  #applies = true;
  #removed = 0;

  /** Recovered messages are held, but were not published in this life. */
  beginAnew(figures: Figures, ledger: Ledger): void {
    this.#removed = removedWithQueues(figures, waitingIn(ledger));
  }

  check(figures: Figures, ledger: Ledger, complain: Complain): void {
    const queues = [...ledger.queues.values()];
    this.#applies &&= queues.every(({ info }) => info === undefined || isOneSubscriberMode(info.options));
    const waiting = waitingIn(ledger);
    const { inFlightCount, queuedBytes } = figures;
    if (waiting + inFlightCount > 0 && queuedBytes <= 0)
      complain(`${waiting + inFlightCount} messages are held in no bytes`);
    if (inFlightCount < 0 || queuedBytes < 0)
      complain(`inFlightCount is ${inFlightCount}, queuedBytes ${queuedBytes}`);
    if (!this.#applies) return;
    const { publishedCount, acknowledgedCount, discardedCount, purgedCount } = figures;
    const removed = removedWithQueues(figures, waiting);
    const mayGrow = queues.some(
      ({ openDeletions, disturbedEpoch }) => openDeletions > 0 || disturbedEpoch >= ledger.epoch,
    );
    if (removed < this.#removed || (removed > this.#removed && !mayGrow)) {
      complain(
        `${publishedCount} published are not ${waiting} waiting, ${inFlightCount} in flight, ${acknowledgedCount} acknowledged, ` +
          `${discardedCount} discarded, ${purgedCount} purged and ${this.#removed} removed with their queue`,
      );
    }
    this.#removed = Math.max(removed, this.#removed);
  }
}

function removedWithQueues(figures: Figures, waiting: number): number {
  const { publishedCount, inFlightCount, acknowledgedCount, discardedCount, purgedCount } = figures;
  return publishedCount - waiting - inFlightCount - acknowledgedCount - discardedCount - purgedCount;
}

function waitingIn({ queues }: Ledger): number {
  return [...queues.values()].reduce((sum, { info }) => sum + (info?.messageCount ?? 0), 0);
}
