// One buffer that all connections of a listener read into. Node makes a new one of 64 KiB for every read of a socket, and more than half of the
// collections under load come from that (docs/internals/performance.md). Its public option against it, `onread`,
// is not there for accepted sockets. So a socket of our own takes over the handle of the accepted one, by two members of Node that it does not
// document: `_handle`, and the option of that name.

import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';

/**
 * What is read at a time while few connections are open. With 64 KiB, as Node itself reads, one of four messages of 16 KiB comes in two pieces, which
 * are copied twice more, and there are more system calls: 8 percent fewer messages (docs/internals/performance.md).
 */
const BUFFER_BYTES = 524_288;
/**
 * While more are open, each reads one of so many parts of the buffer at a time. What of a read is not handled at once is kept: 33 connections keep
 * 14 MiB more than with parts, and 10,000 would keep 4.3 GiB more.
 */
const FEW_CONNECTIONS = 32;
const PARTS = 8;

type WithHandle = { _handle?: object | null };
type HandleOptions = SocketConstructorOpts & {
  readonly onread: OnReadOpts;
  readonly handle: object;
  /** Reading begins with the first listener. */
  readonly manualStart: true;
  readonly highWaterMark: number;
};

export class ReadBuffer {
  readonly #bytes: Buffer;
  readonly #part: Buffer;
  readonly #connections: { readonly count: number };

  /** `connections`: how many are open. Reads as much at a time as fits into the buffer, or into an eighth of it while more than 32 are. */
  constructor(connections: { readonly count: number }, bytes: Buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)) {
    this.#connections = connections;
    this.#bytes = bytes;
    this.#part = bytes.subarray(0, bytes.length / PARTS);
  }

  /**
   * The same connection, read into this buffer: each chunk of a `data` event is overwritten after its listeners have returned. `accepted` must
   * not have been read from, and is of no use afterwards; one that has been closed already is returned.
   */
  socketFor(accepted: Socket, highWaterMarkBytes: number): Socket {
    const handle = (accepted as WithHandle)._handle;
    if (handle === undefined || handle === null) return accepted;
    (accepted as WithHandle)._handle = null;
    accepted.destroy();
    const options: HandleOptions = {
      handle,
      allowHalfOpen: true,
      manualStart: true,
      highWaterMark: highWaterMarkBytes,
      onread: { buffer: this.#next, callback: (length) => this.#emit(socket, length) },
    };
    const socket: Socket = new Socket(options);
    return socket;
  }

  /** What a socket reads into next: asked when it is made and after each read. One function for all sockets. */
  readonly #next = (): Buffer => (this.#connections.count > FEW_CONNECTIONS ? this.#part : this.#bytes);

  #emit(socket: Socket, length: number): boolean {
    socket.emit('data', this.#bytes.subarray(0, length));
    return true;
  }
}
