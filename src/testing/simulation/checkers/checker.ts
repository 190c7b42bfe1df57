// The type of a checker: it checks one rule of the broker. It receives every fact in order, with the ledger after it, and complains when
// the rule is broken; it knows nothing of the broker's implementation.

import { DeliveryMode } from '../../../model/delivery-mode.ts';
import type { QueueOptions } from '../../../model/queue-options.ts';
import type { Fact, Ledger } from '../ledger.ts';
import type { Copy, SeenMessage } from '../ledger-entries.ts';

export type Complain = (text: string) => void;

export type Checker = (fact: Fact, ledger: Ledger, complain: Complain) => void;

export function isOneSubscriberMode({ mode }: QueueOptions): boolean {
  return mode === DeliveryMode.RoundRobin || mode === DeliveryMode.PriorityBased;
}

/** The options of the queue that the copy was sent from; undefined if the queue may have been replaced since the first delivery. */
export function optionsOf(copy: Copy, ledger: Ledger): QueueOptions | undefined {
  if (ledger.isDisturbed(copy.queue, sinceOf(copy))) return undefined;
  return ledger.queue(copy.queue).info?.options;
}

function sinceOf(copy: Copy): number {
  const first = copy.sends[0]?.epoch ?? 0;
  const { acceptedEpoch } = copy.message;
  return copy.isDeadLetter || acceptedEpoch === 0 ? first : Math.min(first, acceptedEpoch);
}

/** The copies of the message that were sent from the same queue as this one. */
export function siblingsOf(copy: Copy): readonly Copy[] {
  return copy.isDeadLetter ? (copy.message.letter?.copies ?? []) : copy.message.copies;
}

/** Whether the message may have come back to its queue, because a subscription to which it was sent has ended. */
export function cameBack(copy: Copy): boolean {
  return siblingsOf(copy).some(({ subscription }) => subscription.isEnding);
}

export function describeMessage({ published, id, queue }: SeenMessage): string {
  return `message ${id} (publish ${published.number} to ${queue})`;
}

export function describeCopy(copy: Copy): string {
  const from = copy.isDeadLetter ? ` as a dead letter in ${copy.queue}` : '';
  return `${describeMessage(copy.message)}${from} on connection ${copy.subscription.connection.number}`;
}

/** Whether another publish to the same queue has its id. */
export function isRepeated({ id, queue, published }: SeenMessage, { messages }: Ledger): boolean {
  return [...messages.values()].some(
    (other) => other.id === id && other.queue === queue && other.published.number !== published.number,
  );
}
