// Leases of the one broker that can run at a time where the addresses are fixed. Checks that want the broker that runs share it; one that
// wants another waits until nobody uses it any more, and then it is replaced. Who wants the present one goes first, whoever
// came first, so that a plan costs as few starts as can be.
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

  /** `own`: a broker that was started for this lease and is used by no other. */
  lease(request: ConfigurationRequest, own: boolean): Promise<Lease> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ request, key: configurationKey(request), own, resolve, reject });
      this.#serve();
    });
  }

  /** Ends of the broker that nobody ordered while nobody used it. */
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
