// The errors of the client library: one class per kind, each with a `code` that programs can compare. error-advice.ts says what to do about
// the broker's codes.

import { adviceFor } from './error-advice.ts';

/** The base class of all errors of the client library. */
export class ClientError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** What the client asked for when the error occurred. */
export type FailedCommand = {
  /** The command's name, e.g. `Publish`. */
  readonly command: string;
  /** Empty when the command has no queue. */
  readonly queue: string;
};

/** The broker answered a command with Error; `code` is the broker's error code, e.g. `QUEUE_FULL`. */
export class CommandError extends ClientError {
  readonly command: string | undefined;
  readonly queue: string | undefined;

  constructor(code: string, text: string, failed?: FailedCommand) {
    super(code, text === '' ? code : `${code}: ${text}`);
    this.command = failed?.command;
    this.queue = failed?.queue;
  }

  /** What to do about it, in one sentence; undefined for a code that the client does not know. */
  get advice(): string | undefined {
    return adviceFor(this.code, this.command);
  }
}

/** The broker did not answer a command in time; whether it was carried out is not known. `code` is `COMMAND_TIMEOUT`. */
export class CommandTimeoutError extends ClientError {
  readonly command: string;
  readonly queue: string | undefined;

  constructor(command: string, timeoutMs: number, queue = '') {
    const what = queue === '' ? command : `${command} of queue ${JSON.stringify(queue)}`;
    super('COMMAND_TIMEOUT', `no answer to ${what} within ${timeoutMs} ms`);
    this.command = command;
    this.queue = queue;
  }
}

/**
 * There is no connection: it could not be made (`code` is the system's, e.g. `ECONNREFUSED`), it ended (`CONNECTION_ENDED`), all attempts
 * to reconnect failed (`RECONNECT_FAILED`), a command waited too long for it and was not sent (`NOT_CONNECTED`), or the client left it because the
 * broker sent a message that is longer than `maxMessageSizeBytes` (`MESSAGE_TOO_LARGE`). After
 * `CONNECTION_ENDED` it is not known whether commands that were under way were carried out.
 */
export class ConnectionError extends ClientError {}

/** Another subscription of the same client to this queue has taken the place of the one of a loop. `code` is `SUBSCRIPTION_REPLACED`. */
export class SubscriptionReplacedError extends ClientError {
  readonly queue: string;

  constructor(queue: string) {
    const advice = 'a client has one subscription to a queue; use another client for a second one';
    super(
      'SUBSCRIPTION_REPLACED',
      `another subscription to queue ${JSON.stringify(queue)} took the place of this loop: ${advice}`,
    );
    this.queue = queue;
  }
}

/** The broker sent something that the protocol does not allow; the connection is closed. `code` is the fault's. */
export class ProtocolError extends ClientError {}

/** A payload is not JSON. Thrown in a handler, it tells the broker not to try again. `code` is `DESERIALIZATION_ERROR`. */
export class DeserializationError extends ClientError {
  constructor(cause: unknown) {
    super('DESERIALIZATION_ERROR', 'the payload is not JSON', { cause });
  }
}

/**
 * A message is longer than `maxMessageSizeBytes` of this client, so it was not sent. `code` is `MESSAGE_TOO_LARGE`, as when the broker refuses
 * a message for its own limit.
 */
export class MessageTooLargeError extends ClientError {
  /** What the message would take. */
  readonly sizeBytes: number;
  readonly limitBytes: number;

  constructor(what: string, sizeBytes: number, limitBytes: number) {
    const advice = 'make it smaller, or raise maxMessageSizeBytes if the broker takes it';
    super(
      'MESSAGE_TOO_LARGE',
      `${what} of ${sizeBytes} bytes was not sent: this client sends at most ${limitBytes}; ${advice}`,
    );
    this.sizeBytes = sizeBytes;
    this.limitBytes = limitBytes;
  }
}

/**
 * Too many publishes wait for the broker, so this one was not accepted; nothing was sent. Wait for `roomToPublish()`, or use
 * `publishAll`. `code` is `PUBLISH_BUFFER_FULL`.
 */
export class PublishBufferFullError extends ClientError {
  readonly queue: string;

  constructor(queue: string, waiting: { readonly count: number; readonly bytes: number }) {
    const text = `${waiting.count} publishes of ${waiting.bytes} bytes wait to be sent; wait for roomToPublish()`;
    super('PUBLISH_BUFFER_FULL', `a message for queue ${JSON.stringify(queue)} was not accepted: ${text}`);
    this.queue = queue;
  }
}
