// The operations of a history: everything that the runner sent and received, in the order in which the runner saw it. On one connection
// that is the true order. Between connections it is the order of the runner's own sends and receives, so only what follows from that
// may be concluded. Data only. Areas: PUBLISH, DELIVERY, DURABLE.

export const deliveryModes = ['RoundRobin', 'FanOutWithAck', 'FanOutWithoutAck', 'PriorityBased'] as const;
export type DeliveryMode = (typeof deliveryModes)[number];

type Step =
  /** A Publish was sent: the message may exist from here on. `content` is the value of its payload, or a digest of that. */
  | { readonly kind: 'publish'; readonly queue: string; readonly id: string; readonly content: string }
  /** PublishAck came: the broker is responsible for the message. */
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

/** The facts about a queue that the accountant needs. The default is a RoundRobin queue that drops nothing. */
export type QueueRules = {
  readonly mode?: DeliveryMode;
  /** Messages of at least this age may have expired. */
  readonly messageTtlMs?: number;
  /** The queue may have been full, and its overflow strategy drops messages. */
  readonly mayDrop?: boolean;
  /** Its dead letter queue. */
  readonly deadLetterQueue?: string;
};

export type HistoryRules = {
  readonly queues: Readonly<Record<string, QueueRules>>;
  /** The queues that the check has drained: only there can a message be found lost. */
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
