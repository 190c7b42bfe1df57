// One publish from the call to its confirmation: the fields of its frame, which stay as they are when it is sent again, and its promise.

import { Command } from '../protocol/command.ts';
import type { Headers } from '../protocol/message.ts';
import type { SentCommand } from './client-connection.ts';
import type { ClientError } from './errors.ts';

export type PublishFields = {
  readonly id: string;
  /** The id comes from the caller of the library. */
  readonly hasChosenId: boolean;
  readonly queue: string;
  readonly headers: Headers;
  readonly payload: Buffer;
};

/** `held`: not sent, or to be sent again; `ended`: its promise is settled. */
export type PublishPhase = 'new' | 'held' | 'in flight' | 'ended';

/** Called once for each time that the task is sent. */
export type PublishOutcomes = {
  handleConfirmed(task: PublishTask): void;
  handleFailed(task: PublishTask, error: ClientError): void;
};

export class PublishTask implements SentCommand {
  readonly command = Command.Publish;
  readonly answer = Command.PublishAck;
  readonly id: string;
  readonly hasChosenId: boolean;
  readonly queue: string;
  readonly headers: Headers;
  readonly payload: Buffer;
  /** What the message takes of the window. */
  readonly sizeBytes: number;
  phase: PublishPhase = 'new';
  /** The promise of the call. */
  readonly resolve: (id: string) => void;
  readonly reject: (error: unknown) => void;
  readonly #outcomes: PublishOutcomes;

  constructor(
    fields: PublishFields,
    outcomes: PublishOutcomes,
    promise: { readonly resolve: (id: string) => void; readonly reject: (error: unknown) => void },
  ) {
    this.id = fields.id;
    this.hasChosenId = fields.hasChosenId;
    this.queue = fields.queue;
    this.headers = fields.headers;
    this.payload = fields.payload;
    this.sizeBytes = sizeBytesOf(fields);
    this.resolve = promise.resolve;
    this.reject = promise.reject;
    this.#outcomes = outcomes;
  }

  handleAnswer(): void {
    this.#outcomes.handleConfirmed(this);
  }

  handleFailure(error: ClientError): void {
    this.#outcomes.handleFailed(this, error);
  }
}

function sizeBytesOf({ id, queue, headers, payload }: PublishFields): number {
  let bytes = id.length + queue.length + payload.length;
  if (headers.size === 0) return bytes;
  for (const [key, value] of headers) bytes += key.length + value.length;
  return bytes;
}
