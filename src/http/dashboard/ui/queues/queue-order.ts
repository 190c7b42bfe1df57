// Search and sort over all queues, fast enough for 10,000 of them with every event: names are compared once for each change of membership, everything
// else is a sort by number. The order can be held, so that rows do not move under a pointer.

import type { QueueRow } from '../live/queue-row.ts';
import type { QueuesPlace, SortKey } from '../url-state.ts';

type Rows = ReadonlyMap<number, QueueRow>;
type Named = { readonly id: number; readonly lowerName: string };

export type OrderRequest = Pick<QueuesPlace, 'sort' | 'order' | 'search'> & {
  readonly queues: Rows;
  /** Changes when queues are created or removed. */
  readonly membership: number;
  /** Keeps the order of the last call, unless the request is for another one. */
  readonly isHeld: boolean;
};

export class QueueOrder {
  #membership = -1;
  #byName: readonly Named[] = [];
  #found: readonly Named[] = [];
  #foundFor = '';
  #order: readonly number[] = [];
  #orderFor = '';
  /** The membership of the order. */
  #orderOf = -1;

  /** The queues that contain the search text, in order; those that are equal go by name. New ones are last while the order is held. */
  rows(request: OrderRequest): readonly QueueRow[] {
    const { membership } = request;
    this.#readNames(request);
    const wanted = JSON.stringify([request.sort, request.order, request.search]);
    if (!request.isHeld || wanted !== this.#orderFor) {
      this.#orderFor = wanted;
      this.#order = sorted(this.#search(request), request);
    } else if (membership !== this.#orderOf) {
      const known = new Set(this.#order);
      const created = sorted(this.#search(request), request).filter((id) => !known.has(id));
      this.#order = [...this.#order, ...created];
    }
    this.#orderOf = membership;
    return this.#order.flatMap((id) => request.queues.get(id) ?? []);
  }

  #readNames({ queues, membership }: OrderRequest): void {
    if (membership === this.#membership) return;
    this.#membership = membership;
    this.#foundFor = '\0';
    const { compare } = new Intl.Collator('en', { numeric: true });
    this.#byName = [...queues.values()]
      .sort((a, b) => compare(a.facts.name, b.facts.name))
      .map(({ facts }) => ({ id: facts.id, lowerName: facts.name.toLowerCase() }));
  }

  #search({ search }: OrderRequest): readonly Named[] {
    const words = search.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = words.join(' ');
    if (wanted !== this.#foundFor) {
      this.#foundFor = wanted;
      this.#found = this.#byName.filter(({ lowerName }) => words.every((word) => lowerName.includes(word)));
    }
    return this.#found;
  }
}

function sorted(names: readonly Named[], { sort, order, queues }: OrderRequest): readonly number[] {
  const ids = names.map(({ id }) => id);
  if (sort === 'name') return order === 'asc' ? ids : ids.reverse();
  const sign = order === 'asc' ? 1 : -1;
  const keys = Float64Array.from(ids, (id) => sign * sortNumber(sort, queues.get(id)));
  const positions = Uint32Array.from(ids, (_, position) => position);
  positions.sort((a, b) => (keys[a] ?? 0) - (keys[b] ?? 0) || a - b);
  return Array.from(positions, (position) => ids[position] ?? -1);
}

function sortNumber(sort: Exclude<SortKey, 'name'>, row: QueueRow | undefined): number {
  return row === undefined ? 0 : numbers[sort](row);
}

const modes = ['RoundRobin', 'FanOutWithAck', 'FanOutWithoutAck', 'PriorityBased'];

const numbers: Readonly<Record<Exclude<SortKey, 'name'>, (row: QueueRow) => number>> = {
  mode: ({ facts }) => modes.indexOf(facts.deliveryMode),
  waiting: ({ waitingCount }) => waitingCount,
  inFlight: ({ inFlightCount }) => inFlightCount,
  in: ({ publishedRate }) => publishedRate,
  out: ({ deliveredRate }) => deliveredRate,
  // The oldest age first in descending order; queues in which nothing waits have none.
  oldest: ({ oldestAt }) => (oldestAt === 0 ? -Number.MAX_VALUE : -oldestAt),
  subscribers: ({ subscriberCount }) => subscriberCount,
  deadLetters: ({ deadLetterCount }) => deadLetterCount,
};
