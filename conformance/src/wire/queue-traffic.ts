// What the connections of one check sent and received of one queue. Names the requirement by which the next delivery is due, and the
// requirements that the broker seems to break. A hint proves nothing: a check of that requirement must show it. Areas: DELIVERY, RETRY, TTL,
// DLQ, OVERFLOW.
import type { HeaderPairs } from './frame.ts';

/** The queue options that the hints need. Each value is the protocol's default unless the check sets another. */
export type TrafficOptions = {
  readonly mode: number;
  readonly hasTtl: boolean;
  readonly maxQueueSize: number;
  readonly overflowStrategy: number;
};

/** What a Publish or a Deliver carries. */
export type MessageContent = { readonly payload: string; readonly headers: HeaderPairs };

type GivenBack = { readonly id: string; readonly at: number };
type Published = {
  readonly publisher: string;
  readonly at: number;
  readonly priority: string;
  readonly content: MessageContent;
};
type Subscription = { readonly at: number; readonly window: number };

const fanOutWithAck = 1;
const fanOutWithoutAck = 2;
const priorityBased = 3;
const dropOldest = 0;
const blockPublisher = 2;
const redirectToDlq = 3;

/** By overflow strategy: what a Publish to a full queue has to do. */
const overflowRules = ['OVERFLOW-002', 'OVERFLOW-007', 'OVERFLOW-010', 'OVERFLOW-022'] as const;

/** Up to this size a check fills a queue. */
const smallQueueSize = 100;

/** By delivery mode, as its number travels: the requirement by which a subscriber gets a message. */
const modeRules = ['DELIVERY-011', 'DELIVERY-014', 'DELIVERY-024', 'DELIVERY-030'] as const;

/** Requirements whose breach would explain a failure. */
export type Hints = {
  /** During the check the broker did otherwise, or did not send what it owes. */
  readonly seen: readonly string[];
  /** The commands of the check need them. Nothing shows yet that the broker breaks them. */
  readonly needed: readonly string[];
};

export class QueueTraffic {
  options: TrafficOptions = { mode: 0, hasTtl: false, maxQueueSize: 10_000, overflowStrategy: 0 };
  /** The source queue, if this queue receives dead letters. */
  deadLettersOf: QueueTraffic | undefined;
  readonly #published = new Map<string, Published>();
  readonly #accepted = new Set<string>();
  /** Accepted messages that were sent to no connection. */
  readonly #waiting = new Set<string>();
  /** By message: every connection to which it was ever sent. */
  readonly #sentTo = new Map<string, Set<string>>();
  readonly #subscriptions = new Map<string, Subscription>();
  /** By message: the connections that have not acknowledged it, each with the time of the delivery. */
  readonly #holders = new Map<string, Map<string, number>>();
  readonly #heldCounts = new Map<string, number>();
  #hasGivenBack = false;
  readonly #seen = new Set<string>();
  readonly #needed = new Set<string>();
  /** Messages whose connection ended before the ack, with the time of the end. */
  #givenBack: GivenBack[] = [];
  /** The last message of each publisher that each connection was sent for the first time. */
  readonly #lastFirst = new Map<string, number>();
  readonly #acknowledged = new Map<string, string>();
  /** The requirement by which the last ack of each connection counts. */
  readonly #ackRules = new Map<string, string>();
  /** Refused messages that were not delivered again, each with the requirements by which they should be. */
  readonly #refused = new Map<string, readonly string[]>();
  /** Connections that received a message. */
  readonly #served = new Set<string>();
  readonly #unsubscribed = new Set<string>();

  /** After its ack, an id may be published again; it is another message then. */
  publish(id: string, published: Published): void {
    const isRepeat = this.#published.has(id) && !this.#acknowledged.has(id);
    if (isRepeat) return;
    this.#published.set(id, published);
    this.#accepted.delete(id);
    this.#sentTo.delete(id);
    this.#acknowledged.delete(id);
  }

