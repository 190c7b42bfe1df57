// The payload of ListQueues: a JSON array of names. A list that cannot fit is refused before it is serialised, and a list that is asked
// for repeatedly in one batch is serialised once: a command of 30 bytes must not cost the work of 100,000 names.
// Implements FRAME-018 for ListQueues.

/** The list of the last call, until `clear`. The core returns the same array until a queue is created or deleted. */
export class QueueListCache {
  #names: readonly string[] | undefined;
  #payload = Buffer.alloc(0);

  /** The names in JSON, or undefined when that has more than `maxBytes` bytes. */
  payloadOf(names: readonly string[], maxBytes: number): Buffer | undefined {
    if (exceeds(names, maxBytes)) return undefined;
    if (this.#names !== names) {
      this.#names = names;
      this.#payload = Buffer.from(JSON.stringify(names));
    }
    return this.#payload.length <= maxBytes ? this.#payload : undefined;
  }

  /** Frees the memory. */
  clear(): void {
    this.#names = undefined;
    this.#payload = Buffer.alloc(0);
  }
}

/** Two quotes and a comma, or a bracket. */
const BYTES_AROUND_NAME = 3;

/**
 * Whether the JSON text certainly has more than `maxBytes` bytes. Takes one byte for each UTF-16 unit, which is never too many; stops at
 * the first name that exceeds the limit.
 */
function exceeds(names: readonly string[], maxBytes: number): boolean {
  let length = 1;
  for (const name of names) {
    length += name.length + BYTES_AROUND_NAME;
    if (length > maxBytes) return true;
  }
  return false;
}
