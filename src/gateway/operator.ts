// What an operator may ask of the broker, without being a client: to look at queues and messages, and to remove, purge, delete and requeue.
// Each request is a command of the core like those of clients, so it is answered when it is committed, and refused while the broker drains.
// Implements DASH-005 to DASH-020 and DASH-032 to DASH-034 on the gateway's side.

import type { Backend } from '../backend/backend.ts';
import { type Input, OPERATOR } from '../broker/interface/input.ts';
import type { OperatorResult, RequeueOutcome } from '../broker/interface/operator-result.ts';
import type { Logger } from '../model/logger.ts';
import type { QueueInfo } from '../model/queue-info.ts';
import type { OperatorRequests } from './operator-requests.ts';
import { type ShownMessage, shownMessage } from './translate/shown-message.ts';

export type MessagePage = {
  readonly offset: number;
  readonly limit: number;
  /** The page ends early when its messages weigh more; it has at least one message if any waits there. */
  readonly maxBytes: number;
};

type Command = Extract<Input, { readonly token: unknown }>;
type Question = Command extends infer One
  ? One extends Command
    ? Omit<One, 'connection' | 'token'>
    : never
  : never;

export type { RequeueOutcome };

/** The broker does not serve: it recovers, its store has failed, or it has ended. The message says which. */
export class OutOfService extends Error {
  override readonly name = 'OutOfService';
}

/**
 * All methods reject with {@link OutOfService}, also when the store fails before the answer, and with RequestRefused: QUEUE_NOT_FOUND when
 * the queue does not exist, SHUTTING_DOWN while the broker drains.
 */
export class Operator {
  readonly #backend: Backend;
  readonly #requests: OperatorRequests;
  readonly #outOfServiceReason: () => string | undefined;
  readonly #logger: Logger;

  constructor(
    backend: Backend,
    requests: OperatorRequests,
    outOfServiceReason: () => string | undefined,
    logger: Logger,
  ) {
    this.#logger = logger;
    this.#backend = backend;
    this.#requests = requests;
    this.#outOfServiceReason = outOfServiceReason;
  }

  /** The names of all queues, in the order of their creation. */
  async listQueues(): Promise<readonly string[]> {
    const { result } = await this.#ask({ kind: 'listQueues' });
    return result as readonly string[];
  }

  /** Undefined: there is no such queue. */
  async queueInfo(queue: string): Promise<QueueInfo | undefined> {
    const { result } = await this.#ask({ kind: 'queueInfo', queue });
    return (result as QueueInfo | null) ?? undefined;
  }

  /** Messages that wait, in the order in which they would be sent. They stay where they are. */
  async listMessages(queue: string, page: MessagePage): Promise<readonly ShownMessage[]> {
    const { messages } = await this.#learn('messages', { kind: 'listMessages', queue, ...page });
    return messages.map(shownMessage);
  }

  /**
   * A message that waits or is in flight; undefined: there is none with this id. With `source` only a dead letter that comes from that queue
   * is meant.
   */
  async readMessage(queue: string, id: string, source?: string): Promise<ShownMessage | undefined> {
    const { message } = await this.#learn('message', { kind: 'readMessage', queue, id, ...from(source) });
    return message && shownMessage(message);
  }

  /**
   * Removes a message that waits. Resolves with false if none with this id does. With `source` only a dead letter that comes from that queue
   * is meant.
   */
  async removeMessage(queue: string, id: string, source?: string): Promise<boolean> {
    const { isRemoved } = await this.#learn('removal', { kind: 'removeMessage', queue, id, ...from(source) });
    if (isRemoved) this.#logger.debug('message removed', { queue, id, by: 'operator' });
    return isRemoved;
  }

  /**
   * Moves a waiting dead letter to the end of its source queue, as a new message with its old id: of several with this id the oldest. With
   * `source` only one that comes from that queue is meant.
   */
  async requeueMessage(queue: string, id: string, source?: string): Promise<RequeueOutcome> {
    const { outcome } = await this.#learn('requeue', { kind: 'requeueMessage', queue, id, ...from(source) });
    if (outcome === 'requeued') this.#logger.debug('message requeued', { queue, id, by: 'operator' });
    return outcome;
  }

  /**
   * Removes all waiting messages, but none in flight. Resolves when the removal is committed. After SHUTTING_DOWN some messages may have
   * been removed.
   */
  async purgeQueue(queue: string): Promise<void> {
    await this.#ask({ kind: 'purgeQueue', queue });
    this.#logger.debug('queue purged', { queue, by: 'operator' });
  }

  /** Deletes a queue with all its messages; one that does not exist is no error. */
  async deleteQueue(queue: string): Promise<void> {
    await this.#ask({ kind: 'deleteQueue', queue });
  }

  #ask(question: Question): ReturnType<OperatorRequests['make']> {
    const reason = this.#outOfServiceReason();
    if (reason !== undefined) return Promise.reject(new OutOfService(reason));
    return this.#requests.make((token) => {
      this.#backend.submit({ ...question, connection: OPERATOR, token } as Input);
    });
  }

  async #learn<Kind extends OperatorResult['kind']>(
    kind: Kind,
    question: Question,
  ): Promise<Extract<OperatorResult, { readonly kind: Kind }>> {
    const { operatorResult } = await this.#ask(question);
    if (operatorResult?.kind !== kind)
      throw new Error(`The core answered ${question.kind} with something else.`);
    return operatorResult as Extract<OperatorResult, { readonly kind: Kind }>;
  }
}

function from(source: string | undefined): { readonly source?: string } {
  return source === undefined ? {} : { source };
}
