// What a history is made of: everything that was done to a broker and everything that it did, in the order in which the runner saw
// it. The order on one connection is the true one; between connections it is that of the runner's own sendings and receipts,
// so that only what is sure from there may be concluded. Data only. Areas: PUBLISH, DELIVERY, DURABLE.

export const deliveryModes = ['RoundRobin', 'FanOutWithAck', 'FanOutWithoutAck', 'PriorityBased'] as const;
export type DeliveryMode = (typeof deliveryModes)[number];

type Step =
  /** A Publish was sent: the message may exist from here on. `content` is the value of its payload, or a digest of that. */
  | { readonly kind: 'publish'; readonly queue: string; readonly id: string; readonly content: string }
  /** PublishAck came: the broker is responsible. */
  | { readonly kind: 'published'; readonly queue: string; readonly id: string }
  /** An Error came for a Publish. Some codes leave the outcome open. */
  | { readonly kind: 'refused'; readonly queue: string; readonly id: string; readonly code: string }
  | { readonly kind: 'subscribe'; readonly queue: string }
  | { readonly kind: 'subscribed'; readonly queue: string }
  | { readonly kind: 'unsubscribe'; readonly queue: string }
  | { readonly kind: 'unsubscribed'; readonly queue: string }
  | { readonly kind: 'delivered'; readonly queue: string; readonly id: string; readonly content: string }
  /** An Ack was sent. Without `queue` it means whatever delivery of that id the connection holds. */
  | { readonly kind: 'ack'; readonly id: string; readonly queue?: string; readonly negative?: true }
  /** A Pong came: what was sent on this connection before operation `upTo` has taken effect. */
  | { readonly kind: 'synchronised'; readonly upTo: number }
  | { readonly kind: 'closed'; readonly byRunner: boolean }
  /** The queue was deleted or purged: what waited in it is gone. */
  | { readonly kind: 'emptied'; readonly queue: string }
  /** The broker was killed, and it was started again. Connection `-`. */
  | { readonly kind: 'crashed' }
  | { readonly kind: 'restarted' };

export type Operation = Step & { readonly atMs: number; readonly connection: string };

/** What the accountant has to know of a queue. A queue that is not described is taken for a RoundRobin one that drops nothing. */
export type QueueRules = {
  readonly mode?: DeliveryMode;
  /** Messages may have expired that are at least so old. */
  readonly messageTtlMs?: number;
  /** The queue may have been full, and its overflow strategy drops messages. */
  readonly mayDrop?: boolean;
  /** Where its dead letters come out. */
  readonly deadLetterQueue?: string;
};

export type HistoryRules = {
  readonly queues: Readonly<Record<string, QueueRules>>;
  /** The queues of which the check knows that nothing is left in them: only there can a message be lost. */
  readonly drained: readonly string[];
  readonly ackTimeoutMs: number;
  /** Confirmed messages survive a crash. */
  readonly durable: boolean;
};

/** `1204.3 ms B: delivered orders m-4` */
export function operationText(operation: Operation): string {
  const { atMs, connection, kind } = operation;
  const words: string[] = [kind];
  if ('queue' in operation && operation.queue !== undefined) words.push(operation.queue);
  if ('id' in operation) words.push(operation.id);
  if ('code' in operation) words.push(operation.code);
  if (kind === 'ack' && operation.negative === true) words.push('(negative)');
  if (kind === 'closed') words.push(operation.byRunner ? 'by the runner' : 'by the broker');
  return `${atMs.toFixed(1)} ms ${connection}: ${words.join(' ')}`;
}
