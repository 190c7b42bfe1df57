// Which connections are served: not more than so many at a time, and of one address not more than so many in a window. Those
// that are rejected are counted and leave no trace in the window. Closes nothing itself. Implements LIMIT-008 to LIMIT-012.

import type { Duplex } from 'node:stream';
import type { EngineOptions } from '../backend/local/engine-options.ts';
import { addressKey } from './address-key.ts';
import { RateLimitByAddress } from './rate-limit.ts';

/** Refused connections that may wait at a time for their client to close; beyond it they are cut off. */
const MOST_LINGERING = 100;

/** Served, told why it is not, or closed without a word. */
export type Verdict = 'accept' | 'refuse' | 'cutOff';

export type Applicant = {
  readonly stream: Duplex;
  readonly address: string;
  readonly now: number;
  /** Connections that are served now. */
  readonly servedCount: number;
};

export class Admission {
  readonly #maxConnections: number;
  readonly #addressLimit: RateLimitByAddress | undefined;
  /** Refused ones that have not closed yet. */
  #lingeringCount = 0;
  acceptedCount = 0;
  rejectedCount = 0;

  constructor({ maxConnections, rateLimit }: Pick<EngineOptions, 'maxConnections' | 'rateLimit'>) {
    this.#maxConnections = maxConnections;
    this.#addressLimit =
      rateLimit &&
      new RateLimitByAddress(rateLimit.maxConnectionsPerIpPerWindow, rateLimit.connectionWindowMs);
  }

  /** Judges a connection and counts it. */
  judge(applicant: Applicant): Verdict {
    const { stream, now, servedCount } = applicant;
    const address = addressKey(applicant.address);
    if (this.#addressLimit?.allows(address, now) === false) return this.reject();
    if (servedCount < this.#maxConnections) {
      this.#addressLimit?.count(address, now);
      this.acceptedCount += 1;
      return 'accept';
    }
    const verdict = this.reject();
    if (this.#lingeringCount >= MOST_LINGERING) return verdict;
    this.#lingeringCount += 1;
    stream.once('close', () => {
      this.#lingeringCount -= 1;
    });
    return 'refuse';
  }

  /** Counts a connection that is not served, whatever the limits say. */
  reject(): Verdict {
    this.rejectedCount += 1;
    return 'cutOff';
  }
}
