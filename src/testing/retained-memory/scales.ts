// Compares what the process retains with what the broker accounts: the account must neither miss what clients make the broker keep, nor refuse
// clients for memory that nobody uses.

import { retainedBytes } from './garbage.ts';

/** The process may retain so many times what is accounted, plus the constant. */
const FACTOR = 1.5;
/** More may be accounted: a message counts what it takes when it is sent, and in a long queue it is packed and takes half of that. */
const OVERCOUNT_FACTOR = 2.25;
const MAX_ATTEMPTS = 4;
/** Compiled code, inline caches and tables that grow with use, measured without load: below 1 MiB. A leak of a plan is several times this. */
export const CONSTANT_BYTES = 2 * 1024 * 1024;

/** Says how many bytes it holds. */
export type Accountable = { accountedBytes(): number };

export class Scales {
  readonly #baseBytes: number;
  readonly #baseAccountedBytes: number;
  readonly #complaints: string[] = [];
  /** One line for each weighing. */
  readonly readings: string[] = [];

  private constructor(baseBytes: number, baseAccountedBytes: number) {
    this.#baseBytes = baseBytes;
    this.#baseAccountedBytes = baseAccountedBytes;
  }

  /** Takes the present state as empty. */
  static async tared(broker: Accountable): Promise<Scales> {
    return new Scales(await retainedBytes(), broker.accountedBytes());
  }

  get complaints(): readonly string[] {
    return this.#complaints;
  }

  /** Collects the garbage, compares, and complains with `moment`. */
  async weigh(broker: Accountable, moment: string): Promise<void> {
    let fault: string | undefined;
    let reading = '';
    // Memory outside of the heap is freed by a thread of its own, some time after the collection: a leak is still there later.
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const retained = (await retainedBytes()) - this.#baseBytes;
      const accounted = broker.accountedBytes() - this.#baseAccountedBytes;
      reading = `${moment}: ${mebibytes(retained)} retained, ${mebibytes(accounted)} accounted`;
      fault = faultOf(retained, accounted);
      if (fault === undefined) break;
    }
    this.readings.push(reading);
    if (fault !== undefined) this.complain(`${reading}: ${fault}`);
  }

  complain(text: string): void {
    this.#complaints.push(text);
  }
}

function faultOf(retained: number, accounted: number): string | undefined {
  if (retained > FACTOR * accounted + CONSTANT_BYTES) return 'memory that nobody accounts';
  if (accounted > OVERCOUNT_FACTOR * retained + CONSTANT_BYTES) return 'accounted and not there';
  return undefined;
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(2)} MiB`;
}
