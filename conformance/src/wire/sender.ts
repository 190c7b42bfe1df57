// Puts bytes on a socket in the way the wire mode says, in the order they were given. It never waits for the peer to read:
// a broker that stops reading must not stop the check that wants to see it. Writing to a closed socket is not an error
// here; the connection tells of the closing.
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

  /** Writes as the mode says; resolves when the last piece has been handed to the socket. */
  send(bytes: Buffer): Promise<void> {
    if (this.#mode === 'joined') return this.#join(bytes);
    return this.sendPieces(cut(bytes, this.#mode, this.#random));
  }

  /** Writes exactly these pieces, a turn of the event loop apart where there are several. */
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

  /** What is sent within one turn of the event loop leaves in one write. */
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
