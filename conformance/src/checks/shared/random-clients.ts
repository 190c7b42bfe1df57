// Publishers and subscribers of one queue that connect, publish, acknowledge, and disconnect abruptly at random. They follow the
// protocol. The only assertion is that the queue is empty in the end; the history of the check records what happened. Areas: PUBLISH,
// DELIVERY.
import { setTimeout as pause } from 'node:timers/promises';
import type { CheckContext } from '../../check.ts';
import type { Connection } from '../../connection.ts';
import { Command } from '../../wire/command.ts';

export type RandomClientsSetting = {
  readonly queue: string;
  /** Sends QueueInfo for the queue. It does not publish or subscribe. */
  readonly witness: Connection;
  readonly maxDisconnects: number;
};

type Subscriber = { readonly connection: Connection; handledCount: number; held: string[] };

const publisherCount = 2;
const subscriberCount = 3;
const priorities = ['Low', 'Normal', 'High', 'Critical'] as const;
const pollIntervalMs = 10;

export class RandomClients {
  readonly #ctx: CheckContext;
  readonly #setting: RandomClientsSetting;
  #publishers: Connection[] = [];
  #subscribers: Subscriber[] = [];
  #disconnectCount = 0;

  constructor(ctx: CheckContext, setting: RandomClientsSetting) {
    this.#ctx = ctx;
    this.#setting = setting;
  }

  /** Connects missing clients, publishes some messages, acknowledges some deliveries, and disconnects clients at random. */
  async runRound(): Promise<void> {
    await this.#connectMissing();
    for (const publisher of this.#publishers) await this.#publishSome(publisher);
    await this.#disconnectAtRandom('publisher');
    await this.#disconnectAtRandom('subscriber');
    await this.#pingAll();
    await this.#disconnectAtRandom('subscriber');
    for (const subscriber of this.#subscribers) await this.#ackSome(subscriber);
  }

  /** Acknowledges all deliveries until the queue is empty. Publishes nothing and disconnects no client. */
  async drain(): Promise<void> {
    const { ctx, maxMs } = { ctx: this.#ctx, maxMs: this.#maxDrainMs() };
    await this.#connectMissing();
    let until = ctx.now() + maxMs;
    let quietSince: number | undefined;
    // Deliveries may still be on their way, so the queue is empty only after `silenceMs` without a delivery.
    while (quietSince === undefined || ctx.now() < quietSince + ctx.timing.silenceMs) {
      const handledCount = this.#deliveryCount();
      const isQuiet = await this.#isEmpty();
      quietSince = isQuiet ? (quietSince ?? ctx.now()) : undefined;
      // Each delivery extends the deadline: with a window of one message, every poll yields only one delivery per subscriber.
      if (this.#deliveryCount() > handledCount) until = ctx.now() + maxMs;
      const isInTime = isQuiet || ctx.now() < until;
      ctx.assert.ok(isInTime, `the queue becomes empty, or delivers a message every ${maxMs} ms`, {
        actual: `no delivery for ${maxMs} ms, and the queue is not empty`,
        clause: 'DELIVERY-006',
      });
      await pause(pollIntervalMs);
    }
    await this.#pingAll();
  }

  #deliveryCount(): number {
    const handled = this.#subscribers.flatMap(({ connection, handledCount }) =>
      connection.received.slice(0, handledCount),
    );
    return handled.filter(({ command }) => command === Command.Deliver).length;
  }

  /** The longest backoff of a message plus the usual wait for a delivery. */
  #maxDrainMs(): number {
    const { timing, target } = this.#ctx;
    return timing.deliveryMs + target.retryDelayMs * 2 ** Math.min(4, this.#setting.maxDisconnects);
  }

  async #connectMissing(): Promise<void> {
    while (this.#publishers.length < publisherCount)
      this.#publishers.push(await this.#ctx.connect({ own: true }));
    while (this.#subscribers.length < subscriberCount) {
      const connection = await this.#ctx.connect({ own: true });
      await connection.subscribe(this.#setting.queue);
      this.#subscribers.push({ connection, handledCount: 0, held: [] });
    }
  }

  async #publishSome(publisher: Connection): Promise<void> {
    const { random } = this.#ctx;
    for (let count = random.integer(1, 4); count > 0; count -= 1) {
      const id = this.#ctx.id('m');
      const priority = priorities[random.integer(0, 3)] ?? 'Normal';
      const fields = { id, queue: this.#setting.queue, payload: JSON.stringify({ of: id }) };
      await publisher.send({ command: Command.Publish, ...fields, headers: { priority } });
    }
  }

  /** Handles new deliveries. Acknowledges about three quarters of the unacknowledged messages, or `all` of them. */
  async #ackSome(subscriber: Subscriber, all = false): Promise<void> {
    const { connection } = subscriber;
    const fresh = connection.received.slice(subscriber.handledCount);
    subscriber.handledCount += fresh.length;
    const delivered = fresh.filter(({ command }) => command === Command.Deliver).map(({ id }) => id);
    const held = [...subscriber.held, ...delivered];
    const isKept = (): boolean => !all && this.#ctx.random.integer(0, 3) === 0;
    subscriber.held = held.filter(isKept);
    for (const id of held.filter((one) => !subscriber.held.includes(one)))
      await connection.ack({ id, queue: '' });
  }

  /** Disconnects a client while answers and deliveries are on their way. The first subscriber always stays connected. */
  async #disconnectAtRandom(role: 'publisher' | 'subscriber'): Promise<void> {
    const { random } = this.#ctx;
    if (this.#disconnectCount >= this.#setting.maxDisconnects || random.integer(0, 3) > 0) return;
    this.#disconnectCount += 1;
    const client =
      role === 'publisher' ? this.#publishers.shift() : this.#subscribers.splice(1, 1)[0]?.connection;
    await client?.abort();
  }

  async #pingAll(): Promise<void> {
    const all = [...this.#publishers, ...this.#subscribers.map(({ connection }) => connection)];
    await Promise.all(all.map((connection) => connection.ping()));
  }

  async #isEmpty(): Promise<boolean> {
    const { queue, witness } = this.#setting;
    await this.#pingAll();
    for (const subscriber of this.#subscribers) await this.#ackSome(subscriber, true);
    await this.#pingAll();
    const info = await witness.queueInfo(queue);
    const isQueueEmpty = info?.['messageCount'] === 0 && info['subscriberCount'] === subscriberCount;
    return (
      isQueueEmpty &&
      this.#subscribers.every((one) => one.handledCount === one.connection.received.length - 1)
    );
  }
}
