// Where the fields of one received frame lie, without a copy of any of them: at hundreds of thousands of frames a second an object per
// frame would measure the garbage collector. One view is used again for every frame of a connection: whoever wants to keep
// something copies it. It reads what brokers of the protocol send and judges nothing. Areas: FRAME, BODY.

import { frameHeadBytes } from './frame-reader.ts';

export class FrameView {
  /** The buffer in which the frame lies; valid until the view is moved on. */
  bytes: Buffer = Buffer.alloc(0);
  command = 0;
  idAt = 0;
  idBytes = 0;
  queueAt = 0;
  queueBytes = 0;
  payloadAt = 0;
  payloadBytes = 0;
  /** The first byte after the payload: the header count. */
  headersAt = 0;
  /** The first byte after the frame. */
  endAt = 0;

  /** Points at the whole, uncompressed frame whose length field stands at `at`. */
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

  /** A copy of the body, for the ordinary decoder. */
  body(): Buffer {
    return Buffer.from(this.bytes.subarray(this.idAt - 4, this.endAt));
  }
}
