// A load process: a publisher or a group of subscribers, on the orders of the measuring process. Each side has its own process, because
// two sides in one event loop would slow down each other. It ends with the measuring process.
import { loadClock } from './load-clock.ts';
import { LoadFault } from './load-fault.ts';
import type { LoadOrder, LoadReply } from './load-orders.ts';
import { Publisher } from './publisher.ts';
import { SubscriberGroup } from './subscriber-group.ts';

/** Serves orders until the channel closes. */
export function serveLoadOrders(): void {
  const worker = new LoadWorker();
  process.on('message', (order: LoadOrder) => void worker.handle(order));
  process.on('disconnect', () => process.exit(0));
}

class LoadWorker {
  #publisher: Publisher | undefined;
  #subscribers: SubscriberGroup | undefined;

  async handle(order: LoadOrder): Promise<void> {
    try {
      const answer = await this.#carryOut(order);
      if (answer !== undefined) reply(answer);
    } catch (error) {
      const isTargets = error instanceof LoadFault;
      const message = isTargets ? error.message : String((error as Error).stack ?? error);
      reply({ kind: 'fault', message, isTargets });
    }
  }

  async #carryOut(order: LoadOrder): Promise<LoadReply | undefined> {
    switch (order.kind) {
      case 'open publisher':
        this.#publisher = await Publisher.open(order.address, loadClock(order.baseSecond));
        return { kind: 'ready' };
      case 'open subscribers':
        this.#subscribers = new SubscriberGroup(loadClock(order.baseSecond), (credit) =>
          reply({ kind: 'credit', credit }),
        );
        await this.#subscribers.open(order.address, order.subscribe);
        return { kind: 'ready' };
      case 'publish':
        return { kind: 'published', outcome: await opened(this.#publisher).publish(order.publish) };
      case 'arm':
        opened(this.#subscribers).arm(order.arm);
        return { kind: 'ready' };
      case 'expect':
        return { kind: 'received', outcome: await opened(this.#subscribers).expect(order.count) };
      case 'credit':
        this.#publisher?.credit(order.credit);
        return undefined;
    }
  }
}

function opened<T>(party: T | undefined): T {
  if (party === undefined) throw new Error('an order came before the connection was opened');
  return party;
}

function reply(answer: LoadReply): void {
  process.send?.(answer);
}
