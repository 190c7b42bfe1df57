// Sends a Ping every two milliseconds and records the longest wait for a Pong: the time for which other work held the event loop of the
// broker. Does not wait for a Pong before the next Ping.

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

  /** The longest wait for a Pong until now, in milliseconds, including Pongs that have not arrived. */
  get longestMs(): number {
    const waits = [...this.#unanswered].map((askedAtMs) => this.#waitedMs(askedAtMs));
    return Math.max(this.#longestMs, ...waits);
  }

  /** Stops sending, so that a suspended broker does not find a thousand Pings when it continues. */
  pause(): void {
    clearInterval(this.#timer);
  }

  /** Starts sending again; earlier waits do not count. */
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
      // The connection has ended: Pings without an answer count as still waiting.
      return;
    }
    this.#unanswered.delete(askedAtMs);
    this.#longestMs = Math.max(this.#longestMs, this.#waitedMs(askedAtMs));
  }

  #waitedMs(askedAtMs: number): number {
    return performance.now() - Math.max(askedAtMs, this.#sinceMs);
  }
}
