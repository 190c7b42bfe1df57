// The decrypted stream of a connection that uses TLS. It exists from the moment in which the connection is accepted: what is written before
// the handshake has ended waits, and nothing is read before. Ends with its connection, whichever of the two ends first.

import { Duplex } from 'node:stream';

export type SecuredStreamOptions = {
  /** The connection below: ends and is destroyed together with this stream. */
  readonly connection: Duplex;
  /** Called when the stream is first used: begins the handshake, at whose end the owner calls `open`. */
  readonly begin: () => void;
  readonly highWaterMarkBytes: number;
};

type WriteCallback = (error?: Error | null) => void;

export class SecuredStream extends Duplex {
  readonly #connection: Duplex;
  #begin: (() => void) | undefined;
  /** Undefined until the handshake has ended. */
  #secured: Duplex | undefined;
  /** A write that waits for the handshake. */
  #waitingWrite: (() => void) | undefined;

  constructor({ connection, begin, highWaterMarkBytes }: SecuredStreamOptions) {
    super({ allowHalfOpen: true, writableHighWaterMark: highWaterMarkBytes, decodeStrings: true });
    this.#connection = connection;
    this.#begin = begin;
    connection.on('error', () => undefined);
    connection.on('close', () => this.destroy());
  }

  /** The handshake has ended: carries bytes from now on. */
  open(secured: Duplex): void {
    this.#secured = secured;
    secured.on('data', (chunk: Buffer) => {
      if (!this.push(chunk)) secured.pause();
    });
    secured.on('end', () => this.push(null));
    // Node reports a broken record, but leaves the connection open.
    secured.on('error', () => this.destroy());
    secured.on('close', () => this.destroy());
    this.#waitingWrite?.();
    this.#waitingWrite = undefined;
  }

  override _read(): void {
    this.#start();
    this.#secured?.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: WriteCallback): void {
    this.#whenOpen((secured) => void secured.write(chunk, callback));
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], callback: WriteCallback): void {
    this.#whenOpen((secured) => {
      secured.cork();
      for (const [index, { chunk }] of chunks.entries()) {
        if (index < chunks.length - 1) secured.write(chunk);
        else secured.write(chunk, callback);
      }
      secured.uncork();
    });
  }

  /** Without a handshake there is nothing to end in good order. */
  override _final(callback: WriteCallback): void {
    if (this.#secured !== undefined) {
      this.#secured.end(callback);
      return;
    }
    this.destroy();
    callback();
  }

  override _destroy(error: Error | null, callback: WriteCallback): void {
    this.#waitingWrite = undefined;
    this.#secured?.destroy();
    this.#connection.destroy();
    callback(error);
  }

  #whenOpen(write: (secured: Duplex) => void): void {
    this.#start();
    const secured = this.#secured;
    if (secured !== undefined) write(secured);
    else this.#waitingWrite = () => this.#secured !== undefined && write(this.#secured);
  }

  #start(): void {
    this.#begin?.();
    this.#begin = undefined;
  }
}
