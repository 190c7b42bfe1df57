// Leases of the one broker that can run at a time where the addresses are fixed. Checks that want the broker that runs share it; one that
// wants another waits until nobody uses it any more, and then it is replaced. Who wants the present one goes first, whoever
// came first, so that a plan costs as few starts as can be.
import type { ConfigurationRequest } from '../configuration.ts';
import { configurationKey } from '../configuration.ts';
import type { Broker } from '../target/broker.ts';
import type { BrokerExit } from '../target/broker-process.ts';
import type { Lease } from './broker-pool.ts';

type Present = {
  readonly broker: Broker;
  readonly key: string;
  readonly own: boolean;
  userCount: number;
  leaseCount: number;
};

type Applicant = {
  readonly request: ConfigurationRequest;
  readonly key: string;
  readonly own: boolean;
  readonly resolve: (lease: Lease) => void;
  readonly reject: (reason: unknown) => void;
};

export class BrokerSeat {
  readonly #start: (request: ConfigurationRequest) => Promise<Broker>;
  readonly #idleEnds: BrokerExit[] = [];
  #present: Present | undefined;
  #waiting: Applicant[] = [];
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
    this.#grantPresent();
    const [next] = this.#waiting;
    if (next !== undefined && (this.#present?.userCount ?? 0) === 0) void this.#replaceFor(next);
  }

  #grantPresent(): void {
    const present = this.#present;
    if (present === undefined || present.own || present.broker.unwantedEnd !== undefined) return;
    const fits = (applicant: Applicant): boolean => !applicant.own && applicant.key === present.key;
    const fitting = this.#waiting.filter(fits);
    this.#waiting = this.#waiting.filter((applicant) => !fits(applicant));
    for (const applicant of fitting) applicant.resolve(this.#leaseOf(present));
  }

  async #replaceFor(next: Applicant): Promise<void> {
    this.#isChanging = true;
    this.#waiting = this.#waiting.filter((applicant) => applicant !== next);
    try {
      await this.#present?.broker.dispose();
      const broker = await this.#start(next.request);
      const present = { broker, key: next.key, own: next.own, userCount: 0, leaseCount: 0 };
      this.#present = present;
      void broker.exit.then((exit) => this.#noteEnd(present, exit));
      next.resolve(this.#leaseOf(present));
    } catch (error) {
      this.#present = undefined;
      next.reject(error);
    } finally {
      this.#isChanging = false;
    }
    this.#serve();
  }

  #noteEnd(present: Present, exit: BrokerExit): void {
    if (present.userCount === 0 && present.broker.unwantedEnd !== undefined) this.#idleEnds.push(exit);
  }

  #leaseOf(present: Present): Lease {
    present.userCount += 1;
    present.leaseCount += 1;
    const release = async (): Promise<void> => {
      present.userCount -= 1;
      this.#serve();
    };
    return { broker: present.broker, wasAlone: () => present.leaseCount === 1, release };
  }
}
