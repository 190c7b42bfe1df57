// How much is sent without acknowledgments, where no window bounds it, until everything sent so far was written: maxBurstBytes to one
// connection, maxTotalBurstBytes to all. A connection that reached one of them takes nothing more until its `writable` input says whether it does. State of FanOutWithoutAck
// only. Implements DELIVERY-024 and DELIVERY-027.

import type { BrokerSettings } from '../interface/settings.ts';
import type { StepContext } from '../queue/step-context.ts';
import type { Subscriber } from './subscriber.ts';

/** What one connection was sent without acknowledgments. */
export class Burst {
  bytes = 0;
  /** Between which writes it was sent. */
  number = 0;
  /** It has reached maxBurstBytes, and it is not known yet whether the connection takes more. */
  isSaturated = false;
}

export class BurstLimit {
  readonly #step: StepContext;
  readonly #settings: BrokerSettings;
  readonly #bursts = new WeakMap<Subscriber, Burst>();
  /** Goes up whenever everything sent so far was written. */
  #number = 1;
  /** What all connections were sent since. */
  #totalBytes = 0;

  constructor(step: StepContext, settings: BrokerSettings) {
    this.#step = step;
    this.#settings = settings;
  }

  /** Everything sent so far was written: all bursts begin anew. */
  written(): void {
    this.#number += 1;
    this.#totalBytes = 0;
  }

  /** The burst of the connection, the same object for all of its subscriptions. */
  of(subscriber: Subscriber): Burst {
    let burst = this.#bursts.get(subscriber);
    if (burst === undefined) {
      burst = new Burst();
      this.#bursts.set(subscriber, burst);
    }
    return burst;
  }

  /** Notes that the connection was sent so many bytes. */
  add(subscriber: Subscriber, burst: Burst, bytes: number): void {
    if (burst.number !== this.#number) {
      burst.number = this.#number;
      burst.bytes = 0;
    }
    burst.bytes += bytes;
    this.#totalBytes += bytes;
    const { maxBurstBytes, maxTotalBurstBytes } = this.#settings;
    const mayGoOn = burst.bytes < maxBurstBytes && this.#totalBytes < maxTotalBurstBytes;
    if (mayGoOn || !subscriber.writable) return;
    burst.isSaturated = true;
    subscriber.writable = false;
    this.#step.effect({ kind: 'saturated', connection: subscriber.id });
    subscriber.refresh();
  }

  /** It is known whether the connection takes more. Returns whether its queues have waited for that. */
  endSaturation(subscriber: Subscriber): boolean {
    const burst = this.#bursts.get(subscriber);
    if (burst === undefined || !burst.isSaturated) return false;
    burst.isSaturated = false;
    burst.bytes = 0;
    return true;
  }
}
