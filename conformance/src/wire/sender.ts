// Writes bytes to a socket, split or joined by the wire mode, in the order of the calls. Never waits until the broker reads, because a
// check must continue when the broker stops reading. Writing to a closed socket is not an error here; the connection reports its end.
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Random } from '../random.ts';
import type { WireMode } from './chunking.ts';
import { cut } from './chunking.ts';

export type ByteWriter = { write(bytes: Buffer): unknown };

export class Sender {
  readonly #sink: ByteWriter;
  readonly #mode: WireMode;
  readonly #random: Random;
  #tail: Promise<void> = Promise.resolve();
  #joining: Buffer[] = [];

  constructor(sink: ByteWriter, mode: WireMode, random: Random) {
    this.#sink = sink;
    this.#mode = mode;
    this.#random = random;
  }

  /** Writes the bytes by the wire mode; resolves when the last piece is passed to the socket. */
  send(bytes: Buffer): Promise<void> {
    if (this.#mode === 'joined') return this.#join(bytes);
    return this.sendPieces(cut(bytes, this.#mode, this.#random));
  }

  /** Writes exactly these pieces, each in its own turn of the event loop. */
  sendPieces(pieces: readonly Buffer[]): Promise<void> {
    this.#tail = this.#tail.then(() => this.#write(pieces));
    return this.#tail;
  }

  async #write(pieces: readonly Buffer[]): Promise<void> {
    for (const [index, piece] of pieces.entries()) {
      if (index > 0) await nextTurn();
      this.#sink.write(piece);
    }
  }

  /** Joins everything that is sent in one turn of the event loop into one write. */
  #join(bytes: Buffer): Promise<void> {
    this.#joining.push(bytes);
    if (this.#joining.length > 1) return this.#tail;
    this.#tail = this.#tail
      .then(() => nextTurn())
      .then(() => {
        const joined = Buffer.concat(this.#joining);
        this.#joining = [];
        this.#sink.write(joined);
      });
    return this.#tail;
  }
}
