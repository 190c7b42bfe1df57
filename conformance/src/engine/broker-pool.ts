// Hands out brokers to checks: a shared one for each configuration, a fresh one for a check that needs its own. A shared broker that
// has died is replaced at the next request; that it died is not forgotten (see `deaths`). All are disposed of at the end.
import type { Check } from '../check.ts';
import type { ConfigurationRequest } from '../configuration.ts';
import { configurationKey } from '../configuration.ts';
import type { Broker } from '../target/broker.ts';
import { attachedBroker, spawnBroker } from '../target/broker.ts';
import type { BrokerExit } from '../target/broker-process.ts';
import type { Target } from '../target/target-file.ts';
import type { Timing } from '../timing.ts';
import { requestOf } from './target-facts.ts';

export type Lease = {
  readonly broker: Broker;
  /** Other checks used the broker at the same time, so that its death has several suspects. */
  readonly wasAlone: () => boolean;
  release(): Promise<void>;
};

type Shared = { readonly broker: Promise<Broker>; users: number; mostUsers: number };

export class BrokerPool {
  readonly #target: Target;
  readonly #timing: Timing;
  readonly #shared = new Map<string, Shared>();
  readonly #all = new Set<Broker>();

  constructor(target: Target, timing: Timing) {
    this.#target = target;
    this.#timing = timing;
  }

  /** Throws a TargetFault when no broker can be started. */
  lease(check: Check, options: { readonly alone?: boolean } = {}): Promise<Lease> {
    const request = requestOf(check);
    const own = options.alone === true || (check.isolation ?? 'shared') !== 'shared';
    return own && this.#target.lifecycle.kind === 'spawn'
      ? this.#leaseOwn(request)
      : this.#leaseShared(request);
  }

  /** Shared brokers that ended while no check used them, or that were still dead when asked now. */
  unwantedEnds(): readonly BrokerExit[] {
    return [...this.#all].map((broker) => broker.unwantedEnd).filter((exit) => exit !== undefined);
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#all].map((broker) => broker.dispose()));
    this.#all.clear();
    this.#shared.clear();
  }

  async #leaseOwn(request: ConfigurationRequest): Promise<Lease> {
    const broker = await this.#start(request);
    const release = async (): Promise<void> => {
      this.#all.delete(broker);
      await broker.dispose();
    };
    return { broker, wasAlone: () => true, release };
  }

  async #leaseShared(request: ConfigurationRequest): Promise<Lease> {
    const key = this.#target.lifecycle.kind === 'spawn' ? configurationKey(request) : 'attached';
    const shared = await this.#livingShared(key, request);
    shared.users += 1;
    shared.mostUsers = Math.max(shared.mostUsers, shared.users);
    const release = async (): Promise<void> => {
      shared.users -= 1;
    };
    return { broker: await shared.broker, wasAlone: () => shared.mostUsers === 1, release };
  }

  async #livingShared(key: string, request: ConfigurationRequest): Promise<Shared> {
    const present = this.#shared.get(key);
    if (present !== undefined && (await present.broker).unwantedEnd === undefined) return present;
    const again = this.#shared.get(key);
    if (again !== undefined && again !== present) return this.#livingShared(key, request);
    const started: Shared = { broker: this.#start(request), users: 0, mostUsers: 0 };
    this.#shared.set(key, started);
    await started.broker;
    return started;
  }

  async #start(request: ConfigurationRequest): Promise<Broker> {
    const { lifecycle, endpoints } = this.#target;
    if (lifecycle.kind === 'spawn') return this.#keep(await spawnBroker(lifecycle, request, this.#timing));
    if (endpoints === undefined) throw new Error('a target that is not spawned has no endpoints');
    return this.#keep(await attachedBroker(endpoints, this.#timing));
  }

  #keep(broker: Broker): Broker {
    this.#all.add(broker);
    return broker;
  }
}
