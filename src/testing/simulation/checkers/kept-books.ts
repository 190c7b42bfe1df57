// What is known of each message over all lives of a broker: whether the next life must have it, or must not. Updated at the end of each
// life from the ledger of that life. It checks nothing.

import { DeliveryMode } from '../../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../../model/overflow-strategy.ts';
import type { QueueOptions } from '../../../model/queue-options.ts';
import type { Ledger } from '../ledger.ts';
import type { Copy, SeenMessage, Send } from '../ledger-entries.ts';
import { isOneSubscriberMode, optionsOf } from './checker.ts';
import { dlqNameOf, isTakenOut, mayPushOut } from './terminal-states.ts';

export type Kept = {
  isConfirmed: boolean;
  /** The first and the last batch in which the message may have been accepted. */
  acceptedEpoch: number;
  acceptedByEpoch: number;
  /** Options of its queue, while the queue is certainly the same. */
  options: QueueOptions | undefined;
  /** It was confirmed, and nothing may have removed it. */
  isDue: boolean;
  /** It may be in a dead letter queue. */
  mayBeLetter: boolean;
  /** It is certainly not in its queue; it may be a dead letter. */
  hasLeft: boolean;
  /** It is certainly in no queue. */
  isDone: boolean;
  /** Attempts that have certainly failed, and ended before the last observed one. */
  failedAttempts: number;
  /** Deliveries in all lives. */
  sendCount: number;
};

export type KeptEntry = { readonly message: SeenMessage; readonly kept: Kept };

export class KeptBooks {
  readonly #kept = new Map<SeenMessage, Kept>();

  /** Undefined for messages that were published in this life or certainly never accepted. */
  of(message: SeenMessage): Kept | undefined {
    return this.#kept.get(message);
  }

