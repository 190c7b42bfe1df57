// One buffer that all connections of a listener read into. Node makes a new one of 64 KiB for every read of a socket, and more than half of the
// collections under load come from that (docs/internals/performance.md). Its public option against it, `onread`,
// is not there for accepted sockets. So a socket of our own takes over the handle of the accepted one. That needs what Node does not document: the
// member `_handle`, the option `handle`, and that the function of `onread` is called as a method of its socket.

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
  /** One for all sockets: one for each took 0.1 MiB for 1,000 idle connections. */
  readonly #onread: OnReadOpts;

  /** Reads as much at a time as fits into the buffer. */
  constructor(bytes: Buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)) {
    this.#onread = {
      buffer: bytes,
      callback(this: Socket, length: number) {
        this.emit('data', bytes.subarray(0, length));
        return true;
      },
    };
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
      onread: this.#onread,
    };
    return new Socket(options);
  }
}
