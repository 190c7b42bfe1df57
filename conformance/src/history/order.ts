// Order: what one publisher sent to one subscriber through one queue is first delivered in publish order (not in PriorityBased). A
// subscriber that left may have taken the first delivery of a message with it unseen, so such messages are left out.
// Clause: DELIVERY-035.
import type { Finding } from './account.ts';
import type { Books } from './books.ts';
import type { MessageRecord } from './message-record.ts';

/** One finding for each message that came before an earlier one. */
export function inversions(books: Books): readonly Finding[] {
  const streams = new Map<string, MessageRecord[]>();
  for (const message of books.messages.values()) {
    const stream = streamOf(message, books);
    if (stream !== undefined) streams.set(stream, [...(streams.get(stream) ?? []), message]);
  }
  return [...streams.values()].flatMap(invertedIn);
}

/** Queue, publisher and subscriber; undefined where the first delivery is not sure. */
function streamOf(message: MessageRecord, books: Books): string | undefined {
  const { queue, publishes, deliveries } = message;
  const [publish, second] = publishes;
  const [delivery] = deliveries;
  if (publish === undefined || second !== undefined || delivery === undefined) return undefined;
  const isOrdered = books.rules.queues[queue]?.mode !== 'PriorityBased';
  const isSure = !books.connections.someoneLeftSince(queue, publish.at) && books.crashes.length === 0;
  return isOrdered && isSure ? [queue, publish.connection, delivery.connection].join('\n') : undefined;
}

function invertedIn(messages: readonly MessageRecord[]): readonly Finding[] {
  const byDelivery = [...messages].sort((a, b) => (a.deliveries[0]?.at ?? 0) - (b.deliveries[0]?.at ?? 0));
  const findings: Finding[] = [];
  let latest: MessageRecord | undefined;
  for (const message of byDelivery) {
    if (latest !== undefined && publishedAt(message) < publishedAt(latest)) {
      findings.push(inverted(message, latest));
    } else latest = message;
  }
  return findings;
}

function inverted({ queue, id }: MessageRecord, before: MessageRecord): Finding {
  const text = `it was published before ${before.id} and first delivered after it, to the same subscriber`;
  return { kind: 'inverted', queue, id, text, clause: 'DELIVERY-035' };
}

function publishedAt({ publishes }: MessageRecord): number {
  return publishes[0]?.at ?? 0;
}
