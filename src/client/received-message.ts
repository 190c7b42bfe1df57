// A message as a subscriber's handler receives it. Implements CLIENT-005 and CLIENT-006 (what a handler may do).

import { HeaderName } from '../protocol/header-name.ts';
import type { Message } from '../protocol/message.ts';
import { DeserializationError } from './errors.ts';

export class ReceivedMessage {
  /** The id that the publisher gave the message. */
  readonly id: string;
  readonly queue: string;
  readonly headers: ReadonlyMap<string, string>;
  /** The bytes of one JSON text; empty when the message has no payload. */
  readonly payload: Buffer;

  constructor(message: Message) {
    this.id = message.id;
    this.queue = message.queue;
    this.headers = message.headers;
    // A copy: a handler may keep it, and a view would keep the whole received chunk alive.
    this.payload = Buffer.from(message.payload);
  }

  /** How many times the broker has sent this message, this time included; a hint. */
  get attemptCount(): number {
    return Number(this.headers.get(HeaderName.DeliveryAttempts) ?? 1);
  }

  /**
   * The payload as a value; undefined when there is none.
   * @throws DeserializationError, which a handler may rethrow: the broker then stops redelivering the message
   */
  json(): unknown {
    if (this.payload.length === 0) return undefined;
    try {
      return JSON.parse(this.payload.toString());
    } catch (error) {
      throw new DeserializationError(error);
    }
  }
}

/**
 * Handles one message. The message is acknowledged when the handler has returned or its promise is fulfilled. If it throws, the broker
 * redelivers the message.
 */
export type Handler = (delivery: ReceivedMessage) => void | Promise<void>;
