// Decides which connections are served: limits the number of open connections, and the number per address in a time window. Rejected
// connections are counted, but not in the window. Does not close connections itself. Implements LIMIT-009 to LIMIT-012 and LIMIT-023.

import type { Duplex } from 'node:stream';
import { addressKey } from '../model/address-key.ts';
import type { GatewayOptions } from './gateway-options.ts';
import type { LimitKind } from './limit-events.ts';
import { RateLimitByAddress } from './rate-limit.ts';

/** Refused connections that may wait for their client to close; more are destroyed without an Error. */
const MAX_LINGERING_REFUSALS = 100;

/** Served, refused with an Error, or destroyed without an answer. */
export type AdmissionOutcome = 'accept' | 'refuse' | 'destroy';

export type ConnectionAttempt = {
  readonly stream: Duplex;
  readonly address: string;
  readonly now: number;
  /** Connections that are open now. */
  readonly servedCount: number;
};

export class Admission {
  readonly #maxConnections: number;
  readonly #addressLimit: RateLimitByAddress | undefined;
  /** Refused connections that have not closed yet. */
  #lingeringCount = 0;
  readonly #limitReached: (kind: LimitKind) => void;
  acceptedCount = 0;
  rejectedCount = 0;

  constructor(
    { maxConnections, rateLimit }: Pick<GatewayOptions, 'maxConnections' | 'rateLimit'>,
    limitReached: (kind: LimitKind) => void,
  ) {
    this.#limitReached = limitReached;
    this.#maxConnections = maxConnections;
    this.#addressLimit =
      rateLimit &&
      new RateLimitByAddress(rateLimit.maxConnectionsPerIpPerWindow, rateLimit.connectionWindowMs);
  }

  /** Rejects and counts a connection if it exceeds the limit of its address. Returns whether it does. */
  rejects({ address, now }: Pick<ConnectionAttempt, 'address' | 'now'>): boolean {
    if (this.#addressLimit?.allows(addressKey(address), now) !== false) return false;
    this.#rejectFor('connectionsPerAddress');
    return true;
  }

  /** Decides about a connection and counts it. */
  judge(attempt: ConnectionAttempt): AdmissionOutcome {
    const { stream, now, servedCount } = attempt;
    const address = addressKey(attempt.address);
    if (this.rejects(attempt)) return 'destroy';
    if (servedCount < this.#maxConnections) {
      this.#addressLimit?.count(address, now);
      this.acceptedCount += 1;
      return 'accept';
    }
    if (this.#lingeringCount >= MAX_LINGERING_REFUSALS) return this.#rejectFor('connections');
    // The Error that it is sent counts in the limit.
    this.reject();
    this.#lingeringCount += 1;
    stream.once('close', () => {
      this.#lingeringCount -= 1;
    });
    return 'refuse';
  }

  #rejectFor(kind: LimitKind): AdmissionOutcome {
    this.#limitReached(kind);
    return this.reject();
  }

  /** Counts a connection that is not served for another reason than the limits. */
  reject(): AdmissionOutcome {
    this.rejectedCount += 1;
    return 'destroy';
  }
}