  accept(id: string): void {
    this.#accepted.add(id);
    // The Deliver may arrive before the PublishAck.
    if (!this.#sentTo.has(id)) this.#waiting.add(id);
    if (this.#waiting.size > this.options.maxQueueSize)
      this.#seen.add(overflowRules[this.options.overflowStrategy] ?? overflowRules[0]);
  }

  /** QueueInfo shows this messageCount. Fewer than the accepted messages that were never sent means that some are lost. */
  countedAs(messageCount: number): void {
    if (this.#subscriptions.size > 0) return;
    const isLost = messageCount < Math.min(this.#waiting.size, this.options.maxQueueSize);
    if (isLost) this.#seen.add('DELIVERY-034').add('PUBLISH-002');
    if (isLost && this.#hasGivenBack) this.#seen.add('DELIVERY-038');
  }

  /** The content of a message, or of the message that is this dead letter. */
  contentOf(id: string): MessageContent | undefined {
    const source = this.deadLettersOf;
    return this.#published.get(id)?.content ?? source?.contentOf(id);
  }

  has(id: string): boolean {
    return this.#published.has(id);
  }

  subscribe(connection: string, subscription: Subscription): void {
    if (!this.#subscriptions.has(connection)) this.#subscriptions.set(connection, subscription);
    this.#unsubscribed.delete(connection);
  }

  unsubscribe(connection: string): void {
    this.#subscriptions.delete(connection);
    if (this.#heldCount(connection) > 0) this.#needed.add('DELIVERY-062');
  }

  /** The broker has answered the Unsubscribe. */
  unsubscribed(connection: string): void {
    if (!this.#subscriptions.has(connection)) this.#unsubscribed.add(connection);
  }

  isSubscribed(connection: string): boolean {
    return this.#subscriptions.has(connection);
  }

  /** After DeleteQueue no message of the queue is due. */
  forget(): void {
    if (this.#subscriptions.size > 0) this.#needed.add('QUEUE-016');
    this.#published.clear();
    this.#accepted.clear();
    this.#waiting.clear();
    this.#holders.clear();
    this.#heldCounts.clear();
    this.#givenBack = [];
  }

  deliver(id: string, connection: string, at: number): void {
    this.#refused.delete(id);
    this.#hintAtRepeat(id);
    this.#hintAtOrder(id, connection);
    this.#served.add(connection);
    this.#waiting.delete(id);
    if (this.#unsubscribed.has(connection)) this.#seen.add('DELIVERY-061');
    this.#sentTo.set(id, (this.#sentTo.get(id) ?? new Set()).add(connection));
    if (this.#givenBack.length > 0) this.#givenBack = this.#givenBack.filter((one) => one.id !== id);
    if (this.options.mode === fanOutWithoutAck) return;
    if (this.options.mode !== fanOutWithAck) this.#release(id);
    this.#hold(id, connection, at);
    const window = this.#subscriptions.get(connection)?.window ?? Number.POSITIVE_INFINITY;
    if (this.#heldCount(connection) > window) this.#seen.add('DELIVERY-046');
  }

  /** `rule`: the requirement by which this form of ack settles the delivery. */
  acknowledge(id: string, connection: string, rule: string): void {
    const holders = this.#holders.get(id);
    if (holders === undefined) return;
    const isFanOut = this.options.mode === fanOutWithAck;
    if (!holders.has(connection)) this.#needed.add(isFanOut ? 'DELIVERY-056' : 'DELIVERY-057');
    else if (!isFanOut) this.#acknowledged.set(id, rule);
    // Another subscriber's copy may not have arrived yet.
    if (isFanOut && this.#subscriptions.size > 1) this.#needed.add('DELIVERY-016');
    this.#ackRules.set(connection, rule);
    this.#release(id, connection);
  }

  /** A negative ack; `rules`: the requirements by which the broker handles it. */
  refuse(id: string, connection: string, rules: readonly string[]): void {
    if (this.#holders.get(id)?.has(connection) !== true) return;
    this.#release(id, connection);
    this.#refused.set(id, rules);
  }

  /** When the message was delivered to a connection that holds it; undefined for any other. */
  heldSince(id: string, connection: string): number | undefined {
    return this.#holders.get(id)?.get(connection);
  }

  end(connection: string, at: number): void {
    this.#subscriptions.delete(connection);
    const held = this.#heldCount(connection) === 0 ? [] : [...this.#holders];
    for (const [id, holders] of held) {
      if (!holders.has(connection)) continue;
      this.#release(id, connection);
      this.#givenBack.push({ id, at });
      this.#hasGivenBack = true;
    }
  }

  /** The requirement by which a message, any unless `id` names one, is due on a connection; undefined when none is known. */
  ruleFor(connection: string, id: string | undefined): string | undefined {
    if (this.deadLettersOf !== undefined) return 'DLQ-001';
    const isMeant = (one: string): boolean => id === undefined || one === id;
    const fresh = [...this.#published].filter(([one]) => isMeant(one) && !this.#wasSent(one, connection));
    if (fresh.length === 0) return this.#againRule(isMeant);
    const since = this.#subscriptions.get(connection)?.at;
    if (since !== undefined && fresh.every(([, { at }]) => at < since)) return 'DELIVERY-010';
    return modeRules[this.options.mode];
  }

  hints(): Hints {
    const idle = [...this.#subscriptions].filter(([connection]) => this.#heldCount(connection) === 0);
    const owed = idle.flatMap(([connection, { at }]) => this.#owedTo(connection, at));
    const { hasTtl, maxQueueSize } = this.options;
    const needed = [
      ...this.#needed,
      ...(hasTtl ? ['TTL-005'] : []),
      ...(this.deadLettersOf !== undefined && this.#sentTo.size === 0 ? ['DLQ-001'] : []),
      ...(maxQueueSize <= smallQueueSize ? ['QUEUE-029'] : []),
      ...this.#unansweredRules(),
    ];
    return { seen: [...this.#seen, ...owed, ...[...this.#refused.values()].flat()], needed };
  }

  /** By which a Publish that has no PublishAck is due one, though its queue is full or was full when it came. */
  #unansweredRules(): readonly string[] {
    const { overflowStrategy, maxQueueSize } = this.options;
    const isAnswered = [...this.#published.keys()].every((id) => this.#accepted.has(id));
    if (isAnswered) return [];
    if (overflowStrategy === blockPublisher) return ['OVERFLOW-011'];
    return overflowStrategy === dropOldest && this.#waiting.size >= maxQueueSize ? ['OVERFLOW-004'] : [];
  }

  /** The message was delivered before: its connection ended, or its ack timeout passed. */
  #againRule(isMeant: (id: string) => boolean): string | undefined {
    if (![...this.#sentTo.keys()].some(isMeant)) return undefined;
    return this.#givenBack.some(({ id }) => isMeant(id)) ? 'DELIVERY-038' : 'RETRY-001';
  }

  #owedTo(connection: string, since: number): readonly string[] {
    if (this.deadLettersOf !== undefined)
      return this.#served.has(connection) ? [] : this.#deadLettersOwed(this.deadLettersOf);
    const fresh = [...this.#accepted].flatMap((id) => {
      const at = this.#published.get(id)?.at;
      if (at === undefined || this.#wasSent(id, connection)) return [];
      // A fan-out message is not due to subscribers that subscribed after its first copy was sent.
      if (at < since) return this.#sentTo.has(id) ? [] : ['DELIVERY-010'];
      const rule = modeRules[this.options.mode] ?? modeRules[0];
      return this.options.mode === fanOutWithAck ? [rule, 'DELIVERY-017'] : [rule];
    });
    const again = this.#givenBack.flatMap(({ at }) =>
      at < since ? ['DELIVERY-038', 'DELIVERY-010'] : ['DELIVERY-038'],
    );
    const owed = [...fresh, ...again];
    const ackRule = this.#ackRules.get(connection);
    // If the broker ignored the ack, the subscriber still holds the message and may have no room.
    return owed.length === 0 || ackRule === undefined ? owed : [...owed, ackRule];
  }

  /** A dead letter may wait before the subscription. It needs an expiry, failed attempts or a full queue. */
  #deadLettersOwed(source: QueueTraffic): readonly string[] {
    const { hasTtl, overflowStrategy } = source.options;
    return [
      'DLQ-001',
      'DELIVERY-010',
      ...(hasTtl ? ['TTL-007', 'TTL-005'] : []),
      ...(overflowStrategy === redirectToDlq ? ['OVERFLOW-022'] : []),
      ...[...source.#refused.values()].flat(),
      ...(source.#holders.size + source.#refused.size > 0 ? ['RETRY-008', 'RETRY-007', 'RETRY-001'] : []),
    ];
  }

  /** In a fan-out each subscriber has a copy of its own. */
  #wasSent(id: string, connection: string): boolean {
    const to = this.#sentTo.get(id);
    const { mode } = this.options;
    const isFanOut = mode === fanOutWithAck || mode === fanOutWithoutAck;
    return isFanOut ? to?.has(connection) === true : to !== undefined;
  }

  #heldCount(connection: string): number {
    return this.#heldCounts.get(connection) ?? 0;
  }

  #hold(id: string, connection: string, at: number): void {
    const holders = this.#holders.get(id) ?? new Map<string, number>();
    if (!holders.has(connection)) this.#heldCounts.set(connection, this.#heldCount(connection) + 1);
    this.#holders.set(id, holders.set(connection, at));
  }

  /** `connection`: every holder unless given. */
  #release(id: string, connection?: string): void {
    const holders = this.#holders.get(id) ?? new Map<string, number>();
    for (const holder of connection === undefined ? [...holders.keys()] : [connection])
      if (holders.delete(holder)) this.#heldCounts.set(holder, this.#heldCount(holder) - 1);
    if (holders.size === 0) this.#holders.delete(id);
  }

  #hintAtRepeat(id: string): void {
    const rule = this.#acknowledged.get(id);
    if (rule !== undefined) this.#seen.add(rule).add('DELIVERY-001');
    this.#acknowledged.delete(id);
  }

  /** The first deliveries of a publisher's messages are in publish order; in PriorityBased queues within each priority. */
  #hintAtOrder(id: string, connection: string): void {
    const published = this.#published.get(id);
    const isFirst = this.#sentTo.get(id)?.has(connection) !== true;
    if (published === undefined || !isFirst) return;
    const isByPriority = this.options.mode === priorityBased;
    const line = `${published.publisher} ${connection} ${isByPriority ? published.priority : ''}`;
    const last = this.#lastFirst.get(line) ?? 0;
    if (published.at < last) this.#seen.add(isByPriority ? 'DELIVERY-036' : 'DELIVERY-035');
    this.#lastFirst.set(line, Math.max(last, published.at));
  }
}
