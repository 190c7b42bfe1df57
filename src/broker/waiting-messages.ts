// The messages of a queue that can be offered to a subscriber now, in the order of offering: by publishing, or by
// priority and then publishing. Either way it also tells which one was published first.

import type { Priority } from '../model/priority.ts';
import type { QueuedMessage } from './message.ts';
import { SequenceList } from './sequence-list.ts';

export type WaitingMessages = {
  readonly size: number;
  /** The one to be offered next. */
  first(): QueuedMessage | undefined;
  /** The one that was accepted first, whatever its priority. */
  oldest(): QueuedMessage | undefined;
  insert(message: QueuedMessage): void;
  remove(message: QueuedMessage): void;
};

export class PublishOrder extends SequenceList implements WaitingMessages {
  oldest(): QueuedMessage | undefined {
    return this.first();
  }
}

export class PriorityOrder implements WaitingMessages {
  readonly #levels: Readonly<Record<Priority, SequenceList>> = {
    0: new SequenceList(),
    1: new SequenceList(),
    2: new SequenceList(),
    3: new SequenceList(),
  };

  get size(): number {
    const levels = this.#levels;
    return levels[0].size + levels[1].size + levels[2].size + levels[3].size;
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

/** The one of two messages of a queue that was accepted first. */
export function earlier(
  a: QueuedMessage | undefined,
  b: QueuedMessage | undefined,
): QueuedMessage | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return a.sequence < b.sequence ? a : b;
}
