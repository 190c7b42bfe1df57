// What `truemq pub` says about each message: refusals for people, or one line of JSON for each message; and the number of confirmed ones at the end.

import { ClientError } from '../../client/errors.ts';
import { withFlags } from '../broker-connection.ts';
import type { CommandContext } from '../command.ts';
import { systemReason } from '../system-error.ts';
import { escaped } from '../top/shown-text.ts';
import type { Item } from './message-items.ts';

/** The id of a message that is confirmed, or why it is not. */
type Result = {
  readonly id?: string;
  readonly error?: { readonly code: string | null; readonly message: string };
};

export class PublishReport {
  readonly #queue: string;
  readonly #isJson: boolean;
  readonly #context: CommandContext;
  #confirmedCount = 0;
  #failedCount = 0;

  constructor(queue: string, isJson: boolean, context: CommandContext) {
    this.#queue = queue;
    this.#isJson = isJson;
    this.#context = context;
  }

  get failedCount(): number {
    return this.#failedCount;
  }

  confirmed(item: Item, id: string): void {
    this.#confirmedCount += 1;
    this.#record(item, { id });
  }

  /** The broker refused it, or did not answer. */
  notConfirmed(item: Item, error: unknown): void {
    const message = withFlags(error instanceof Error ? error.message : String(error));
    this.#failed(item, `not confirmed: ${message}`);
    const code = error instanceof ClientError ? error.code : null;
    this.#record(item, { error: { code, message } });
  }

  /** It was not sent: it fits into no frame of `maxBytes`. */
  tooLong(item: Item, maxBytes: number): void {
    const message = `longer than the ${maxBytes} bytes that a message may have`;
    this.#failed(item, `not published: ${message}`);
    this.#record(item, { error: { code: 'TOO_LONG', message } });
  }

  /** It was not sent: it is not JSON. */
  notPublished(item: Item, problem: string): void {
    this.#failed(item, `not published: ${problem}`);
    this.#record(item, { error: { code: 'NOT_JSON', message: problem } });
  }

  /** Reading the input failed. */
  unreadable(error: unknown): void {
    this.#failedCount += 1;
    this.say(`stdin cannot be read: ${systemReason(error)}; what follows in it was not published`);
  }

  /** What a terminal would obey is escaped: some of it comes from the broker, or from the input. */
  say(text: string): void {
    this.#context.stderr.write(`truemq: ${escaped(text)}\n`);
  }

  end(): void {
    const messages = this.#confirmedCount === 1 ? 'message' : 'messages';
    this.say(`${this.#confirmedCount} ${messages} published to ${this.#queue}`);
  }

  #failed({ line }: Item, problem: string): void {
    this.#failedCount += 1;
    this.say(line === undefined ? problem : `line ${line}: ${problem}`);
  }

  #record({ line }: Item, { id, error }: Result): void {
    if (!this.#isJson) return;
    const isConfirmed = id !== undefined;
    const record = {
      queue: this.#queue,
      line: line ?? null,
      id: id ?? null,
      isConfirmed,
      error: error ?? null,
    };
    this.#context.stdout.write(`${JSON.stringify(record)}\n`);
  }
}
