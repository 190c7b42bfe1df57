// Gathers outgoing frames in large slabs and hands them to the socket once for each turn of the event loop: a write per frame
// would be the slowest part of the whole measurement. Slabs are used again when the socket has written them. The caller
// writes its bytes itself, at the offset that `reserve` returns. It knows no commands.

/** What a gatherer needs of a socket. */
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
  /** The first byte that the socket has not got. */
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

  /** Room for `byteCount` bytes in `slab`, which may be another one than before; returns where it begins. */
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

  /** A frame that was encoded elsewhere; for commands that are seldom sent. */
  add(frame: Buffer): void {
    const at = this.reserve(frame.length);
    frame.copy(this.slab, at);
  }

  /** Hands over at once what is gathered. Without a call it happens at the end of the turn. */
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
    const isOfUse = slab.unwrittenCount === 0 && slab.bytes.length === slabBytes;
    if (isOfUse && this.#spare.length < maxSpareCount) this.#spare.push(slab);
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
