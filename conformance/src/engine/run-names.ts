// The names that a run gives to what it makes on a broker: queues, ids of messages and commands. They begin with the run's seed and a
// salt that is drawn for each run, so that a seed can be used again, and by two runs at the same time, on a broker that keeps what an
// earlier run left. What a check does depends on the seed alone.
import { randomInt } from 'node:crypto';

const saltLength = 5;

export class RunNames {
  readonly #salt: string;

  /** `salt`: letters and digits; drawn unless given. */
  constructor(salt = drawnSalt()) {
    this.#salt = salt;
  }

  /**
   * The beginning of all names of one run of a check. `seed` is that of the repetition, `attempt` counts from 1. No name of another
   * check, repetition, attempt or run begins with it and a dot.
   */
  ofCheck(checkId: string, seed: number, attempt = 1): string {
    const again = attempt === 1 ? '' : `${attempt}-`;
    return `${this.#beginning(seed)}.${again}${checkId.toLowerCase()}`;
  }

  /** The beginning of the names of a visit that belongs to no check. */
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
