// Where contents that were read from the database are kept: many of them in one piece of memory. A million pieces of their own are slow to
// make, and slow to look after for as long as they live. A piece is given back when the last content in it is.

/** What one content that outlives its neighbours keeps from being given back. */
const PIECE_BYTES = 64 * 1024;
/** Contents that are larger have a piece of their own. */
const LARGEST_SHARING_BYTES = PIECE_BYTES / 8;

export class ContentPool {
  #piece = Buffer.alloc(0);
  #used = 0;

  /** The same bytes, in memory that is shared with other contents. */
  keep(content: Uint8Array): Uint8Array {
    if (content.length > LARGEST_SHARING_BYTES) return content;
    if (this.#used + content.length > this.#piece.length) {
      this.#piece = Buffer.allocUnsafeSlow(PIECE_BYTES);
      this.#used = 0;
    }
    this.#piece.set(content, this.#used);
    const kept = this.#piece.subarray(this.#used, this.#used + content.length);
    this.#used += content.length;
    return kept;
  }
}
