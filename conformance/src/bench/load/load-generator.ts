// Generates load on one queue of one target with a publishing and a receiving process, and compares their counts. A message that was
// confirmed but not received by a subscriber fails the pass, and so does a refusal: such a figure could not be compared.

import type { DeliveryMode } from '../../history/operation.ts';
import { currentSecond } from './load-clock.ts';
import { LoadFault } from './load-fault.ts';
import type { Address } from './load-link.ts';
import { LoadLink } from './load-link.ts';
import type { LoadReply } from './load-orders.ts';
import { LoadProcessHandle } from './load-process-handle.ts';
import type { PublishPassOrder, PublishPassOutcome } from './publisher.ts';
import { deleteQueue, makeQueue } from './queue-commands.ts';
import type { ReceivePassOutcome } from './subscriber-group.ts';

export type LoadOptions = {
  readonly address: Address;
  readonly queue: string;
  readonly mode: DeliveryMode;
  readonly subscriberCount: number;
  readonly prefetch: number;
};

export type PassOrder = Omit<PublishPassOrder, 'queue' | 'tag'>;

export type PassOutcome = { readonly publish: PublishPassOutcome; readonly receive: ReceivePassOutcome };

export class LoadGenerator {
  readonly #options: LoadOptions;
  readonly #publisher = new LoadProcessHandle();
  readonly #subscribers = new LoadProcessHandle();
  #passCount = 0;

  private constructor(options: LoadOptions) {
    this.#options = options;
    this.#subscribers.onCredit = (credit) => this.#publisher.tell({ kind: 'credit', credit });
  }

  /** Makes the queue, subscribes to it and connects the publisher. Throws a LoadFault. */
  static async open(options: LoadOptions): Promise<LoadGenerator> {
    const load = new LoadGenerator(options);
    try {
      await load.#open();
      return load;
    } catch (error) {
      await load.close();
      throw error;
    }
  }

  /** Runs one pass and waits for every message. Throws a LoadFault when one was refused or lost. */
  async pass(order: PassOrder): Promise<PassOutcome> {
    this.#passCount += 1;
    const { queue, subscriberCount } = this.#options;
    const tag = `pass${String(this.#passCount).padStart(8, '0')}`;
    const creditEvery = order.lead === undefined ? 0 : Math.max(1, Math.floor(order.lead / 8));
    const arm = { queue, tag, payloadBytes: order.payloadBytes, creditEvery };
    await this.#subscribers.ask({ kind: 'arm', arm });
    const publishOrder = { ...order, queue, tag };
    const publish = publishOutcome(await this.#publisher.ask({ kind: 'publish', publish: publishOrder }));
    refuseRefusals(publish);
    const count = publish.confirmedCount;
    const receive = receiveOutcome(await this.#subscribers.ask({ kind: 'expect', count }));
    if (receive.lostCount > 0) {
      throw new LoadFault(
        `${receive.lostCount} of ${publish.confirmedCount * subscriberCount} deliveries never came`,
      );
    }
    return { publish, receive };
  }

  /** Ends both processes, and removes the queue where the broker is still there. */
  async close(): Promise<void> {
    await Promise.all([this.#publisher.close(), this.#subscribers.close()]);
    try {
      const link = await LoadLink.open(this.#options.address);
      await deleteQueue(link, this.#options.queue);
      link.close();
    } catch (error) {
      if (!(error instanceof LoadFault)) throw error;
    }
  }

  async #open(): Promise<void> {
    const { address, queue, mode, subscriberCount, prefetch } = this.#options;
    const baseSecond = currentSecond();
    const link = await LoadLink.open(address);
    await makeQueue(link, queue, { mode });
    link.close();
    const subscribe = { queue, count: subscriberCount, prefetch, acknowledge: mode !== 'FanOutWithoutAck' };
    await Promise.all([
      this.#subscribers.ask({ kind: 'open subscribers', address, baseSecond, subscribe }),
      this.#publisher.ask({ kind: 'open publisher', address, baseSecond }),
    ]);
  }
}

function refuseRefusals({ refusedByCode }: PublishPassOutcome): void {
  const refusals = Object.entries(refusedByCode).map(([code, count]) => `${count} with ${code}`);
  if (refusals.length > 0) throw new LoadFault(`publishes were refused: ${refusals.join(', ')}`);
}

function publishOutcome(reply: LoadReply): PublishPassOutcome {
  if (reply.kind === 'published') return reply.outcome;
  throw new Error(`the publishing process answered ${reply.kind}`);
}

function receiveOutcome(reply: LoadReply): ReceivePassOutcome {
  if (reply.kind === 'received') return reply.outcome;
  throw new Error(`the receiving process answered ${reply.kind}`);
}
