// Hashes for tests, at once: of the right form, and countable. A password is checked by comparing the hash of it, which takes no time. The test
// can hold the calls back and let each end when it likes.

import { createHash } from 'node:crypto';
import type { PasswordHashing } from '../auth/password-hashing.ts';

export class InstantHashing implements PasswordHashing {
  /** The calls so far: `hash 12`, `verify 10`, with the cost. */
  readonly calls: string[] = [];
  /** While true, calls wait for `release`. */
  isHeld = false;
  /** The error of every call, if any. */
  failure: Error | undefined;
  readonly #held: (() => void)[] = [];

  async hash(password: string, cost: number): Promise<string> {
    this.calls.push(`hash ${cost}`);
    await this.#wait();
    return hashOf(password, cost);
  }

  async verify(password: string, hash: string): Promise<boolean> {
    const cost = Number(hash.slice(4, 6));
    this.calls.push(`verify ${cost}`);
    await this.#wait();
    return hashOf(password, cost) === hash;
  }

  close(): void {
    this.failure = new Error('closed');
  }

  /** Lets the call end that has waited longest. */
  release(): void {
    this.#held.shift()?.();
  }

  async #wait(): Promise<void> {
    if (this.isHeld) await new Promise<void>((resolve) => this.#held.push(resolve));
    if (this.failure !== undefined) throw this.failure;
  }
}

/** The same password has the same hash. */
export function hashOf(password: string, cost = 4): string {
  const digest = createHash('sha512').update(password).digest('hex');
  return `$2b$${String(cost).padStart(2, '0')}$${digest.slice(0, 53)}`;
}

/** All promises that can settle without further input have settled then. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
