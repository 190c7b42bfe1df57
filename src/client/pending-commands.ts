// The commands that wait for their answer, by id, each with its deadline. Knows nothing of bytes. Implements CLIENT-009,
// CLIENT-036.

import { Command, type CommandNumber, commandName } from '../protocol/command.ts';
import type { Message } from '../protocol/message.ts';
import { type ClientError, CommandError, CommandTimeoutError } from './errors.ts';

type Pending = {
  readonly answer: CommandNumber;
  readonly resolve: (answer: Message) => void;
  readonly reject: (error: ClientError) => void;
  readonly timer: NodeJS.Timeout;
};

export type ExpectedAnswer = {
  readonly id: string;
  /** The command that is sent, for messages. */
  readonly command: CommandNumber;
  /** The command that a positive answer has. */
  readonly answer: CommandNumber;
};

export class PendingCommands {
  readonly #timeoutMs: number;
  readonly #byId = new Map<string, Pending>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /**
   * The answer to a command, once it comes; rejects with CommandError, CommandTimeoutError or what `rejectAll` is given.
   * @throws RangeError when another command with this id is under way: nobody could tell their answers apart
   */
  expect({ id, command, answer }: ExpectedAnswer): Promise<Message> {
    if (this.#byId.has(id)) throw new RangeError(`a command with the id ${JSON.stringify(id)} is under way`);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#byId.delete(id);
        reject(new CommandTimeoutError(commandName(command) ?? String(command), this.#timeoutMs));
      }, this.#timeoutMs);
      this.#byId.set(id, { answer, resolve, reject, timer });
    });
  }

  /** Takes a message as an answer where it is one; false when nobody waits for it. */
  settle(message: Message): boolean {
    const pending = this.#byId.get(message.id);
    if (pending === undefined) return false;
    if (message.command === Command.Error) {
      this.#take(message.id, pending).reject(new CommandError(message.errorCode, message.errorMessage));
      return true;
    }
    if (message.command !== pending.answer) return false;
    this.#take(message.id, pending).resolve(message);
    return true;
  }

  /** Gives up one command without an answer, because it could not be sent. */
  forget(id: string): void {
    const pending = this.#byId.get(id);
    if (pending !== undefined) this.#take(id, pending);
  }

  rejectAll(error: ClientError): void {
    for (const [id, pending] of this.#byId) this.#take(id, pending).reject(error);
  }

  #take(id: string, pending: Pending): Pending {
    this.#byId.delete(id);
    clearTimeout(pending.timer);
    return pending;
  }
}
