// Order: messages from one publisher through one queue to one subscriber are first delivered in publish order (not in PriorityBased). A
// subscriber that ended may have received the first delivery of a message unread, so such messages are left out.
// Clause: DELIVERY-035.
import type { Finding } from './account.ts';
import type { HistoryState } from './history-state.ts';
import type { MessageRecord } from './message-record.ts';

type FirstDelivery = { readonly message: MessageRecord; readonly at: number };

/** One finding for each message that was delivered before an earlier one. */
export function inversions(books: HistoryState): readonly Finding[] {
  const streams = new Map<string, FirstDelivery[]>();
  for (const message of books.messages.values()) {
    for (const [stream, at] of firstDeliveries(message, books)) {
      const deliveries = streams.get(stream) ?? [];
      deliveries.push({ message, at });
      streams.set(stream, deliveries);
    }
  }
  return [...streams.values()].flatMap(invertedIn);
}

/** When the message was first delivered, by queue, publisher and subscriber; empty if not certain. */
function firstDeliveries(message: MessageRecord, books: HistoryState): ReadonlyMap<string, number> {
  const { queue, publishes, deliveries } = message;
  const [publish, second] = publishes;
  if (publish === undefined || second !== undefined) return new Map();
  const mode = books.rules.queues[queue]?.mode;
  const isSure = !books.connections.someoneLeftSince(queue, publish.at) && books.crashes.length === 0;
  if (mode === 'PriorityBased' || !isSure) return new Map();
  const isFanOut = mode === 'FanOutWithAck' || mode === 'FanOutWithoutAck';
  const first = new Map<string, number>();
  for (const { connection, at } of isFanOut ? deliveries : deliveries.slice(0, 1)) {
    const stream = [queue, publish.connection, connection].join('\n');
    if (!first.has(stream)) first.set(stream, at);
  }
  return first;
}

function invertedIn(deliveries: readonly FirstDelivery[]): readonly Finding[] {
  const byDelivery = [...deliveries].sort((a, b) => a.at - b.at);
  const findings: Finding[] = [];
  let latest: MessageRecord | undefined;
  for (const { message } of byDelivery) {
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
