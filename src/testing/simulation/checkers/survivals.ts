// Checks recoveries: the next life has every confirmed message that nothing may have removed, none that was removed for good, with its
// failed attempts, age and order; and every queue as it was. A pending commit at the end of a life is done or not, as a whole (DURABLE).

import { DeliveryMode } from '../../../model/delivery-mode.ts';
import type { Fact, Ledger } from '../ledger.ts';
import type { SeenMessage, Send } from '../ledger-entries.ts';
import {
  type Checker,
  type Complain,
  describeCopy,
  describeMessage,
  isOneSubscriberMode,
  optionsOf,
} from './checker.ts';
import { type Kept, KeptBooks } from './kept-books.ts';
import { countIn, QueuePictures } from './queue-snapshots.ts';
import { infosOf } from './queues.ts';

type Delivered = Extract<Fact, { kind: 'delivered' }>;

/** Messages sent for the first time in this life. */
type First = { readonly message: SeenMessage; readonly send: Send; readonly kept: Kept | undefined };

export function survivalsChecker(): Checker {
  const books = new KeptBooks();
  const queues = new QueuePictures();
  const firsts = new Map<string, First[]>();
  return (fact, ledger, complain) => {
    switch (fact.kind) {
      case 'stepped':
        return queues.stepped(fact.now, ledger);
      case 'idle':
        return queues.rested(ledger);
      case 'lifeEnded':
        firsts.clear();
        // A life that never served has changed nothing.
        if (ledger.isBetweenLives) return;
        if (fact.how === 'exit') queues.rested(ledger);
        queues.ended(ledger);
        // Inputs of the batch that closed all connections may have been too late.
        return books.lifeEnded(ledger, fact.how === 'exit' ? ledger.epoch - 1 : queues.restedEpoch);
      case 'serving':
        queues.checkServing(ledger, complain);
        return checkCounts(books, queues.letterNames, ledger, complain);
      case 'delivered':
        return checkDelivery(fact, books, firsts, ledger, complain);
      case 'finished':
        for (const message of books.missing(ledger))
          complain(`${describeMessage(message)} was confirmed and is lost with a restart`);
        return;
      default:
        return;
    }
  };
}

/** All recovered messages wait, and none was removed. */
function checkCounts(
  books: KeptBooks,
  letterNames: ReadonlySet<string>,
  ledger: Ledger,
  complain: Complain,
): void {
  const infos = infosOf(ledger);
  const all = books.all();
  const due = all.filter(({ kept }) => kept.isDue);
  const count = countIn(infos);
  if (count < due.length) complain(`${count} messages are there after a restart, of ${due.length}`);
  for (const { name, messageCount } of infos.values()) {
    const least = due.filter(({ message, kept }) => message.queue === name && !kept.mayBeLetter).length;
    if (messageCount < least)
      complain(`${name} holds ${messageCount} messages after a restart, and not the ${least} that it must`);
    const most = all.filter((entry) => mayBeIn(entry, name, letterNames)).length;
    if (messageCount > most)
      complain(`${name} holds ${messageCount} messages after a restart, and ${most} may be there`);
  }
}

function mayBeIn(
  { message, kept }: { readonly message: SeenMessage; readonly kept: Kept },
  name: string,
  letterNames: ReadonlySet<string>,
): boolean {
  if (message.queue === name && !kept.hasLeft) return true;
  const isThere = message.letter === undefined ? letterNames.has(name) : message.letter.queue === name;
  return isThere && !kept.isDone;
}

function checkDelivery(
  { copy, send }: Delivered,
  books: KeptBooks,
  firsts: Map<string, First[]>,
  ledger: Ledger,
  complain: Complain,
): void {
  const { message } = copy;
  const kept = books.of(message);
  const what = describeCopy(copy);
  if (kept?.isDone === true || (kept?.hasLeft === true && !copy.isDeadLetter))
    complain(`${what} was delivered after a restart, and was through before it`);
  const options = optionsOf(copy, ledger);
  if (copy.isDeadLetter || message.sendCount > 1 || options === undefined) return;
  if (kept !== undefined) checkAge(message, kept, send, ledger, complain);
  if (!isOneSubscriberMode(options)) return;
  const others = firsts.get(copy.queue) ?? [];
  firsts.set(copy.queue, [...others, { message, send, kept }]);
  if (kept === undefined) return;
  // The first failed attempt need not be kept (DURABLE-011).
  if (kept.failedAttempts >= 2 && send.attempt <= kept.failedAttempts)
    complain(`${what} says attempt ${send.attempt}, and ${kept.failedAttempts} had failed before a restart`);
  const byPriority = options.mode === DeliveryMode.PriorityBased;
  const overtaking = others.find((other) => isOvertaken({ message, send, kept }, other, byPriority));
  if (overtaking !== undefined)
    complain(`${what} was passed over after a restart for ${describeMessage(overtaking.message)}`);
}

/** Whether a message that waited all the time and was never sent should have been sent first. */
function isOvertaken({ message, send, kept }: First, other: First, byPriority: boolean): boolean {
  if (kept?.isConfirmed !== true || send.attempt !== 1 || other.send.byEpoch >= send.epoch) return false;
  const urgency = byPriority ? message.published.priority - other.message.published.priority : 0;
  if (urgency !== 0) return urgency > 0;
  // Messages published in this life are younger than all recovered ones.
  if (other.kept === undefined) return true;
  return other.kept.isConfirmed && other.kept.acceptedEpoch > kept.acceptedByEpoch;
}

/** Time passes while no broker runs: by the wall clock, unless it is set. */
function checkAge(message: SeenMessage, kept: Kept, send: Send, ledger: Ledger, complain: Complain): void {
  const ttl = kept.options?.messageTtlMs;
  // A message may count as younger than by the wall clock, if an older message does.
  const offsets = new Set(ledger.batches.slice(1).map(({ at, wallAt }) => wallAt - at));
  if (ttl === undefined || !kept.isConfirmed || offsets.size > 1) return;
  const age = send.at - ledger.batchAt(kept.acceptedByEpoch);
  if (age >= ttl)
    complain(`${describeMessage(message)} was delivered at the age of ${age} ms, of ${ttl}, after a restart`);
}
