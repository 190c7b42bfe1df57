// How long the broker takes to handle what a publisher has sent: a Ping follows each batch, and the broker answers it after the batch. By
// this time a load waits for a slow broker or a slow network, and does not send more and more to it. Area: CONN.

type Ping = { readonly id: string; readonly sentAt: number };

type Pings = { unanswered: Ping[]; lastMs: number };

export class LoadPace<Publisher> {
  readonly #lostAfterMs: number;
  readonly #pings = new Map<Publisher, Pings>();

  /** A Pong that has not come after `lostAfterMs` counts as lost, so that a broker that loses one does not stop the load. */
  constructor(lostAfterMs: number) {
    this.#lostAfterMs = lostAfterMs;
  }

  sent(publisher: Publisher, ping: Ping): void {
    this.#of(publisher).unanswered.push(ping);
  }

  /** Ignores ids that are not of a Ping of this publisher. */
  answered(publisher: Publisher, id: string, now: number): void {
    const pings = this.#of(publisher);
    const ping = pings.unanswered.find((one) => one.id === id);
    if (ping === undefined) return;
    pings.lastMs = now - ping.sentAt;
    pings.unanswered = pings.unanswered.filter((one) => one !== ping);
  }

  /** In ms: the last measured time, or the age of the oldest Ping without an answer if it is longer. 0 before the first Ping. */
  roundTripMs(publisher: Publisher, now: number): number {
    const pings = this.#of(publisher);
    pings.unanswered = pings.unanswered.filter(({ sentAt }) => now - sentAt < this.#lostAfterMs);
    const [oldest] = pings.unanswered;
    return Math.max(pings.lastMs, oldest === undefined ? 0 : now - oldest.sentAt);
  }

  #of(publisher: Publisher): Pings {
    const pings = this.#pings.get(publisher) ?? { unanswered: [], lastMs: 0 };
    this.#pings.set(publisher, pings);
    return pings;
  }
}
