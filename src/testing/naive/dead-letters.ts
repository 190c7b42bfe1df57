// How dead letters enter their queue: always, and pushing the oldest waiting message out of a full one, but only after
// everything has gone out that could (DLQ area).

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
