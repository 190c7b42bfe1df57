// How much the first part of a Brotli stream holds, read from its first bytes: a decoder fills a window of up to 4 MiB before it returns
// anything, so asking it for little does not make it do little. Serves COMPRESS-005 and CONN-021.
//
//   window size, 1, 4 or 7 bits | is it the last part, 1 | if so: is it empty, 1 | number of nibbles, 2 | size - 1, 4 bits for each nibble
//
// The lowest bit of a byte comes first: RFC 7932, sections 9.1 and 9.2.

/** What is enough for the window size and the size of the first part: 7 + 1 + 1 + 2 + 24 bits. */
const LONGEST_HEAD_BYTES = 5;
/** The number of nibbles that says that a part holds nothing of the output. */
const METADATA = 3;

/**
 * The size in bytes of what the first part of a stream decompresses to, 1 to 16,777,216, or 0 if the stream is empty. Infinity if the part
 * holds no output, so that more must be read to know, as no common encoder begins a stream.
 */
export function firstPartBytes(stream: Uint8Array): number {
  const bits = new Bits(stream);
  if (bits.take(1) === 1 && bits.take(3) === 0) bits.take(3);
  const isLast = bits.take(1) === 1;
  if (isLast && bits.take(1) === 1) return 0;
  const nibbles = bits.take(2);
  return nibbles === METADATA ? Number.POSITIVE_INFINITY : bits.take(4 * (4 + nibbles)) + 1;
}

/** Bits of the first bytes; 0 behind the end. */
class Bits {
  #rest = 0;

  constructor(bytes: Uint8Array) {
    // Five bytes are more than bit operations take, and less than a number holds exactly.
    for (let at = LONGEST_HEAD_BYTES - 1; at >= 0; at -= 1) this.#rest = this.#rest * 256 + (bytes[at] ?? 0);
  }

  take(count: number): number {
    const size = 2 ** count;
    const value = this.#rest % size;
    this.#rest = (this.#rest - value) / size;
    return value;
  }
}
