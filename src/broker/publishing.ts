// What becomes of a publish: a repeat, accepted, refused, redirected, or blocked until there is room.
// Implements PUBLISH (repeats, responsibility), OVERFLOW and LIMIT (bytes held).

import { OverflowStrategy } from '../model/overflow-strategy.ts';
import { BlockedPublish, type Repeat } from './blocked-publish.ts';
import type { Connection } from './connection.ts';
import type { RefusalCode } from './interface/effect.ts';
import type { PublishInput, Token } from './interface/input.ts';
import type { BrokerSettings } from './interface/settings.ts';
import { QueuedMessage } from './message.ts';
import type { Queue } from './queue.ts';
import type { Settlement } from './settlement.ts';
import type { StepContext } from './step-context.ts';

export class Publishing {
  readonly #step: StepContext;
  readonly #settlement: Settlement;
  readonly #settings: BrokerSettings;

  constructor(step: StepContext, settlement: Settlement, settings: BrokerSettings) {
    this.#step = step;
    this.#settlement = settlement;
    this.#settings = settings;
  }

  publish(queue: Queue, connection: Connection, input: PublishInput): void {
    if (input.content.byteLength + queue.deadLetterGrowthBytes > this.#settings.maxContentBytes) {
      const text = `The message would not fit into a frame that names the dead letter queue of ${queue.name}.`;
      return this.#step.refuse(connection.id, input.token, 'MESSAGE_TOO_LARGE', text);
    }
    if (this.#isRepeat(queue, connection, input)) return;
    const message = new QueuedMessage('blocked', input);
    if (this.#step.stats.queuedBytes + message.heldBytes > this.#settings.maxQueuedBytes) {
      const text = `The broker holds as many bytes of messages as it may, ${this.#settings.maxQueuedBytes}.`;
      return this.#step.refuse(connection.id, input.token, 'MEMORY_LIMIT', text);
    }
    if (hasRoom(queue)) this.#accept(queue, connection, input.token, message);
    else this.#overflow(queue, connection, input.token, message);
  }

  /** Accepts the publish that has waited longest in the queue, if there is room for it; tells whether it did. */
  admitNext(queue: Queue): boolean {
    if (queue.blocked.size === 0 || !(queue.mode.takesAtOnce(queue) || !queue.isFull)) return false;
    for (const blocked of queue.blocked.values()) {
      this.#unblock(blocked);
      this.#accept(queue, blocked.connection, blocked.token, blocked.message);
      for (const { connection, token } of blocked.repeats) this.#confirm(connection, token);
      return true;
    }
    return false;
  }

  /** Refuses every publish that waits in the queue. */
  withdrawAll(queue: Queue, code: RefusalCode, text: string): void {
    for (const blocked of [...queue.blocked.values()]) {
      this.#unblock(blocked);
      blocked.message.move('withdraw');
      this.#step.refuse(blocked.connection.id, blocked.token, code, text);
      for (const { connection, token } of blocked.repeats)
        this.#step.refuse(connection.id, token, code, text);
    }
  }

  /** The publisher has left: what it waited for is not accepted any more, unless another one has repeated it. */
  withdrawOf(connection: Connection): void {
    for (const blocked of connection.repeated) blocked.dropRepeatsOf(connection);
    for (const blocked of [...connection.blocked]) {
      const [heir] = blocked.repeats;
      if (heir !== undefined) this.#bequeath(blocked, heir);
      else {
        this.#unblock(blocked);
        blocked.message.move('withdraw');
        this.#step.touch(blocked.queue);
      }
    }
  }

  /** Makes a repeat the one that is waited for; it keeps the place of the first. */
  #bequeath(blocked: BlockedPublish, heir: Repeat): void {
    const { queue, message, repeats } = blocked;
    const inherited = new BlockedPublish(queue, message, heir.connection, heir.token);
    inherited.repeats.push(...repeats.filter((repeat) => repeat !== heir));
    for (const { connection } of repeats) connection.repeated.delete(blocked);
    for (const { connection } of inherited.repeats) connection.repeated.add(inherited);
    queue.blocked.set(message.id, inherited);
    heir.connection.blocked.add(inherited);
    heir.connection.blockedBytes += message.content.byteLength;
  }

