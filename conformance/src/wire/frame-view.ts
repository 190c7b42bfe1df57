// The positions of the fields of one received frame, without copies: at hundreds of thousands of frames per second, an object for each frame
// would measure the garbage collector instead of the broker. One view is reused for all frames of a connection; the caller must copy what
// it keeps. Reads correct frames and validates nothing. Areas: FRAME, BODY.

import { frameHeadBytes } from './frame-reader.ts';

export class FrameView {
  /** The buffer that contains the frame; valid until the next `moveTo`. */
  bytes: Buffer = Buffer.alloc(0);
  command = 0;
  idAt = 0;
  idBytes = 0;
  queueAt = 0;
  queueBytes = 0;
  payloadAt = 0;
  payloadBytes = 0;
  /** The offset of the header count, which follows the payload. */
  headersAt = 0;
  /** The offset of the first byte after the frame. */
  endAt = 0;

  /** Moves the view to the complete, uncompressed frame whose length field is at offset `at`. */
  moveTo(bytes: Buffer, at: number): void {
    const bodyAt = at + frameHeadBytes;
    this.bytes = bytes;
    this.command = bytes[bodyAt + 1] ?? 0;
    this.idBytes = bytes.readUInt16BE(bodyAt + 2);
    this.idAt = bodyAt + 4;
    this.queueBytes = bytes.readUInt16BE(this.idAt + this.idBytes);
    this.queueAt = this.idAt + this.idBytes + 2;
    this.payloadBytes = bytes.readUInt32BE(this.queueAt + this.queueBytes);
    this.payloadAt = this.queueAt + this.queueBytes + 4;
    this.headersAt = this.payloadAt + this.payloadBytes;
    this.endAt = bodyAt + bytes.readUInt32BE(at);
  }

  id(): string {
    return this.bytes.toString('utf8', this.idAt, this.idAt + this.idBytes);
  }

  queue(): string {
    return this.bytes.toString('utf8', this.queueAt, this.queueAt + this.queueBytes);
  }

  payload(): string {
    return this.bytes.toString('utf8', this.payloadAt, this.payloadAt + this.payloadBytes);
  }

  /** A copy of the body, for `decodeBody`. */
  body(): Buffer {
    return Buffer.from(this.bytes.subarray(this.idAt - 4, this.endAt));
  }
}
