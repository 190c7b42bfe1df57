// One buffer that all connections of a listener read into. Node makes a new one of 64 KiB for every read of a socket, and more than half of the
// collections under load come from that (docs/internals/performance.md). Its public option against it, `onread`,
// is not there for accepted sockets. So a socket of our own takes over the handle of the accepted one, by two members of Node that it does not
// document: `_handle`, and the option of that name.

import { type OnReadOpts, Socket, type SocketConstructorOpts } from 'node:net';

/** As much as Node itself reads at a time. */
const BUFFER_BYTES = 65_536;

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

  /** Reads as much at a time as fits into the buffer. */
  constructor(bytes: Buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)) {
    this.#bytes = bytes;
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
      onread: { buffer: this.#bytes, callback: (length) => this.#emit(socket, length) },
    };
    const socket: Socket = new Socket(options);
    return socket;
  }

  #emit(socket: Socket, length: number): boolean {
    socket.emit('data', this.#bytes.subarray(0, length));
    return true;
  }
}
