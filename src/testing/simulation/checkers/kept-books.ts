// What is known of each message over all lives of a broker: whether the next one has to have it, or must not. Brought up to date whenever a
// life ends, from the books of that life. It checks nothing.

import { DeliveryMode } from '../../../model/delivery-mode.ts';
import { OverflowStrategy } from '../../../model/overflow-strategy.ts';
import type { QueueOptions } from '../../../model/queue-options.ts';
import type { Ledger } from '../ledger.ts';
import type { Copy, SeenMessage } from '../ledger-entries.ts';
import { isOneSubscriberMode, optionsOf } from './checker.ts';
import { deadLetterQueueOf, isTakenOut, mayPushOut } from './terminal-states.ts';

export type Kept = {
  isConfirmed: boolean;
  /** The first and the last batch in which it may have been accepted. */
  acceptedEpoch: number;
  acceptedByEpoch: number;
  /** Of its queue, while that is certainly the same. */
  options: QueueOptions | undefined;
  /** It is confirmed, and nothing has happened that may have ended it. */
  isDue: boolean;
  /** It may be in a dead letter queue. */
  mayBeLetter: boolean;
  /** It is certainly not in its queue any more; it may be a dead letter. */
  hasLeft: boolean;
  /** It is certainly nowhere any more. */
  isDone: boolean;
  /** Attempts that have certainly failed, and were over before the last one that was seen. */
  failedAttempts: number;
  /** Sendings in all lives. */
  sendCount: number;
};

export type KeptEntry = { readonly message: SeenMessage; readonly kept: Kept };

export class KeptBooks {
  readonly #kept = new Map<SeenMessage, Kept>();

  /** Undefined for what was published in this life, or certainly never accepted. */
  of(message: SeenMessage): Kept | undefined {
    return this.#kept.get(message);
  }

  all(): readonly KeptEntry[] {
    return [...this.#kept].map(([message, kept]) => ({ message, kept }));
  }

  /** `safeEpoch`: what was stepped by that batch is committed. */
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

  /** What should have come to its end in this life or an earlier one, and has not. */
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

/** An id that was published more than once to a queue says little: which publish is the message, only the broker knows. */
function repeats({ messages }: Ledger): (message: SeenMessage) => boolean {
  const counts = new Map<string, number>();
  const nameOf = ({ queue, id }: SeenMessage): string => `${queue} ${id}`;
  for (const message of messages.values())
    counts.set(nameOf(message), (counts.get(nameOf(message)) ?? 0) + 1);
  return (message) => (counts.get(nameOf(message)) ?? 0) > 1;
}

/** From which batch on it, or its queue, was there in this life. */
function sinceOf({ isInherited, acceptedEpoch }: SeenMessage, { bornEpoch }: Ledger): number {
  return isInherited ? bornEpoch + 1 : acceptedEpoch;
}

/** Whether anything in this life allows it to be gone. */
function mayHaveEnded(message: SeenMessage, { options, sendCount }: Kept, ledger: Ledger): boolean {
  const { queue, copies, letter } = message;
  const since = sinceOf(message, ledger);
  if (options === undefined || isTakenOut(queue, since, ledger)) return true;
  if (options.mode === DeliveryMode.FanOutWithoutAck || options.messageTtlMs !== undefined) return true;
  if (options.overflowStrategy === OverflowStrategy.DropOldest || copies.some(isTaken)) return true;
  if (!options.enableDeadLetterQueue) {
    const wasRefused = copies.some(({ judgements }) => judgements.length > 0);
    return wasRefused || sendCount + message.sendCount >= options.maxRetryAttempts;
  }
  const to = deadLetterQueueOf(queue, options);
  if (isTakenOut(to, since, ledger) || mayPushOut(to, ledger)) return true;
  const letters = ledger.queue(to).info?.options;
  // A letter that was sent so is done, also where it was lost on the way to a client that left.
  if (letters?.mode === DeliveryMode.FanOutWithoutAck) return true;
  const most = letters?.maxRetryAttempts ?? 0;
  return letter?.copies.some((copy) => copy.judgements.length > 0 || copy.sends.length >= most) === true;
}

function isTaken({ judgements }: Copy): boolean {
  return judgements.some(({ failureReason }) => failureReason === undefined);
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
  // What was sent so had been taken out of the store before.
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

/** Every attempt but the last one seen, where none can have been cut short. */
function failuresOf({ copies, sendCount }: SeenMessage, { options, failedAttempts }: Kept): number {
  if (options === undefined || !isOneSubscriberMode(options)) return 0;
  const wasCutShort = copies.some(
    ({ subscription }) => subscription.isEnding || subscription.connection.leavingSince !== undefined,
  );
  return wasCutShort ? 0 : failedAttempts + Math.max(0, sendCount - 1);
}
