// The broker of a simulated run, life after life: a process starts, recovers from the disk, serves clients, loses its store or dies, and is
// followed by another one. The world decides what a life and its end mean for the clients.

import type { Gateway } from '../../gateway/gateway.ts';
import { type BrokerOptions, type BrokerParts, composeBroker } from '../composed-broker.ts';
import type { Faults } from './faults.ts';
import type { LifeEnd } from './history.ts';
import type { Random } from './random.ts';
import type { SimulatedDisk } from './simulated-disk.ts';
import type { Life, SimulatedEnvironment } from './simulated-environment.ts';
import type { Fault, Tally } from './tally.ts';

/** Successive starts that a faulty store may prevent. */
const MAX_STARTS = 20;

export type LivesParts = Pick<BrokerParts, 'compressor' | 'logger'> & {
  readonly options: BrokerOptions;
  readonly environment: SimulatedEnvironment;
  readonly disk: SimulatedDisk;
  readonly faults: Faults;
  readonly chance: Random;
  readonly tally: Tally;
  /** Called before the serving process crashes, with what it was doing. */
  readonly onDoomed: () => Fault;
  /** Called at the end of a life, after all observations of it. */
  readonly onEnd: (how: LifeEnd) => void;
  /** All connections break. */
  readonly onDeath: () => void;
  readonly onServing: (service: Gateway) => void;
  readonly complain: (text: string) => void;
};

type Process = { readonly life: Life; readonly service: Gateway };

export class BrokerLives {
  readonly #parts: LivesParts;
  #process: Process | undefined;
  #isServing = false;
  #failedStarts = 0;
  /** The number of the current life, from 1. */
  number = 1;

  constructor(parts: LivesParts) {
    this.#parts = parts;
    this.#crashLater();
  }

  /** Undefined while no process runs. */
  get service(): Gateway | undefined {
    return this.#process?.service;
  }

  /** Whether the broker serves, and that was observed. */
  get isServing(): boolean {
    return this.#isServing;
  }

  /** Starts a process after this time; it serves as soon as it has recovered from the disk. */
  start(delayMs = 0): void {
    this.#parts.environment.after(delayMs, () => this.#begin());
  }

  /** To be called whenever the event loop has settled. */
  look(): void {
    const { service } = this;
    if (this.#isServing || service?.readiness().ready !== true) return;
    this.#isServing = true;
    this.#failedStarts = 0;
    this.#parts.onServing(service);
  }

  /** Called before the store fails; the process continues. */
  storeFails(): void {
    this.#end('storeFailed');
  }

  /** Crashes the process; another one starts after a while. */
  die(how: 'crash' | 'exit'): void {
    const { disk, chance, faults, onDeath } = this.#parts;
    this.#end(how);
    this.#process?.life.end();
    this.#process = undefined;
    disk.crash();
    onDeath();
    this.start(chance.whole(0, faults.maxDownMs));
  }

  #end(how: LifeEnd): void {
    this.#parts.onEnd(how);
    this.#isServing = false;
    this.number += 1;
  }

  #begin(): void {
    const { options, environment, disk, compressor, logger } = this.#parts;
    const life = environment.beginLife();
    const service = composeBroker(options, {
      environment: life.environment,
      gatewayEnvironment: life.gatewayEnvironment,
      openStore: disk.openStore,
      compressor,
      logger,
    });
    const begun: Process = { life, service };
    this.#process = begun;
    service.start().catch((error: unknown) => {
      if (this.#process === begun) this.#startFailed(error);
    });
  }

  /** A broker must be able to start on a store without faults. */
  #startFailed(error: unknown): void {
    this.#failedStarts += 1;
    this.#parts.tally.fault('restart fails');
    if (!String(error).includes('the disk is broken') || this.#failedStarts > MAX_STARTS)
      this.#parts.complain(`the broker does not start: ${String(error)}`);
    else this.die('crash');
  }

  #crashLater(): void {
    const { environment, chance, faults, disk, tally, onDoomed } = this.#parts;
    const { crashAfterMs } = faults;
    if (crashAfterMs === undefined || !disk.isTroubled) return;
    environment.after(chance.whole(1, crashAfterMs), () => {
      if (this.#process !== undefined && disk.takeFault()) {
        tally.fault(this.#isServing ? onDoomed() : 'crash while clients are refused');
        this.die('crash');
      }
      this.#crashLater();
    });
  }
}
