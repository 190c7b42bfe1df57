// The rates of one client: what it publishes, and what it is refused. A client that goes on sending what is refused would keep the broker busy with
// refusals: nothing more is read of it until there have been fewer for a second. Implements LIMIT-001 to LIMIT-007 and LIMIT-026.

import type { Clock } from '../model/environment.ts';
import { ErrorCode } from '../model/error-code.ts';
import { Command } from '../protocol/command.ts';
import type { ProtocolFault } from '../protocol/fault.ts';
import type { Message } from '../protocol/message.ts';
import { RateLimit } from './rate-limit.ts';

const WINDOW_MS = 1000;
/** A client may be refused so many commands in a second, or as many as it may publish if these are more. */
const MIN_REFUSALS = 1000;

export class ClientRates {
  readonly #maxPerSecond: number;
  readonly #clock: Pick<Clock, 'now'>;
  readonly #published: RateLimit;
  /** Absent: nothing was refused yet. */
  #refusals: RateLimit | undefined;

  /** `maxPerSecond`: the publishes of the client in a second, 1 or more. */
  constructor(maxPerSecond: number, clock: Pick<Clock, 'now'>) {
    this.#maxPerSecond = maxPerSecond;
    this.#clock = clock;
    this.#published = new RateLimit(maxPerSecond, WINDOW_MS);
  }

  /** Counts a command. Returns why it is refused; undefined if it is within the rate. */
  admit(message: Message): ProtocolFault | undefined {
    if (message.command !== Command.Publish) return undefined;
    if (this.#published.admit(this.#clock.now())) return undefined;
    const text = 'More messages a second than the broker takes from one client.';
    return { kind: 'fault', code: ErrorCode.RateLimited, text, closes: false, id: message.id };
  }

  /**
   * Counts a refusal. Returns for how many whole milliseconds nothing more is to be read of the client: 1 to 1000 for the last refusal that it
   * may have, 0 for each before it, and for those behind it, of commands that were read before.
   */
  refused(): number {
    this.#refusals ??= new RateLimit(Math.max(this.#maxPerSecond, MIN_REFUSALS), WINDOW_MS);
    const now = this.#clock.now();
    const isOneTooMany = !this.#refusals.admit(now);
    return isOneTooMany || this.#refusals.allows(now) ? 0 : Math.ceil(this.#refusals.allowedFrom - now);
  }
}
