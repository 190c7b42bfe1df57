// Packs messages that will wait for long into pieces of memory of one size, which are used again. The id of a message stands in its content, so
// that it is not kept twice. A message that cannot be packed is kept as it is: one with a content of 4 KiB or more, of which few would fit into
// a piece and collections see little, and one whose id is not ASCII.

import type { MessageContent } from '../broker/interface/message-content.ts';
import type { MessagePacking, PackableMessage, PackedContents } from '../broker/interface/message-packing.ts';
import { minMessageSizeBytes } from '../protocol/limits.ts';
import { KeptContent } from './kept-content.ts';

/** The size of a piece, in bytes. A larger one gains nothing, and its messages are unpacked together: 115 of 1 KiB. */
const PIECE_BYTES = 131_072;
/** What it takes to say where a content ends. */
const END_BYTES = 4;
/** Larger contents are kept as they are. */
const MAX_PACKED_BYTES = 4095;
/** Free pieces that are kept for the next run. New ones would have to be cleared by the system, and hasten garbage collections. */
const MAX_FREE = 8;
/** The id follows version, command and the two bytes of its length. */
const ID_AT = minMessageSizeBytes + 2;

export class ContentPacking implements MessagePacking {
  readonly minWaiting: number;
  readonly maxCount: number;
  readonly maxBytes: number;
  readonly #free: Piece[] = [];

  /** The defaults are far above the queues of subscribers that keep up, and below what garbage collections feel. */
  constructor({ minWaiting = 4096, maxCount = 1024, maxBytes = PIECE_BYTES } = {}) {
    this.minWaiting = minWaiting;
    this.maxCount = maxCount;
    this.maxBytes = maxBytes;
  }

  pack(messages: readonly PackableMessage[]): PackedContents {
    let piece = nothing;
    const kept = new Map<number, PackableMessage>();
    const maxCount = Math.min(messages.length, this.maxCount);
    let end = 0;
    let count = 0;
    for (; count < maxCount; count += 1) {
      const message = messages[count];
      if (message === undefined) break;
      const content = packable(message, Math.min(this.maxBytes - END_BYTES, MAX_PACKED_BYTES));
      if (content !== undefined && piece === nothing) piece = this.#takePiece(count);
      if (piece !== nothing && end + (content?.byteLength ?? 0) > piece.spaceFor(count)) break;
      if (content === undefined) kept.set(count, message);
      else end = content.writeTo(piece.bytes, end);
      piece.setEnd(count, end);
    }
    return new PackedPiece({ count, piece, kept }, (freed) => {
      if (freed !== nothing && this.#free.length < MAX_FREE) this.#free.push(freed);
    });
  }

  /** So many messages before the first in the piece are kept as they are. */
  #takePiece(keptCount: number): Piece {
    const piece = this.#free.pop() ?? new Piece(this.maxBytes);
    for (let index = 0; index < keptCount; index += 1) piece.setEnd(index, 0);
    return piece;
  }
}

/** Contents from the beginning, and where each of them ends, from the end backwards. */
class Piece {
  readonly bytes: Buffer;
  readonly #ends: Uint32Array;

  constructor(byteCount: number) {
    this.bytes = Buffer.allocUnsafeSlow(byteCount);
    this.#ends = new Uint32Array(this.bytes.buffer, 0, Math.floor(byteCount / END_BYTES));
  }

  /** Where the content of that index must end. */
  spaceFor(index: number): number {
    return END_BYTES * (this.#ends.length - 1 - index);
  }

  startOf(index: number): number {
    return index === 0 ? 0 : this.#endOf(index - 1);
  }

  contentAt(index: number): KeptContent {
    return KeptContent.copyOf(this.bytes, this.startOf(index), this.#endOf(index));
  }

  setEnd(index: number, end: number): void {
    this.#ends[this.#ends.length - 1 - index] = end;
  }

  #endOf(index: number): number {
    return this.#ends[this.#ends.length - 1 - index] ?? 0;
  }
}

/** The piece of messages none of which can be packed. */
const nothing = new Piece(0);

type Packed = {
  readonly count: number;
  readonly piece: Piece;
  /** The messages that are not in the piece. */
  readonly kept: ReadonlyMap<number, PackableMessage>;
};

class PackedPiece implements PackedContents {
  readonly #packed: Packed;
  readonly #release: (piece: Piece) => void;

  constructor(packed: Packed, release: (piece: Piece) => void) {
    this.#packed = packed;
    this.#release = release;
  }

  get count(): number {
    return this.#packed.count;
  }

  idAt(index: number): string {
    const { piece } = this.#packed;
    const message = this.#keptAt(index);
    if (message !== undefined) return message.id;
    const start = piece.startOf(index) + ID_AT;
    return piece.bytes.toString('latin1', start, start + piece.bytes.readUInt16BE(start - 2));
  }

  contentAt(index: number): MessageContent {
    const { piece } = this.#packed;
    return this.#keptAt(index)?.content ?? piece.contentAt(index);
  }

  free(): void {
    this.#release(this.#packed.piece);
  }

  #keptAt(index: number): PackableMessage | undefined {
    const { kept } = this.#packed;
    return kept.size === 0 ? undefined : kept.get(index);
  }
}

/** The content, if it fits and has the id at its place. */
function packable({ id, content }: PackableMessage, maxBytes: number): KeptContent | undefined {
  if (!(content instanceof KeptContent) || content.byteLength > maxBytes) return undefined;
  return content.hasShortText(id, ID_AT) ? content : undefined;
}
