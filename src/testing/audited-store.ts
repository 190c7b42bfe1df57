// The part of the audit of the broker core that checks store records: what a durable store would hold, with the rules asserted that a
// message is added once, removed once, and removed only from the queue that has it.

import { ok } from 'node:assert/strict';
import type { MessageContent } from '../broker/interface/message-content.ts';
import type { Generation, StoredMessage, StoreRecord } from '../broker/interface/store-record.ts';
import type { QueueOptions } from '../model/queue-options.ts';

export type AuditedMessage = {
  readonly stored: StoredMessage;
  readonly acceptedAt: number;
  failedAttempts: number;
};

export type AuditedQueue = {
  readonly generation: Generation;
  readonly name: string;
  readonly options: QueueOptions;
  readonly messages: Map<number, AuditedMessage>;
};

const WEIGHT_OF_A_MESSAGE = 384;
const FAN_OUT_MODES: readonly number[] = [1, 2];

export class AuditedStore {
  readonly #queues = new Map<Generation, AuditedQueue>();
  /** Messages removed in the last step: they may have been delivered in that step. */
  #justLeft: { readonly queue: AuditedQueue; readonly message: AuditedMessage }[] = [];
  addedCount = 0;
  removedCount = 0;
  deadLetteredCount = 0;
  everFannedOut = false;

  get queueCount(): number {
    return this.#queues.size;
  }

  get messageCount(): number {
    return [...this.#queues.values()].reduce((sum, queue) => sum + queue.messages.size, 0);
  }

  get heldBytes(): number {
    const held = [...this.#queues.values()].flatMap((queue) => [...queue.messages.values()]);
    return held.reduce((sum, { stored }) => sum + stored.content.byteLength + WEIGHT_OF_A_MESSAGE, 0);
  }

  take(records: readonly StoreRecord[], now: number): void {
    this.#justLeft = [];
    for (const record of records) this.#takeRecord(record, now);
  }

  /** The message with this content in the named queue, if it was there during the last step. */
  find(
    queueName: string,
    content: MessageContent,
  ): { readonly queue?: AuditedQueue; readonly message?: AuditedMessage } {
    for (const queue of this.#queues.values()) {
      if (queue.name !== queueName) continue;
      for (const message of queue.messages.values()) {
        if (message.stored.content === content) return { queue, message };
      }
    }
    const left = this.#justLeft.filter(({ queue }) => queue.name === queueName);
    return left.find(({ message }) => message.stored.content === content) ?? {};
  }

  #takeRecord(record: StoreRecord, now: number): void {
    switch (record.kind) {
      case 'queueCreated':
        this.#create(record);
        break;
      case 'queueDeleted':
        this.#delete(this.#queueOf(record.generation));
        break;
      case 'messageAdded':
        this.addedCount += 1;
        if (record.deadLetter !== undefined) this.deadLetteredCount += 1;
        this.#add(record, now);
        break;
      case 'messageRemoved':
        this.removedCount += 1;
        this.#remove(record.generation, record.sequence);
        break;
      case 'attemptFailed':
        this.#fail(this.#messageOf(record.generation, record.sequence), record.failedAttempts);
        break;
      case 'deadLettered':
        this.deadLetteredCount += 1;
        this.#move(record, now);
        break;
    }
  }

  #create(record: Extract<StoreRecord, { kind: 'queueCreated' }>): void {
    const { generation, name, options } = record;
    ok(!this.#queues.has(generation), `generation ${generation} was used twice`);
    const namesakes = [...this.#queues.values()].filter((queue) => queue.name === name);
    ok(namesakes.length === 0, `there are two queues ${name}`);
    this.#queues.set(generation, { generation, name, options, messages: new Map() });
    this.everFannedOut ||= FAN_OUT_MODES.includes(options.mode);
  }

  #delete(queue: AuditedQueue): void {
    for (const message of queue.messages.values()) this.#justLeft.push({ queue, message });
    this.#queues.delete(queue.generation);
  }

  #move({ from, to }: Extract<StoreRecord, { kind: 'deadLettered' }>, now: number): void {
    const { stored, failedAttempts } = this.#messageOf(from.generation, from.sequence);
    ok(stored.deadLetter === undefined, `${stored.id} was dead-lettered twice`);
    ok(to.deadLetter !== undefined, `${stored.id} was dead-lettered without its mark`);
    const { attempts } = to.deadLetter;
    ok(failedAttempts === 0 || attempts === failedAttempts, `${stored.id} forgot attempts on its way`);
    ok(to.id === stored.id && to.content === stored.content, `${stored.id} changed on its way`);
    this.#remove(from.generation, from.sequence);
    this.#add(to, now);
  }

  #add(stored: StoredMessage, now: number): void {
    const messages = this.#queueOf(stored.generation).messages;
    const youngest = Math.max(0, ...messages.keys());
    ok(stored.sequence > youngest, `sequence ${stored.sequence} came after ${youngest}`);
    messages.set(stored.sequence, { stored, acceptedAt: now, failedAttempts: 0 });
  }

  #fail(message: AuditedMessage, failedAttempts: number): void {
    ok(failedAttempts === message.failedAttempts + 1, 'an attempt failed that was not the next one');
    message.failedAttempts = failedAttempts;
  }

  #remove(generation: Generation, sequence: number): void {
    const queue = this.#queueOf(generation);
    this.#justLeft.push({ queue, message: this.#messageOf(generation, sequence) });
    queue.messages.delete(sequence);
  }

  #queueOf(generation: Generation): AuditedQueue {
    const queue = this.#queues.get(generation);
    ok(queue !== undefined, `a record names generation ${generation}, which does not live`);
    return queue;
  }

  #messageOf(generation: Generation, sequence: number): AuditedMessage {
    const message = this.#queueOf(generation).messages.get(sequence);
    ok(message !== undefined, `a record names message ${sequence} of ${generation}, which is not there`);
    return message;
  }
}
