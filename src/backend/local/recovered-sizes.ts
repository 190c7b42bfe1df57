// Whether every message of a store fits into a frame: the store may have been filled with a larger maxMessageSize. Looks at each record of a
// recovery in turn, and tells at the end what the largest message needs. Implements FRAME-018 for recovered messages.

import type { Generation, RecoveredRecord } from '../../broker/interface/store-record.ts';
import { deadLetterGrowthBytes, letterGrowthBytes } from '../../broker/queue/content-growth.ts';
import { StoreError } from '../../storage/storage-provider.ts';

type RecoveredMessage = Extract<RecoveredRecord, { readonly kind: 'message' }>;
type SeenQueue = { readonly name: string; readonly growthBytes: number };
type TooLarge = { readonly id: string; readonly queue: string; readonly neededBytes: number };

export class RecoveredSizes {
  readonly #maxContentBytes: number;
  readonly #queues = new Map<Generation, SeenQueue>();
  #tooLargeCount = 0;
  #largest: TooLarge | undefined;

  constructor(maxContentBytes: number) {
    this.#maxContentBytes = maxContentBytes;
  }

  take(record: RecoveredRecord): void {
    if (record.kind === 'message') return this.#takeMessage(record);
    const { generation, name, options } = record;
    this.#queues.set(generation, { name, growthBytes: deadLetterGrowthBytes(name, options) });
  }

  /** @throws StoreError if a message does not fit. */
  throwIfTooLarge(): void {
    const largest = this.#largest;
    if (largest === undefined) return;
    const message = `message ${JSON.stringify(largest.id)} of queue ${JSON.stringify(largest.queue)}`;
    const which =
      this.#tooLargeCount === 1
        ? message
        : `${this.#tooLargeCount} messages that are too large, the largest of them ${message}`;
    const { neededBytes } = largest;
    throw new StoreError(
      `the store holds ${which}, whose frames need ${neededBytes} bytes, but maxMessageSize is ${this.#maxContentBytes}; start with a maxMessageSize of at least ${neededBytes} (the store was not changed)`,
    );
  }

  /** A message without its queue is left to the core, which refuses it. */
  #takeMessage({ id, generation, content, deadLetter }: RecoveredMessage): void {
    const queue = this.#queues.get(generation);
    if (queue === undefined) return;
    const growthBytes =
      deadLetter === undefined ? queue.growthBytes : letterGrowthBytes(queue.name, deadLetter);
    const neededBytes = content.byteLength + growthBytes;
    if (neededBytes <= this.#maxContentBytes) return;
    this.#tooLargeCount += 1;
    if (this.#largest === undefined || neededBytes > this.#largest.neededBytes) {
      this.#largest = { id, queue: queue.name, neededBytes };
    }
  }
}
