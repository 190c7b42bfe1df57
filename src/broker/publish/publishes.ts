// What follows from a publish: it is a repeat, accepted, refused, redirected, or blocked until there is room.
// Implements PUBLISH-001 to PUBLISH-012, OVERFLOW-001 to OVERFLOW-024 LIMIT-013 and LIMIT-022.

import { OverflowStrategy } from '../../model/overflow-strategy.ts';
import type { RefusalCode } from '../interface/effect.ts';
import type { PublishInput, Token } from '../interface/input.ts';
import type { BrokerSettings } from '../interface/settings.ts';
import { QueuedMessage } from '../queue/message.ts';
import type { MessageLifecycle } from '../queue/message-lifecycle.ts';
import type { Queue } from '../queue/queue.ts';
import type { StepContext } from '../queue/step-context.ts';
import { BlockedPublishes } from './blocked-publishes.ts';
import type { Publisher } from './publisher.ts';

export class Publishes {
  readonly #step: StepContext;
  readonly #lifecycle: MessageLifecycle;
  readonly #settings: BrokerSettings;
  readonly #blocked: BlockedPublishes;

  constructor(step: StepContext, lifecycle: MessageLifecycle, settings: BrokerSettings) {
    this.#step = step;
    this.#lifecycle = lifecycle;
    this.#settings = settings;
    this.#blocked = new BlockedPublishes(step, settings);
  }

  publish(queue: Queue, publisher: Publisher, input: PublishInput): void {
    if (input.content.byteLength + queue.deadLetterGrowthBytes > this.#settings.maxContentBytes) {
      const text = `The message would not fit into a frame that names the dead letter queue of ${queue.name}.`;
      return this.#step.refuse(publisher.id, input.token, 'MESSAGE_TOO_LARGE', text);
    }
    if (this.#isRepeat(queue, publisher, input)) return;
    const message = new QueuedMessage('blocked', input);
    const shortage = this.#memoryShortage(message);
    if (shortage !== undefined) {
      return this.#step.refuse(publisher.id, input.token, 'MEMORY_LIMIT', shortage);
    }
    if (this.#hasRoom(queue)) this.#accept(queue, publisher, input.token, message);
    else this.#overflow(queue, publisher, input.token, message);
  }

  /** Why a queue that is created for the publish could not take it; undefined when it could. */
  refusalInNewQueue(input: PublishInput): { readonly code: RefusalCode; readonly text: string } | undefined {
    if (input.content.byteLength > this.#settings.maxContentBytes)
      return { code: 'MESSAGE_TOO_LARGE', text: 'The message would not fit into a frame.' };
    const text = this.#memoryShortage(new QueuedMessage('blocked', input));
    return text === undefined ? undefined : { code: 'MEMORY_LIMIT', text };
  }

  /** Accepts the publish that has waited longest for the queue, if there is room for it; returns whether it did. */
  admitNext(queue: Queue): boolean {
    const blocked = this.#blocked.first(queue);
    if (blocked === undefined || (queue.isFull && !queue.delivery.canDeliverNow())) return false;
    this.#blocked.remove(blocked);
    this.#accept(queue, blocked.publisher, blocked.token, blocked.message);
    for (const { publisher, token } of blocked.repeats) this.#confirm(publisher, token);
    return true;
  }

  /** Refuses every publish that waits for the queue. */
  withdrawAll(queue: Queue, code: RefusalCode, text: string): void {
    for (const blocked of this.#blocked.all(queue)) {
      this.#blocked.remove(blocked);
      blocked.message.move('withdraw');
      this.#step.refuse(blocked.publisher.id, blocked.token, code, text);
      for (const { publisher, token } of blocked.repeats) this.#step.refuse(publisher.id, token, code, text);
    }
  }

  /** The publisher has disconnected. */
  withdrawOf(publisher: Publisher): void {
    this.#blocked.withdrawOf(publisher);
  }

  /** Why no further message can be held; undefined when it can. */
  #memoryShortage({ heldBytes }: QueuedMessage): string | undefined {
    const { queuedBytes, structureBytes } = this.#step.stats;
    const { maxQueuedBytes, maxStructureBytes } = this.#settings;
    if (queuedBytes + heldBytes > maxQueuedBytes)
      return `The broker holds as many bytes of messages as it may, ${maxQueuedBytes}.`;
    if (structureBytes <= maxStructureBytes) return undefined;
    return `Deliveries in flight take more bytes than they may, ${maxStructureBytes}.`;
  }

  /** A repeat gets the answer of the first publish, and not before it. */
  #isRepeat(queue: Queue, publisher: Publisher, input: PublishInput): boolean {
    const { token } = input;
    if (queue.unsettled.has(input.id)) {
      this.#confirm(publisher, token);
      return true;
    }
    const first = this.#blocked.find(queue, input.id);
    if (first === undefined) return false;
    if (this.#blocked.mayAdd(publisher, 0)) this.#blocked.repeat(first, { publisher, token });
    else this.#refuseBlocking(queue, publisher, token);
    return true;
  }

  /** Whether a message can enter now. Behind blocked ones it cannot. */
  #hasRoom(queue: Queue): boolean {
    return this.#blocked.isEmpty(queue) && (!queue.isFull || queue.delivery.canDeliverNow());
  }

  #overflow(queue: Queue, publisher: Publisher, token: Token, message: QueuedMessage): void {
    switch (queue.options.overflowStrategy) {
      case OverflowStrategy.DropOldest: {
        const oldest = queue.oldestWaiting();
        if (oldest !== undefined) this.#lifecycle.evict(queue, oldest);
        return this.#accept(queue, publisher, token, message);
      }
      case OverflowStrategy.DropNewest:
        return this.#step.refuse(publisher.id, token, 'QUEUE_FULL', fullText(queue));
      case OverflowStrategy.BlockPublisher:
        return this.#block(queue, publisher, token, message);
      case OverflowStrategy.RedirectToDlq:
        this.#lifecycle.redirect(queue, message);
        return this.#confirm(publisher, token);
    }
  }

  #accept(queue: Queue, publisher: Publisher, token: Token, message: QueuedMessage): void {
    message.move('admit');
    this.#lifecycle.accept(queue, message);
    this.#confirm(publisher, token);
  }

  #block(queue: Queue, publisher: Publisher, token: Token, message: QueuedMessage): void {
    if (this.#blocked.mayAdd(publisher, message.content.byteLength)) {
      this.#blocked.add(queue, message, { publisher, token });
    } else this.#refuseBlocking(queue, publisher, token);
  }

  #refuseBlocking(queue: Queue, publisher: Publisher, token: Token): void {
    const text = `${fullText(queue)} This connection has as many blocked publishes as it may.`;
    this.#step.refuse(publisher.id, token, 'QUEUE_FULL', text);
  }

  #confirm(publisher: Publisher, token: Token): void {
    this.#step.effect({ kind: 'answered', connection: publisher.id, token });
  }
}

function fullText(queue: Queue): string {
  return `Queue ${queue.name} is full: ${queue.options.maxQueueSize} messages are waiting.`;
}
