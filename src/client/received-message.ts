// A message as a subscriber receives it, and its acknowledgment. Implements CLIENT-005, CLIENT-006 (what a handler may do) and CLIENT-044.

import { Command } from '../protocol/command.ts';
import { HeaderName } from '../protocol/header-name.ts';
import { type Message, type MessageFields, noHeaders } from '../protocol/message.ts';
import { MessageSizeError } from '../session/client-session.ts';
import { DeserializationError } from './errors.ts';
import { checkEntry } from './option-checks.ts';

/** Why a message is not acknowledged, in the protocol's words. The broker does not send a message with a DeserializationError again. */
export type NackReason = (typeof nackReasons)[number];

const nackReasons = ['HandlerException', 'DeserializationError'] as const;

/** The connection that delivered a message. */
export type AckChannel = {
  readonly isAccepting: boolean;
  readonly capabilities: ReadonlySet<string>;
  send(fields: MessageFields): void;
};

export class ReceivedMessage<Value = unknown> {
  /** The id that the publisher gave the message. */
  readonly id: string;
  readonly queue: string;
  readonly headers: ReadonlyMap<string, string>;
  /** The bytes of one JSON text; empty when the message has no payload. */
  readonly payload: Buffer;
  readonly #channel: AckChannel;
  #isSettled = false;

  constructor(message: Message, channel: AckChannel) {
    this.id = message.id;
    this.queue = message.queue;
    this.headers = message.headers;
    // A copy: a handler may keep it, and a view would keep the whole received chunk alive.
    this.payload = Buffer.from(message.payload);
    this.#channel = channel;
  }

  /** How many times the broker has sent this message, this time included; a hint. */
  get attemptCount(): number {
    return Number(this.headers.get(HeaderName.DeliveryAttempts) ?? 1);
  }

  /** Whether `ack` or `nack` was called. */
  get isSettled(): boolean {
    return this.#isSettled;
  }

  /**
   * The payload as a value; undefined when there is none.
   * @throws DeserializationError, which a handler may rethrow: the broker then stops redelivering the message
   */
  json(): Value {
    if (this.payload.length === 0) return undefined as Value;
    try {
      return JSON.parse(this.payload.toString()) as Value;
    } catch (error) {
      throw new DeserializationError(error);
    }
  }

  /**
   * Acknowledges the message: the broker forgets it. Returns false, and sends nothing, when the message is settled already or when the connection
   * that delivered it has ended: the broker then sends the message again, and the ack would be one of that delivery.
   */
  ack(): boolean {
    return this.#settle(undefined);
  }

  /**
   * Refuses the message: the broker sends it again, or dead-letters or discards it. Returns false, and sends nothing, as `ack` does, and when the
   * broker did not announce `nack`, or the refusal would be longer than `maxMessageSizeBytes` of the client: the broker then sends the message
   * again after its ack timeout.
   * @throws TypeError for another reason
   */
  nack(reason: NackReason = 'HandlerException'): boolean {
    checkEntry('reason', reason, nackReasons);
    return this.#settle(reason);
  }

  #settle(reason: NackReason | undefined): boolean {
    const { isAccepting, capabilities } = this.#channel;
    const canSend = !this.#isSettled && isAccepting && (reason === undefined || capabilities.has('nack'));
    this.#isSettled = true;
    if (!canSend) return false;
    const headers = reason === undefined ? noHeaders : new Map([[HeaderName.FailureReason, reason]]);
    try {
      this.#channel.send({ command: Command.Ack, id: this.id, queue: this.queue, headers });
    } catch (error) {
      // An ack is never longer than its message; a refusal may be.
      if (reason !== undefined && error instanceof MessageSizeError) return false;
      throw error;
    }
    return true;
  }
}

/**
 * Handles one message. Unless `ack` is `manual`, the message is acknowledged when the handler has returned or its promise is fulfilled. If it
 * throws, the broker redelivers the message.
 */
export type Handler<Value = unknown> = (message: ReceivedMessage<Value>) => void | Promise<void>;
