// Leases for a target with fixed addresses, where only one broker can run at a time. Checks that need the configuration of the running
// broker share it. A check that needs another configuration waits until no check uses the broker; then the broker is replaced. Requests
// for the current configuration are served before older requests for another one, so that a plan needs few starts.
import type { ConfigurationRequest } from '../configuration.ts';
import { configurationKey } from '../configuration.ts';
import type { Broker } from '../target/broker.ts';
import type { BrokerExit } from '../target/broker-process.ts';
import type { Lease } from './broker-pool.ts';

type CurrentBroker = {
  readonly broker: Broker;
  readonly key: string;
  readonly own: boolean;
  userCount: number;
  leaseCount: number;
};

type PendingLease = {
  readonly request: ConfigurationRequest;
  readonly key: string;
  readonly own: boolean;
  readonly resolve: (lease: Lease) => void;
  readonly reject: (reason: unknown) => void;
};

export class SingleBrokerPool {
  readonly #start: (request: ConfigurationRequest) => Promise<Broker>;
  readonly #idleEnds: BrokerExit[] = [];
  #current: CurrentBroker | undefined;
  #waiting: PendingLease[] = [];
  #isChanging = false;

  constructor(start: (request: ConfigurationRequest) => Promise<Broker>) {
    this.#start = start;
  }

  /** `own`: starts a broker for this lease alone. */
  lease(request: ConfigurationRequest, own: boolean): Promise<Lease> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, key: configurationKey(request), own, resolve, reject });
      this.#serve();
    });
  }

  /** Exits of the broker that the runner did not order, while no check used it. */
  idleEnds(): readonly BrokerExit[] {
    return this.#idleEnds;
  }

  #serve(): void {
    if (this.#isChanging) return;
    this.#grantCurrent();
    const [next] = this.#waiting;
    if (next !== undefined && (this.#current?.userCount ?? 0) === 0) void this.#replaceFor(next);
  }

  #grantCurrent(): void {
    const current = this.#current;
    if (current === undefined || current.own || current.broker.unwantedEnd !== undefined) return;
    const fits = (pending: PendingLease): boolean => !pending.own && pending.key === current.key;
    const fitting = this.#waiting.filter(fits);
    this.#waiting = this.#waiting.filter((pending) => !fits(pending));
    for (const pending of fitting) pending.resolve(this.#leaseOf(current));
  }

  async #replaceFor(next: PendingLease): Promise<void> {
    this.#isChanging = true;
    this.#waiting = this.#waiting.filter((pending) => pending !== next);
    try {
      await this.#current?.broker.dispose();
      const broker = await this.#start(next.request);
      const current = { broker, key: next.key, own: next.own, userCount: 0, leaseCount: 0 };
      this.#current = current;
      void broker.exit.then((exit) => this.#noteEnd(current, exit));
      next.resolve(this.#leaseOf(current));
    } catch (error) {
      this.#current = undefined;
      next.reject(error);
    } finally {
      this.#isChanging = false;
    }
    this.#serve();
  }

  #noteEnd(current: CurrentBroker, exit: BrokerExit): void {
    if (current.userCount === 0 && current.broker.unwantedEnd !== undefined) this.#idleEnds.push(exit);
  }

  #leaseOf(current: CurrentBroker): Lease {
    current.userCount += 1;
    current.leaseCount += 1;
    const release = async (): Promise<void> => {
      current.userCount -= 1;
      this.#serve();
    };
    return { broker: current.broker, wasAlone: () => current.leaseCount === 1, release };
  }
}
