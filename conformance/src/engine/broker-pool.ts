// Leases brokers to checks: a shared one for each configuration, a fresh one for a check that needs its own. A shared broker that has
// ended is replaced at the next request; an exit while no check used it is recorded. All brokers are stopped at the end. A target with
// fixed addresses has one broker at a time: see single-broker-pool.ts.
import type { Check } from '../check.ts';
import type { ConfigurationRequest } from '../configuration.ts';
import { configurationKey } from '../configuration.ts';
import type { Broker } from '../target/broker.ts';
import { attachedBroker, spawnBroker } from '../target/broker.ts';
import type { BrokerExit } from '../target/broker-process.ts';
import { hookedBroker } from '../target/hooked-broker.ts';
import type { Endpoints, Target } from '../target/target-file.ts';
import { withCertificatePaths } from '../target/test-certificates.ts';
import type { Timing } from '../timing.ts';
import { SingleBrokerPool } from './single-broker-pool.ts';
import { requestOf } from './target-facts.ts';

export type Lease = {
  readonly broker: Broker;
  /** No other check has used the broker so far, so that its exit can have only one cause. */
  readonly wasAlone: () => boolean;
  release(): Promise<void>;
};

/** A broker that keeps running after the checks, for --keep-alive. */
export type RunningBroker = Pick<Broker, 'endpoints' | 'processId'> & {
  /** The settings that it was started with. */
  readonly request: ConfigurationRequest;
};

export type PoolOptions = {
  /** Keeps a broker that one check had for itself until the end of the run. */
  readonly keepOwn?: boolean;
  /** Starts brokers instead of the target's lifecycle. */
  readonly startBroker?: StartBroker;
};

/** What a broker is started with. */
export type BrokerOrder = {
  readonly request: ConfigurationRequest;
  readonly timing: Timing;
  /** It must not share its process with other brokers: its check ends it, or may have ended it. */
  readonly ownProcess: boolean;
};

export type StartBroker = (order: BrokerOrder) => Promise<Broker>;

type Shared = { readonly broker: Promise<Broker>; userCount: number; leaseCount: number };

export class BrokerPool {
  readonly #target: Target;
  readonly #timing: Timing;
  readonly #shared = new Map<string, Shared>();
  readonly #all = new Map<Broker, ConfigurationRequest>();
  readonly #options: PoolOptions;
  readonly #idleEnds: BrokerExit[] = [];
  readonly #singleBroker: SingleBrokerPool;

  constructor(target: Target, timing: Timing, options: PoolOptions = {}) {
    this.#options = options;
    this.#target = target;
    this.#timing = timing;
    this.#singleBroker = new SingleBrokerPool((request) => this.#start(request, true));
  }

  /** Throws a TargetFault when no broker can be started. */
  lease(check: Check, options: { readonly alone?: boolean } = {}): Promise<Lease> {
    const { lifecycle } = this.#target;
    const request = requestOf(check, lifecycle);
    const own = options.alone === true || (check.isolation ?? 'shared') !== 'shared';
    const ownProcess = options.alone === true || check.isolation === 'restart';
    switch (lifecycle.kind) {
      case 'spawn':
        return own
          ? this.#leaseOwn(request, ownProcess)
          : this.#leaseShared(configurationKey(request), request);
      case 'attach':
        return this.#leaseShared('attached', request);
      case 'hooks':
        return this.#singleBroker.lease(request, own);
    }
  }

  /** Exits of brokers that the runner did not order, while no check used them. */
  idleEnds(): readonly BrokerExit[] {
    return [...this.#idleEnds, ...this.#singleBroker.idleEnds()];
  }

  /** The brokers that the runner started and that have not ended. */
  running(): readonly RunningBroker[] {
    const started = [...this.#all].filter(([broker]) => broker.processId !== undefined);
    const alive = started.filter(([broker]) => broker.unwantedEnd === undefined);
    return alive.map(([{ endpoints, processId }, request]) => ({ endpoints, processId, request }));
  }

  async dispose(): Promise<void> {
    await Promise.all([...this.#all.keys()].map((broker) => broker.dispose()));
    this.#all.clear();
    this.#shared.clear();
  }

  async #leaseOwn(request: ConfigurationRequest, ownProcess: boolean): Promise<Lease> {
    const broker = await this.#start(request, ownProcess);
    const release = async (): Promise<void> => {
      if (this.#options.keepOwn === true) return;
      this.#all.delete(broker);
      await broker.dispose();
    };
    return { broker, wasAlone: () => broker.sharesProcess !== true, release };
  }

  async #leaseShared(key: string, request: ConfigurationRequest): Promise<Lease> {
    const shared = await this.#livingShared(key, request);
    shared.userCount += 1;
    shared.leaseCount += 1;
    const release = async (): Promise<void> => {
      shared.userCount -= 1;
    };
    const broker = await shared.broker;
    const wasAlone = (): boolean => shared.leaseCount === 1 && broker.sharesProcess !== true;
    return { broker, wasAlone, release };
  }

  async #livingShared(key: string, request: ConfigurationRequest): Promise<Shared> {
    const present = this.#shared.get(key);
    if (present !== undefined && (await present.broker).unwantedEnd === undefined) return present;
    const again = this.#shared.get(key);
    if (again !== undefined && again !== present) return this.#livingShared(key, request);
    const started: Shared = { broker: this.#start(request, false), userCount: 0, leaseCount: 0 };
    this.#shared.set(key, started);
    this.#noteIdleEnd(started, await started.broker);
    return started;
  }

  #noteIdleEnd(shared: Shared, broker: Broker): void {
    void broker.exit.then((exit) => {
      if (shared.userCount === 0 && broker.unwantedEnd !== undefined) this.#idleEnds.push(exit);
    });
  }

  async #start(asked: ConfigurationRequest, ownProcess: boolean): Promise<Broker> {
    const request = withCertificatePaths(asked);
    const { lifecycle } = this.#target;
    const { startBroker } = this.#options;
    if (startBroker !== undefined) {
      return this.#keep(await startBroker({ request, timing: this.#timing, ownProcess }), request);
    }
    switch (lifecycle.kind) {
      case 'spawn':
        return this.#keep(await spawnBroker(lifecycle, request, this.#timing), request);
      case 'attach':
        return this.#keep(await attachedBroker(this.#endpoints(), this.#timing), request);
      case 'hooks': {
        const setting = { request, timing: this.#timing };
        return this.#keep(await hookedBroker(lifecycle, this.#endpoints(), setting), request);
      }
    }
  }

  #endpoints(): Endpoints {
    const { endpoints } = this.#target;
    if (endpoints === undefined) throw new Error('a target that is not spawned has no endpoints');
    return endpoints;
  }

  #keep(broker: Broker, request: ConfigurationRequest): Broker {
    this.#all.set(broker, request);
    return broker;
  }
}