  /** A repeat gets the first one's answer, and not before it. */
  #isRepeat(queue: Queue, connection: Connection, input: PublishInput): boolean {
    if (queue.unsettled.has(input.id)) {
      this.#confirm(connection, input.token);
      return true;
    }
    const first = queue.blocked.get(input.id);
    if (first === undefined) return false;
    if (this.#mayBlock(connection, 0)) {
      first.repeats.push({ connection, token: input.token });
      connection.repeated.add(first);
      connection.blockedCount += 1;
    } else this.#refuseBlocking(queue, connection, input.token);
    return true;
  }

  #overflow(queue: Queue, connection: Connection, token: Token, message: QueuedMessage): void {
    switch (queue.options.overflowStrategy) {
      case OverflowStrategy.DropOldest: {
        const oldest = queue.oldestWaiting();
        if (oldest !== undefined) this.#settlement.pushOut(queue, oldest);
        return this.#accept(queue, connection, token, message);
      }
      case OverflowStrategy.DropNewest:
        return this.#step.refuse(connection.id, token, 'QUEUE_FULL', full(queue));
      case OverflowStrategy.BlockPublisher:
        return this.#block(queue, connection, token, message);
      case OverflowStrategy.RedirectToDlq:
        this.#settlement.redirect(queue, message);
        return this.#confirm(connection, token);
    }
  }

  #accept(queue: Queue, connection: Connection, token: Token, message: QueuedMessage): void {
    message.move('admit');
    this.#settlement.accept(queue, message);
    this.#confirm(connection, token);
  }

  #block(queue: Queue, connection: Connection, token: Token, message: QueuedMessage): void {
    if (!this.#mayBlock(connection, message.content.byteLength)) {
      return this.#refuseBlocking(queue, connection, token);
    }
    const blocked = new BlockedPublish(queue, message, connection, token);
    queue.blocked.set(message.id, blocked);
    connection.blocked.add(blocked);
    connection.blockedCount += 1;
    connection.blockedBytes += message.content.byteLength;
    queue.heldBytes += message.heldBytes;
    this.#step.stats.queuedBytes += message.heldBytes;
  }

  #unblock(blocked: BlockedPublish): void {
    const { queue, message, connection } = blocked;
    queue.blocked.delete(message.id);
    connection.blocked.delete(blocked);
    connection.blockedCount -= 1;
    connection.blockedBytes -= message.content.byteLength;
    for (const repeat of blocked.repeats) {
      repeat.connection.blockedCount -= 1;
      repeat.connection.repeated.delete(blocked);
    }
    queue.heldBytes -= message.heldBytes;
    this.#step.stats.queuedBytes -= message.heldBytes;
  }

  #mayBlock(connection: Connection, bytes: number): boolean {
    return (
      connection.blockedCount < this.#settings.maxBlockedPublishes &&
      connection.blockedBytes + bytes <= this.#settings.maxBlockedBytes
    );
  }

  #refuseBlocking(queue: Queue, connection: Connection, token: Token): void {
    const text = `${full(queue)} This connection has as many blocked publishes as it may.`;
    this.#step.refuse(connection.id, token, 'QUEUE_FULL', text);
  }

  #confirm(connection: Connection, token: Token): void {
    this.#step.effect({ kind: 'answered', connection: connection.id, token });
  }
}

/** Whether a new message can enter now: behind those that are blocked already, it cannot. */
function hasRoom(queue: Queue): boolean {
  return queue.blocked.size === 0 && (!queue.isFull || queue.mode.takesAtOnce(queue));
}

function full(queue: Queue): string {
  return `Queue ${queue.name} is full: ${queue.options.maxQueueSize} messages are waiting.`;
}
