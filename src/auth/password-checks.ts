// Checks and hashes passwords within the bounds of the whole broker. A refusal takes the same time whoever the user is and whatever was sent:
// an unknown user is checked against a decoy, and after a wrong password decoys make up for a hash of a lower cost. Implements AUTH-011,
// AUTH-013, AUTH-014 and AUTH-015.

import { addressKey } from '../model/address-key.ts';
import { isPassword } from '../model/credential-rules.ts';
import { costOf, decoyHash } from './bcrypt-hash.ts';
import type { PasswordHashing } from './password-hashing.ts';
import { Turns } from './turns.ts';

/** How many checks may wait, of all addresses together. */
export const MAX_WAITING_PASSWORD_CHECKS = 32;

export type PasswordCheckOptions = {
  readonly hashing: PasswordHashing;
  /** Of new hashes. */
  readonly cost: number;
  /** The highest cost of all hashes, new and stored. */
  readonly refusalCost: number;
  readonly maxParallelChecks: number;
};

export type PasswordCheck = {
  readonly password: string;
  /** Undefined: there is no such user. */
  readonly hash: string | undefined;
  readonly address: string;
  readonly cancelled: AbortSignal;
};

/** The check is not made: too many wait, or nobody waits for it any more. */
export type NotChecked = 'busy' | 'cancelled';

/** Any password: checked against decoys. */
const ANY_PASSWORD = 'password';

export class PasswordChecks {
  readonly #options: PasswordCheckOptions;
  readonly #turns: Turns;

  constructor(options: PasswordCheckOptions) {
    this.#options = options;
    this.#turns = new Turns({
      maxRunning: options.maxParallelChecks,
      maxWaiting: MAX_WAITING_PASSWORD_CHECKS,
    });
  }

  async verify({
    password,
    hash,
    address,
    cancelled,
  }: PasswordCheck): Promise<'right' | 'wrong' | NotChecked> {
    const task = () => this.#isRight(password, hash);
    const outcome = await this.#turns.take(addressKey(address), task, cancelled);
    if (outcome.kind === 'done') return outcome.value ? 'right' : 'wrong';
    return outcome.kind === 'full' ? 'busy' : 'cancelled';
  }

  /** Hashes a password that a client sent. Undefined: too many checks wait. */
  async hash(password: string, address: string): Promise<string | undefined> {
    const { hashing, cost } = this.#options;
    const outcome = await this.#turns.take(addressKey(address), () => hashing.hash(password, cost));
    return outcome.kind === 'done' ? outcome.value : undefined;
  }

  async #isRight(password: string, hash = ''): Promise<boolean> {
    const { hashing, refusalCost } = this.#options;
    const cost = costOf(hash);
    if (cost === undefined || !isPassword(password)) {
      await hashing.verify(ANY_PASSWORD, decoyHash(refusalCost));
      return false;
    }
    if (await hashing.verify(password, hash)) return true;
    // One step of the cost doubles the time: 2^cost + 2^cost + 2^(cost + 1) + .. + 2^(refusalCost - 1) = 2^refusalCost.
    for (let paid = cost; paid < refusalCost; paid += 1) await hashing.verify(ANY_PASSWORD, decoyHash(paid));
    return false;
  }
}
