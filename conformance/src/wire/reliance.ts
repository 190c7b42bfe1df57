// Which requirement a step relies on, beside what its check is about: that a command is answered, that a message comes. A step that
// fails for such a requirement says nothing about the check's own; engine/causes.ts makes of it what blocks the check. Areas: CONN,
// QUEUE, PUBLISH, DELIVERY, RETRY, DLQ.
import { Command } from './command.ts';
import type { FrameFields, ReceivedFrame } from './frame.ts';
import type { WireObserver } from './link.ts';

/** By command: the requirement that says how it is answered. */
const answerRules: ReadonlyMap<number, string> = new Map([
  [Command.Connect, 'CONN-005'],
  [Command.Ping, 'CONN-019'],
  [Command.Publish, 'PUBLISH-001'],
  [Command.Subscribe, 'DELIVERY-069'],
  [Command.Unsubscribe, 'DELIVERY-061'],
  [Command.CreateQueue, 'QUEUE-001'],
  [Command.DeleteQueue, 'QUEUE-014'],
  [Command.QueueInfo, 'QUEUE-021'],
  [Command.ListQueues, 'QUEUE-028'],
]);

/** By delivery mode, as its number travels: the requirement by which a subscriber gets a message. */
const modeRules = ['DELIVERY-011', 'DELIVERY-014', 'DELIVERY-024', 'DELIVERY-030'] as const;

/** The requirement by which a command is answered; undefined for what has no answer. */
export function answerRule(command: number): string | undefined {
  return answerRules.get(command);
}

type Published = { readonly id: string; readonly at: number };
type Delivered = { readonly id: string; readonly connection: string };

type QueueStory = {
  mode: number;
  isForDeadLetters: boolean;
  readonly published: Published[];
  readonly delivered: Delivered[];
  /** When each connection subscribed. */
  readonly subscribedAt: Map<string, number>;
};

/** What the connections of one check have done, as far as it tells why a delivery is due. */
export class Reliance implements WireObserver {
  readonly #queues = new Map<string, QueueStory>();
  readonly #ended = new Set<string>();
  #at = 0;

  sent(connection: string, { command, id, queue = '', payload }: FrameFields): void {
    this.#at += 1;
    if (command === Command.CreateQueue) this.#created(queue, payload);
    if (command === Command.Publish) this.#of(queue).published.push({ id, at: this.#at });
    if (command === Command.Subscribe && !this.#of(queue).subscribedAt.has(connection))
      this.#of(queue).subscribedAt.set(connection, this.#at);
    if (command === Command.Unsubscribe) this.#of(queue).subscribedAt.delete(connection);
  }

  received(connection: string, { command, id, queue }: ReceivedFrame): void {
    if (command === Command.Deliver) this.#of(queue).delivered.push({ id, connection });
  }

  closed(connection: string): void {
    this.#ended.add(connection);
    for (const { subscribedAt } of this.#queues.values()) subscribedAt.delete(connection);
  }

  /** The requirement by which a message of `queue` (any that the connection subscribed to) is due there; undefined when none is known. */
  ofDelivery(
    connection: string,
    { queue, id }: { readonly queue?: string; readonly id?: string },
  ): string | undefined {
    const names = queue === undefined ? this.#subscribedBy(connection) : [queue];
    const rules = names.map((name) => this.#ruleFor(this.#of(name), connection, id));
    return rules.find((rule) => rule !== undefined);
  }

  #ruleFor(story: QueueStory, connection: string, id: string | undefined): string | undefined {
    const { published, delivered, subscribedAt, mode, isForDeadLetters } = story;
    if (isForDeadLetters) return 'DLQ-001';
    const meant = <One extends { readonly id: string }>(all: readonly One[]): readonly One[] =>
      id === undefined ? all : all.filter((one) => one.id === id);
    const own = isFanOut(mode) ? delivered.filter((one) => one.connection === connection) : delivered;
    const came = new Set(own.map((one) => one.id));
    const fresh = meant(published).filter((one) => !came.has(one.id));
    if (fresh.length === 0) return this.#againRule(meant(delivered));
    const since = subscribedAt.get(connection);
    if (since !== undefined && fresh.every(({ at }) => at < since)) return 'DELIVERY-010';
    return modeRules[mode];
  }

  /** It was delivered before: given back with a connection, or not acknowledged in time. */
  #againRule(delivered: readonly Delivered[]): string | undefined {
    if (delivered.length === 0) return undefined;
    return delivered.some(({ connection }) => this.#ended.has(connection)) ? 'DELIVERY-038' : 'RETRY-001';
  }

  #subscribedBy(connection: string): readonly string[] {
    return [...this.#queues].filter(([, story]) => story.subscribedAt.has(connection)).map(([name]) => name);
  }

  #created(queue: string, payload: FrameFields['payload']): void {
    const options = optionsOf(payload);
    const { mode, enableDeadLetterQueue: isOn, deadLetterQueueName: name } = options;
    if (typeof mode === 'number') this.#of(queue).mode = mode;
    if (isOn === true) this.#of(typeof name === 'string' ? name : `${queue}.dlq`).isForDeadLetters = true;
  }

  #of(queue: string): QueueStory {
    const known = this.#queues.get(queue);
    if (known !== undefined) return known;
    const story = { mode: 0, isForDeadLetters: false, published: [], delivered: [], subscribedAt: new Map() };
    this.#queues.set(queue, story);
    return story;
  }
}

function isFanOut(mode: number): boolean {
  return mode === 1 || mode === 2;
}

function optionsOf(payload: FrameFields['payload']): Readonly<Record<string, unknown>> {
  if (typeof payload !== 'string') return {};
  try {
    const value: unknown = JSON.parse(payload);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
