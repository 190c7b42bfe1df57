// How dead letters enter their queue in the naive broker: always, replacing the oldest waiting message of a full queue, but only after all
// possible deliveries (DLQ).

import { addMessage, canEnter, deadLetterQueueFor, pushOutOldest } from './giving-up.ts';
import { offerFrom } from './offering.ts';
import type { NaiveDeadLetter, NaiveState } from './state.ts';

/** Brings in what has been given up, in the order in which it was. */
export function admitDeadLetters(state: NaiveState): void {
  for (let first = state.deadLetters.shift(); first !== undefined; first = state.deadLetters.shift()) {
    admit(state, first);
  }
}

function admit(state: NaiveState, { source, message, failure }: NaiveDeadLetter): void {
  const target = deadLetterQueueFor(state, source);
  if (!canEnter(state, target)) offerFrom(state, target);
  if (!canEnter(state, target)) pushOutOldest(state, target);
  const facts = { ...failure, source: source.name, deadLetteredWallAt: state.wallNow };
  addMessage(state, target, message, facts);
  state.counters.deadLetteredCount += 1;
}
