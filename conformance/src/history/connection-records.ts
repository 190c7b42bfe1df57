// Records the connections of a history: the subscriptions of each one, their times, and how the connection ended. It judges nothing.
// Area: DELIVERY.
import type { Operation } from './operation.ts';

type Subscription = { readonly sentAt: number; confirmedAt: number | undefined; endedAt: number | undefined };

export class ConnectionRecords {
  readonly #subscriptions = new Map<string, Map<string, Subscription>>();
  /** Connections that the broker closes in the history. The runner sees the close later than it happens. */
  readonly #endedByBroker: ReadonlySet<string>;
  /** When subscribers of a queue ended with unread frames. */
  readonly #leavings = new Map<string, number[]>();

  constructor(operations: readonly Operation[]) {
    const ended = operations.filter((operation) => operation.kind === 'closed' && !operation.byRunner);
    this.#endedByBroker = new Set(ended.map(({ connection }) => connection));
  }

  subscribe(connection: string, queue: string, at: number): void {
    const known = this.#of(queue).get(connection);
    if (known !== undefined && known.endedAt === undefined) return;
    this.#of(queue).set(connection, { sentAt: at, confirmedAt: undefined, endedAt: undefined });
  }

  confirm(connection: string, queue: string, at: number): void {
    const subscription = this.#of(queue).get(connection);
    if (subscription !== undefined) subscription.confirmedAt ??= at;
  }

  unsubscribed(connection: string, queue: string, at: number): void {
    const subscription = this.#of(queue).get(connection);
    if (subscription !== undefined) subscription.endedAt = at;
  }

  closed(connection: string, at: number): void {
    for (const [queue, subscriptions] of this.#subscriptions) {
      const subscription = subscriptions.get(connection);
      if (subscription === undefined || subscription.endedAt !== undefined) continue;
      subscription.endedAt = at;
      this.#leavings.set(queue, [...(this.#leavings.get(queue) ?? []), at]);
    }
  }

  isSubscribed(connection: string, queue: string): boolean {
    const subscription = this.#of(queue).get(connection);
    return subscription !== undefined && subscription.endedAt === undefined;
  }

  subscribedAt(connection: string, queue: string): number | undefined {
    return this.#of(queue).get(connection)?.sentAt;
  }

  willBeEndedByBroker(connection: string): boolean {
    return this.#endedByBroker.has(connection);
  }

  /** Whether a subscriber of the queue ended after `at` with frames that the runner may not have read. */
  someoneLeftSince(queue: string, at: number): boolean {
    return (this.#leavings.get(queue) ?? []).some((leftAt) => leftAt > at);
  }

  /** The subscribers that subscribed before `at` and never ended. */
  steadySubscribers(queue: string, at: number): readonly string[] {
    return [...this.#of(queue)]
      .filter(([, { confirmedAt, endedAt }]) => (confirmedAt ?? at) < at && endedAt === undefined)
      .map(([connection]) => connection);
  }

  #of(queue: string): Map<string, Subscription> {
    const known = this.#subscriptions.get(queue) ?? new Map<string, Subscription>();
    this.#subscriptions.set(queue, known);
    return known;
  }
}
