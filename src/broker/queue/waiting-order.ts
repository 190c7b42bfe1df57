// The messages of a queue that can be sent now, in the order of sending: by publishing, or by priority and then publishing. Each order
// also knows which message was published first. Implements DELIVERY-031, DELIVERY-039 and OVERFLOW-003.

import type { Priority } from '../../model/priority.ts';
import type { QueuedMessage } from './message.ts';
import { type Packer, WaitingList } from './waiting-list.ts';

export type WaitingMessages = {
  /** From now on messages that will wait for long are packed. */
  packWith(packer: Packer): void;
  readonly size: number;
  /** The messages in the order of sending, but for the first `offset`. */
  from(offset: number): Iterable<QueuedMessage>;
  /** The message to be sent next. */
  first(): QueuedMessage | undefined;
  /** The message that was accepted first, whatever its priority. */
  oldest(): QueuedMessage | undefined;
  insert(message: QueuedMessage): void;
  remove(message: QueuedMessage): void;
};

export class PublishOrder extends WaitingList implements WaitingMessages {
  oldest(): QueuedMessage | undefined {
    return this.first();
  }
}

export class PriorityOrder implements WaitingMessages {
  readonly #levels: Readonly<Record<Priority, WaitingList>> = {
    0: new WaitingList(),
    1: new WaitingList(),
    2: new WaitingList(),
    3: new WaitingList(),
  };

  packWith(packer: Packer): void {
    for (const priority of [0, 1, 2, 3] as const) this.#levels[priority].packWith(packer);
  }

  get size(): number {
    const levels = this.#levels;
    return levels[0].size + levels[1].size + levels[2].size + levels[3].size;
  }

  *from(offset: number): Iterable<QueuedMessage> {
    let toSkip = offset;
    for (const priority of [3, 2, 1, 0] as const) {
      const level = this.#levels[priority];
      yield* level.from(toSkip);
      toSkip = Math.max(0, toSkip - level.size);
    }
  }

  first(): QueuedMessage | undefined {
    const levels = this.#levels;
    return levels[3].first() ?? levels[2].first() ?? levels[1].first() ?? levels[0].first();
  }

  oldest(): QueuedMessage | undefined {
    const levels = this.#levels;
    return earlier(
      earlier(levels[0].first(), levels[1].first()),
      earlier(levels[2].first(), levels[3].first()),
    );
  }

  insert(message: QueuedMessage): void {
    this.#levels[message.priority].insert(message);
  }

  remove(message: QueuedMessage): void {
    this.#levels[message.priority].remove(message);
  }
}

/** The earlier accepted of two messages of a queue. */
export function earlier(
  a: QueuedMessage | undefined,
  b: QueuedMessage | undefined,
): QueuedMessage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.sequence < b.sequence ? a : b;
}
