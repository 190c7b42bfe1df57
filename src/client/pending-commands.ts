// The commands that wait for their answer, by id, each with its deadline. Knows nothing of frames. Implements CLIENT-009 and CLIENT-036.

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
   * Resolves with the answer to a command; rejects with CommandError, CommandTimeoutError or the error passed to `rejectAll`.
   * @throws RangeError when another command with this id is pending: their answers could not be distinguished
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

  /** Handles a message as an answer; false when no command waits for it. */
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

  /** Rejects one command that could not be sent. */
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