  all(): readonly KeptEntry[] {
    return [...this.#kept].map(([message, kept]) => ({ message, kept }));
  }

  /** `safeEpoch`: the last batch that is certainly committed. */
  lifeEnded(ledger: Ledger, safeEpoch: number): void {
    const isRepeated = repeats(ledger);
    for (const message of ledger.messages.values()) {
      if (message.state === 'refused') continue;
      const kept = this.#kept.get(message) ?? newKept(message);
      this.#kept.set(message, kept);
      kept.isDue &&= !isRepeated(message) && !mayHaveEnded(message, kept, ledger);
      kept.sendCount += message.sendCount;
      bookEnd(message, kept, ledger, safeEpoch);
      kept.failedAttempts = Math.max(kept.failedAttempts, failuresOf(message, kept));
      if (ledger.isDisturbed(message.queue, sinceOf(message, ledger))) kept.options = undefined;
    }
  }

  /** Messages that should have ended in this life or an earlier one, but have not. */
  missing(ledger: Ledger): readonly SeenMessage[] {
    const isRepeated = repeats(ledger);
    return this.all()
      .filter(
        ({ message, kept }) => kept.isDue && !isRepeated(message) && !mayHaveEnded(message, kept, ledger),
      )
      .map(({ message }) => message);
  }
}

function newKept({ state, acceptedEpoch, acceptedByEpoch, options }: SeenMessage): Kept {
  const isConfirmed = state === 'accepted';
  return {
    isConfirmed,
    acceptedEpoch,
    acceptedByEpoch,
    options,
    isDue: isConfirmed && options !== undefined,
    mayBeLetter: options?.enableDeadLetterQueue !== false,
    hasLeft: false,
    isDone: false,
    failedAttempts: 0,
    sendCount: 0,
  };
}

/** Ids that were published more than once to a queue are ambiguous: any of the publishes may be the message. */
function repeats({ messages }: Ledger): (message: SeenMessage) => boolean {
  const counts = new Map<string, number>();
  const nameOf = ({ queue, id }: SeenMessage): string => `${queue} ${id}`;
  for (const message of messages.values())
    counts.set(nameOf(message), (counts.get(nameOf(message)) ?? 0) + 1);
  return (message) => (counts.get(nameOf(message)) ?? 0) > 1;
}

/** The first batch of this life in which the message or its queue existed. */
function sinceOf({ isInherited, acceptedEpoch }: SeenMessage, { bornEpoch }: Ledger): number {
  return isInherited ? bornEpoch + 1 : acceptedEpoch;
}

/** Whether anything in this life may have removed it. */
function mayHaveEnded(message: SeenMessage, { options, sendCount }: Kept, ledger: Ledger): boolean {
  const { queue, copies, letter } = message;
  const since = sinceOf(message, ledger);
  if (options === undefined || isTakenOut(queue, since, ledger)) return true;
  if (options.mode === DeliveryMode.FanOutWithoutAck || options.messageTtlMs !== undefined) return true;
  if (options.overflowStrategy === OverflowStrategy.DropOldest || copies.some(isTaken)) return true;
  if (!options.enableDeadLetterQueue) {
    const wasRefused = copies.some(({ possibleAcks }) => possibleAcks.length > 0);
    return wasRefused || sendCount + message.sendCount >= options.maxRetryAttempts;
  }
  const to = dlqNameOf(queue, options);
  if (isTakenOut(to, since, ledger) || mayPushOut(to, ledger)) return true;
  const letters = ledger.queue(to).info?.options;
  // A dead letter that was sent without ack is done, even if it was lost on the way to a client that left.
  if (letters?.mode === DeliveryMode.FanOutWithoutAck) return true;
  const most = letters?.maxRetryAttempts ?? 0;
  // Attempts of earlier lives count too, as the header deliveryAttempts says.
  const isLast = ({ attempt }: Send): boolean => attempt >= most;
  return (
    letter?.copies.some(({ possibleAcks, sends }) => possibleAcks.length > 0 || sends.some(isLast)) === true
  );
}

function isTaken({ possibleAcks }: Copy): boolean {
  return possibleAcks.some(({ failureReason }) => failureReason === undefined);
}

function bookEnd(message: SeenMessage, kept: Kept, ledger: Ledger, safeEpoch: number): void {
  const { copies, letter, queue } = message;
  const isSafe = ({ settledEpoch }: Copy): boolean => settledEpoch !== undefined && settledEpoch <= safeEpoch;
  const mode = copies[0] && optionsOf(copies[0], ledger);
  if (mode !== undefined && isOneSubscriberMode(mode)) {
    const settled = copies.filter(isSafe);
    kept.hasLeft ||= settled.length > 0;
    kept.isDone ||= settled.some(({ wasRefusedForGood }) => !wasRefusedForGood);
  }
  // A message that was sent without ack was removed from the store before.
  if (mode?.mode === DeliveryMode.FanOutWithoutAck) kept.isDone = true;
  if (letter?.copies.some(isSafe) === true && isLetterOfOne(letter.copies, ledger)) kept.isDone = true;
  const { deleted } = ledger.queue(queue);
  const wasThere = message.isInherited ? ledger.bornEpoch : acceptedByEpochOf(message);
  const isDeleted = deleted !== undefined && wasThere <= deleted.afterEpoch;
  kept.hasLeft ||= kept.isDone || letter !== undefined || isDeleted;
}

function isLetterOfOne(copies: readonly Copy[], ledger: Ledger): boolean {
  const [first] = copies;
  const options = first && optionsOf(first, ledger);
  return options !== undefined && isOneSubscriberMode(options);
}

function acceptedByEpochOf({ state, acceptedByEpoch }: SeenMessage): number {
  return state === 'accepted' ? acceptedByEpoch : Number.POSITIVE_INFINITY;
}

/** Every attempt except the last observed one, if none can have been interrupted. */
function failuresOf({ copies, sendCount }: SeenMessage, { options, failedAttempts }: Kept): number {
  if (options === undefined || !isOneSubscriberMode(options)) return 0;
  const wasCutShort = copies.some(
    ({ subscription }) => subscription.isEnding || subscription.connection.leavingSince !== undefined,
  );
  return wasCutShort ? 0 : failedAttempts + Math.max(0, sendCount - 1);
}
