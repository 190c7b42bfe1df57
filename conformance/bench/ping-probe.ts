// Asks a broker for a Pong every other millisecond, whatever it does, and keeps the longest time that one was waited for: how long the
// broker's loop was held by something else. The questions do not wait for the answers.

import type { Address } from '../src/bench/load/load-link.ts';
import { LoadLink } from '../src/bench/load/load-link.ts';
import { Command } from '../src/wire/command.ts';

const everyMs = 2;

export class PingProbe {
  readonly #link: LoadLink;
  #timer: NodeJS.Timeout | undefined;
  #longestMs = 0;
  readonly #unanswered = new Set<number>();
  #sinceMs = Number.NEGATIVE_INFINITY;

  private constructor(link: LoadLink) {
    this.#link = link;
    this.resume();
  }

  static async start(address: Address): Promise<PingProbe> {
    return new PingProbe(await LoadLink.open(address));
  }

  /** The longest wait for a Pong until now, in milliseconds, those that are still waited for included. */
  get longestMs(): number {
    const waits = [...this.#unanswered].map((askedAtMs) => this.#waitedMs(askedAtMs));
    return Math.max(this.#longestMs, ...waits);
  }

  /** Asks nothing for a while: a broker that is stopped must not find a thousand questions when it goes on. */
  pause(): void {
    clearInterval(this.#timer);
  }

  /** Asks again; what was waited for until now does not count. */
  resume(): void {
    this.#sinceMs = performance.now();
    this.#longestMs = 0;
    this.#timer = setInterval(() => void this.#ask(), everyMs);
  }

  stop(): void {
    this.pause();
    this.#link.close();
  }

  async #ask(): Promise<void> {
    const askedAtMs = performance.now();
    this.#unanswered.add(askedAtMs);
    try {
      await this.#link.request({ command: Command.Ping });
    } catch {
      // The end of the connection: what was not answered stays among those that are waited for.
      return;
    }
    this.#unanswered.delete(askedAtMs);
    this.#longestMs = Math.max(this.#longestMs, this.#waitedMs(askedAtMs));
  }

  #waitedMs(askedAtMs: number): number {
    return performance.now() - Math.max(askedAtMs, this.#sinceMs);
  }
}
