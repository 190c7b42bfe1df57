// Clean connections to an attached broker, reused by checks that need no connection of their own: a broker with default limits accepts 20
// connections a minute from one address, and the core profile must work with 60. A broker that the runner starts has no such limit, and
// there every check opens its own connections. Clause: LIMIT (connections by address).
import type { BrokerConnection } from '../wire/broker-connection.ts';

export class SpareConnections {
  readonly #spares: BrokerConnection[] = [];
  readonly #cleaning = new Set<Promise<void>>();
  #waiting: (() => void)[] = [];

  /** A connection after its handshake, without subscriptions and pending commands; undefined if none is available. */
  async take(): Promise<BrokerConnection | undefined> {
    while (this.#spares.length === 0 && this.#cleaning.size > 0) await Promise.race(this.#cleaning);
    return this.takeNow();
  }

  /** As `take`, but does not wait for a connection that is being cleaned. */
  takeNow(): BrokerConnection | undefined {
    let spare = this.#spares.pop();
    while (spare?.isClosed === true) spare = this.#spares.pop();
    return spare;
  }

  /** Resolves when a connection is returned. */
  freed(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /**
   * Takes a connection back from an ended check, which can no longer use it. A connection that cannot be cleaned is closed.
   */
  giveBack(connection: BrokerConnection): void {
    const cleaned = this.#clean(connection.detach()).finally(() => this.#cleaning.delete(cleaned));
    this.#cleaning.add(cleaned);
  }

  /** Adds a clean connection. */
  add(connection: BrokerConnection): void {
    this.#spares.push(connection);
    const woken = this.#waiting;
    this.#waiting = [];
    for (const resolve of woken) resolve();
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#cleaning);
    for (const spare of this.#spares) spare.destroy();
  }

  async #clean(connection: BrokerConnection): Promise<void> {
    if (await connection.prepareForReuse()) this.add(connection);
    else connection.destroy();
  }
}
