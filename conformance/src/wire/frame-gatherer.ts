// Collects outgoing frames in large buffers (slabs) and passes them to the socket once per turn of the event loop, because one write for
// each frame would be the slowest part of a measurement. Reuses a slab when the socket has written it. The caller writes its bytes itself,
// at the offset that `reserve` returns. Knows no commands.

/** The part of a socket that the gatherer needs. */
export type ByteSink = {
  readonly destroyed: boolean;
  write(bytes: Uint8Array, done: () => void): unknown;
};

type Slab = { readonly bytes: Buffer; unwrittenCount: number; retired: boolean };

const slabBytes = 256 * 1024;
const maxSpareCount = 8;

export class FrameGatherer {
  readonly #sink: ByteSink;
  #slab = newSlab(slabBytes);
  readonly #spare: Slab[] = [];
  /** The range of `slab` that is not passed to the socket yet. */
  #fromAt = 0;
  #toAt = 0;
  #isScheduled = false;
  readonly #flush = (): void => this.flush();

  constructor(sink: ByteSink) {
    this.#sink = sink;
  }

  /** The buffer of the last reservation. */
  get slab(): Buffer {
    return this.#slab.bytes;
  }

  /** Reserves `byteCount` bytes in `slab`, which may be another slab than before; returns the offset of the first byte. */
  reserve(byteCount: number): number {
    if (this.#toAt + byteCount > this.#slab.bytes.length) this.#changeSlab(byteCount);
    const at = this.#toAt;
    this.#toAt += byteCount;
    if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(this.#flush);
    }
    return at;
  }

  /** Adds an encoded frame; for commands that are rarely sent. */
  add(frame: Buffer): void {
    const at = this.reserve(frame.length);
    frame.copy(this.slab, at);
  }

  /** Passes the collected bytes to the socket now. Without a call this happens at the end of the turn. */
  flush(): void {
    this.#isScheduled = false;
    if (this.#toAt === this.#fromAt || this.#sink.destroyed) return;
    const slab = this.#slab;
    slab.unwrittenCount += 1;
    this.#sink.write(slab.bytes.subarray(this.#fromAt, this.#toAt), () => this.#written(slab));
    this.#fromAt = this.#toAt;
  }

  #written(slab: Slab): void {
    slab.unwrittenCount -= 1;
    if (slab.retired) this.#keepSpare(slab);
  }

  #keepSpare(slab: Slab): void {
    const isReusable = slab.unwrittenCount === 0 && slab.bytes.length === slabBytes;
    if (isReusable && this.#spare.length < maxSpareCount) this.#spare.push(slab);
  }

  #changeSlab(byteCount: number): void {
    const wasScheduled = this.#isScheduled;
    this.flush();
    this.#isScheduled = wasScheduled;
    this.#slab.retired = true;
    this.#keepSpare(this.#slab);
    this.#slab = byteCount > slabBytes ? newSlab(byteCount) : (this.#spare.pop() ?? newSlab(slabBytes));
    this.#slab.retired = false;
    this.#fromAt = 0;
    this.#toAt = 0;
  }
}

function newSlab(byteCount: number): Slab {
  return { bytes: Buffer.allocUnsafeSlow(byteCount), unwrittenCount: 0, retired: false };
}
