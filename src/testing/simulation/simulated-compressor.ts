// Compression as the broker does it, but never in the thread pool: what takes time takes virtual time, drawn from the seed.

import { allInPlace, ZlibCompressor } from '../../compression/zlib-compressor.ts';
import type { Algorithm, Compressor } from '../../protocol/compression.ts';
import type { ProtocolFault } from '../../protocol/fault.ts';
import type { Random } from './random.ts';
import type { SimulatedEnvironment } from './simulated-environment.ts';

const MAX_DELAY_MS = 8;

/** Everything in place. */
export function inPlaceCompressor(): ZlibCompressor {
  return new ZlibCompressor(allInPlace);
}

export class SimulatedCompressor implements Compressor {
  readonly #zlib = inPlaceCompressor();
  readonly #environment: SimulatedEnvironment;
  readonly #random: Random;
  readonly #lateChance: number;
  /** Results that are not there yet. */
  pendingCount = 0;
  lateCount = 0;

  constructor(environment: SimulatedEnvironment, random: Random, lateChance: number) {
    this.#environment = environment;
    this.#random = random;
    this.#lateChance = lateChance;
  }

  compress(algorithm: Algorithm, body: Buffer): Buffer | Promise<Buffer> {
    const result = this.#zlib.compress(algorithm, body);
    return this.#atOnceOrLater(result);
  }

  decompress(
    algorithm: Algorithm,
    body: Buffer,
    limitBytes: number,
  ): Buffer | ProtocolFault | Promise<Buffer | ProtocolFault> {
    return this.#atOnceOrLater(this.#zlib.decompress(algorithm, body, limitBytes));
  }

  #atOnceOrLater<Result>(result: Result | Promise<Result>): Result | Promise<Result> {
    if (!this.#random.chance(this.#lateChance)) return result;
    this.pendingCount += 1;
    this.lateCount += 1;
    return new Promise((resolve) => {
      this.#environment.after(this.#random.whole(0, MAX_DELAY_MS), () => {
        this.pendingCount -= 1;
        resolve(result);
      });
    });
  }
}
