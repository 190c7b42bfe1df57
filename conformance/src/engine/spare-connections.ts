// Connections to an attached broker that a check has left clean, for the next check that needs no connection of its own: a broker with
// default limits takes 20 connections a minute from one address, and the core profile must get by with 60. A broker that the
// runner starts has no such limit, and there every check opens its own. Clause: LIMIT (connections by address).
import type { BrokerConnection } from '../wire/broker-connection.ts';

export class SpareConnections {
  readonly #spares: BrokerConnection[] = [];
  readonly #cleaning = new Set<Promise<void>>();
  #waiting: (() => void)[] = [];

  /** A connection whose handshake is done and on which nothing is subscribed or under way; undefined when there is none. */
  async take(): Promise<BrokerConnection | undefined> {
    while (this.#spares.length === 0 && this.#cleaning.size > 0) await Promise.race(this.#cleaning);
    return this.takeNow();
  }

  /** As `take`, but one that is still being cleaned is not waited for. */
  takeNow(): BrokerConnection | undefined {
    let spare = this.#spares.pop();
    while (spare?.isClosed === true) spare = this.#spares.pop();
    return spare;
  }

  /** Resolves when one has come back. */
  freed(): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /**
   * Takes a connection back from a check that has ended, whose later use of it reaches the broker no more. What cannot be made clean is
   * ended.
   */
  giveBack(connection: BrokerConnection): void {
    const cleaned = this.#clean(connection.cutOff()).finally(() => this.#cleaning.delete(cleaned));
    this.#cleaning.add(cleaned);
  }

  /** Takes a connection that nobody has used since it was made or cleaned. */
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
    if (await connection.leaveClean()) this.add(connection);
    else connection.destroy();
  }
}
