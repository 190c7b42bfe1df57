// What the ledger keeps when a life of the broker has ended: the messages, and what is known of their dead letters. Their places are
// unknown until the next life shows them.

import type { Ledger } from './ledger.ts';
import type { SeenLetter, SeenMessage } from './ledger-entries.ts';

export function inherit(ledger: Ledger): void {
  for (const message of ledger.messages.values()) inheritMessage(message);
  for (const queue of ledger.queues.values()) {
    queue.disturbedEpoch = ledger.epoch;
    if (queue.openPurges > 0) queue.purgedEpoch = ledger.epoch;
    queue.openPurges = 0;
  }
}

/** Refused publishes remain refused. */
function inheritMessage(message: SeenMessage): void {
  message.isInherited = true;
  if (message.state !== 'refused') message.state = 'unanswered';
  message.acceptedEpoch = 0;
  message.acceptedByEpoch = 0;
  message.options = undefined;
  message.copies = [];
  message.sendCount = 0;
  if (message.letter !== undefined) message.letter = inheritedLetter(message.letter);
}

function inheritedLetter(letter: SeenLetter): SeenLetter {
  return { ...letter, copies: [], sendCount: 0 };
}
