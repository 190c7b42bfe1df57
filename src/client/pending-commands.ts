// The commands that wait for their answer, by id. All have the same timeout, so they expire in the order in which they were sent, and one
// timer serves all. Most brokers answer in that order: a command is looked for at the front of a queue first, and enters the map only when that
// fails. Knows nothing of frames. Implements CLIENT-009 and CLIENT-036.

import { Command, type CommandNumber, commandName } from '../protocol/command.ts';
import type { Message } from '../protocol/message.ts';
import { type ClientError, CommandError, CommandTimeoutError } from './errors.ts';
import { Fifo } from './fifo.ts';

/** A command and what to do when its wait is over: exactly one of the two handlers is called, at most once. */
export type PendingCommand = {
  readonly id: string;
  /** The id comes from the caller of the library, as `id` or from `createId`, and may come twice; all other ids differ. */
  readonly hasChosenId?: boolean;
  /** The command that is sent, for messages. */
  readonly command: CommandNumber;
  readonly queue?: string;
  /** The command that a positive answer has. */
  readonly answer: CommandNumber;
  handleAnswer(answer: Message): void;
  handleFailure(error: ClientError): void;
};

type Entry = { readonly pending: PendingCommand; readonly deadlineAt: number };

/** Ids of given-up commands that are remembered, the newest: a broker that has not answered so many of them will hardly answer the first. */
const MAX_GIVEN_UP_COUNT = 1_024;

export class PendingCommands {
  readonly #timeoutMs: number;
  /** Those that are not in the map, the oldest first. */
  readonly #inOrder = new Fifo<Entry>();
  /**
   * All older than those of `#inOrder`, and in the order of the deadlines: a Map keeps the order of insertion. Not for all of them: a Map whose
   * entries come and go makes tables that keep what was deleted alive, a fourth of the cost of a publish (docs/internals/performance.md).
   */
  readonly #byId = new Map<string, Entry>();
  /** Commands that nobody waits for any more, and whose answer may come yet. */
  readonly #givenUp = new Set<string>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** @throws RangeError when the answer to this chosen id could not be told from that to another */
  add(pending: PendingCommand): void {
    if (pending.hasChosenId && this.#isPending(pending.id))
      throw new RangeError(
        `a command with the id ${JSON.stringify(pending.id)} is under way; allowed is another id, also from createId`,
      );
    this.#inOrder.push({ pending, deadlineAt: performance.now() + this.#timeoutMs });
    this.#timer ??= setTimeout(() => this.#expire(), this.#timeoutMs);
  }

  /** Whether no command waits for its answer. */
  get isEmpty(): boolean {
    return this.#inOrder.first === undefined && this.#byId.size === 0;
  }

  /** Handles a message as the answer to the command with this id, which may be late; false when it answers no command. */
  settle(message: Message, id = message.id): boolean {
    const pending = this.#find(id);
    if (pending === undefined) return this.#givenUp.delete(id);
    if (message.command === pending.answer) {
      this.remove(pending.id);
      pending.handleAnswer(message);
      return true;
    }
    if (message.command !== Command.Error) return false;
    this.remove(pending.id);
    pending.handleFailure(new CommandError(message.errorCode, message.errorMessage, described(pending)));
    return true;
  }

  /** Forgets a command, without a call of its handlers. */
  remove(id: string): void {
    if (this.#inOrder.first?.pending.id === id) this.#inOrder.shift();
    else {
      this.#fillMap();
      this.#byId.delete(id);
    }
    if (this.isEmpty) this.#stopTimer();
  }

  /** Forgets a command that was sent, without a call of its handlers. Its answer is no surprise when it comes. */
  giveUp(id: string): void {
    this.remove(id);
    this.#rememberGivenUp(id);
  }

  /** Fails all commands, in the order in which they were sent. */
  failAll(error: ClientError): void {
    this.#fillMap();
    const entries = [...this.#byId.values()];
    this.#byId.clear();
    this.#stopTimer();
    for (const { pending } of entries) pending.handleFailure(error);
  }

  #isPending(id: string): boolean {
    this.#fillMap();
    return this.#byId.has(id);
  }

  #find(id: string): PendingCommand | undefined {
    const first = this.#inOrder.first?.pending;
    if (first?.id === id) return first;
    this.#fillMap();
    return this.#byId.get(id)?.pending;
  }

  #fillMap(): void {
    for (let entry = this.#inOrder.shift(); entry !== undefined; entry = this.#inOrder.shift())
      this.#byId.set(entry.pending.id, entry);
  }

  #expire(): void {
    this.#timer = undefined;
    for (const pending of this.#takeExpired(performance.now())) {
      const { command, queue } = described(pending);
      pending.handleFailure(new CommandTimeoutError(command, this.#timeoutMs, queue));
    }
  }

  /** Removes the commands whose deadline has passed, and sets the timer for the next one. */
  #takeExpired(now: number): readonly PendingCommand[] {
    const expired: PendingCommand[] = [];
    this.#fillMap();
    for (const [id, { pending, deadlineAt }] of this.#byId) {
      if (deadlineAt > now) {
        this.#timer = setTimeout(() => this.#expire(), deadlineAt - now);
        break;
      }
      this.#byId.delete(id);
      this.#rememberGivenUp(id);
      expired.push(pending);
    }
    return expired;
  }

  #rememberGivenUp(id: string): void {
    this.#givenUp.add(id);
    if (this.#givenUp.size <= MAX_GIVEN_UP_COUNT) return;
    const [oldest = ''] = this.#givenUp;
    this.#givenUp.delete(oldest);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

function described({ command, queue = '' }: PendingCommand) {
  return { command: commandName(command) ?? String(command), queue };
}
