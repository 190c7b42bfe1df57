// Packs messages that will wait for long into pieces of memory of one size, which are used again. The id of a message stands in its content, so
// that it is not kept twice. A message that cannot be packed is kept as it is: one with a content of 4 KiB or more, of which few would fit into
// a piece and collections see little, and one whose id is not ASCII.

import type { MessageContent } from '../broker/interface/message-content.ts';
import type { MessagePacking, PackableMessage, PackedContents } from '../broker/interface/message-packing.ts';
import { minMessageSizeBytes } from '../protocol/limits.ts';
import { KeptContent } from './kept-content.ts';

/** The size of a piece, in bytes. A larger one gains nothing, and its messages are unpacked together: 115 of 1 KiB. */
const PIECE_BYTES = 131_072;
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
  readonly #free: Buffer[] = [];

  /** The defaults are far above the queues of subscribers that keep up, and below what garbage collections feel. */
  constructor({ minWaiting = 4096, maxCount = 1024, maxBytes = PIECE_BYTES } = {}) {
    this.minWaiting = minWaiting;
    this.maxCount = maxCount;
    this.maxBytes = maxBytes;
  }

  pack(messages: readonly PackableMessage[]): PackedContents {
    let piece: Buffer | undefined;
    const ends = new Uint32Array(Math.min(messages.length, this.maxCount));
    const kept = new Map<number, PackableMessage>();
    let end = 0;
    let count = 0;
    for (; count < ends.length; count += 1) {
      const message = messages[count];
      if (message === undefined) break;
      const content = packable(message, Math.min(this.maxBytes, MAX_PACKED_BYTES));
      if (content === undefined) kept.set(count, message);
      else if (end + content.byteLength > this.maxBytes) break;
      else {
        piece ??= this.#free.pop() ?? Buffer.allocUnsafeSlow(this.maxBytes);
        end = content.writeTo(piece, end);
      }
      ends[count] = end;
    }
    return new PackedPiece({ count, piece: piece ?? nothing, ends, kept }, (freed) => {
      if (freed !== nothing && this.#free.length < MAX_FREE) this.#free.push(freed);
    });
  }
}

/** The piece of messages none of which can be packed. */
const nothing = Buffer.alloc(0);

type Packed = {
  readonly count: number;
  readonly piece: Buffer;
  /** Where each content ends in the piece. */
  readonly ends: Uint32Array;
  /** The messages that are not in the piece. */
  readonly kept: ReadonlyMap<number, PackableMessage>;
};

class PackedPiece implements PackedContents {
  readonly #packed: Packed;
  readonly #release: (piece: Buffer) => void;

  constructor(packed: Packed, release: (piece: Buffer) => void) {
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
    const start = this.#startOf(index) + ID_AT;
    return piece.toString('latin1', start, start + piece.readUInt16BE(start - 2));
  }

  contentAt(index: number): MessageContent {
    const { piece, ends } = this.#packed;
    return this.#keptAt(index)?.content ?? KeptContent.copyOf(piece, this.#startOf(index), ends[index]);
  }

  free(): void {
    this.#release(this.#packed.piece);
  }

  #keptAt(index: number): PackableMessage | undefined {
    const { kept } = this.#packed;
    return kept.size === 0 ? undefined : kept.get(index);
  }

  #startOf(index: number): number {
    return index === 0 ? 0 : (this.#packed.ends[index - 1] ?? 0);
  }
}

/** The content, if it fits and has the id at its place. */
function packable({ id, content }: PackableMessage, maxBytes: number): KeptContent | undefined {
  if (!(content instanceof KeptContent) || content.byteLength > maxBytes) return undefined;
  return content.hasShortText(id, ID_AT) ? content : undefined;
}
