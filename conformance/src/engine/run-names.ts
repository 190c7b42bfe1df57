// The names of queues, messages and commands of a run. They start with the seed and a random salt of the run, so that a seed can be used
// again, also by two runs at the same time, on a broker that keeps the queues of an earlier run. What a check does depends on the seed
// alone.
import { randomInt } from 'node:crypto';

const saltLength = 5;

export class RunNames {
  readonly #salt: string;

  /** `salt`: letters and digits; drawn unless given. */
  constructor(salt = drawnSalt()) {
    this.#salt = salt;
  }

  /**
   * The prefix of all names of one run of a check. `seed` is the seed of the repetition, `attempt` starts from 1. No name of another
   * check, repetition, attempt or run starts with this prefix and a dot.
   */
  ofCheck(checkId: string, seed: number, attempt = 1): string {
    const again = attempt === 1 ? '' : `${attempt}-`;
    return `${this.#beginning(seed)}.${again}${checkId.toLowerCase()}`;
  }

  /** The prefix of the names of a probe, which belongs to no check. */
  ofVisit(purpose: string, seed: number): string {
    return `${this.#beginning(seed)}.${purpose}`;
  }

  /** Part of every name of the run, and of no other run's. */
  get mark(): string {
    return `-${this.#salt}.`;
  }

  #beginning(seed: number): string {
    return `${seed.toString(36)}-${this.#salt}`;
  }
}

function drawnSalt(): string {
  return randomInt(36 ** saltLength)
    .toString(36)
    .padStart(saltLength, '0');
}
