// What the books keep when a life of the broker has ended: which messages there are, and what was said of their dead letters. Where they
// are now is open again, and only the broker's next life can tell.

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

/** What was refused was refused for good. */
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
