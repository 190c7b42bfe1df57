// The two forms of a message: `Message`, a decoded body, and `MessageFields`, what a sender states. Types and constants only. Implements
// BODY-001 to BODY-010.
//
//    0        1        2                                                                      (99 = Error only)
//   +---------+---------+-----------+-----------+-----------------+---------------------+--------------------------+
//   | version | command | id        | queue     | payload         | headers             | errorCode  errorMessage  |
//   | 1 byte  | 1 byte  | string16  | string16  | 4-byte length + | 2-byte count, then  | string16   string16      |
//   | = 1     |         |           | '' absent | bytes, 0 absent | pairs of string16   |                          |
//   +---------+---------+-----------+-----------+-----------------+---------------------+--------------------------+
//
// string16: a 2-byte length and that many bytes of UTF-8. All integers are unsigned and big-endian.

export const protocolVersion = 1;

export type Headers = ReadonlyMap<string, string>;

export const noHeaders: Headers = new Map();

export const noPayload: Buffer = Buffer.alloc(0);

export type Message = {
  readonly version: number;
  /** 0..255; not necessarily the number of a command that exists. */
  readonly command: number;
  readonly id: string;
  /** Empty when absent. */
  readonly queue: string;
  /** A view of the body it was decoded from; length 0 when absent. */
  readonly payload: Buffer;
  readonly headers: Headers;
  /** Empty but in an Error. */
  readonly errorCode: string;
  /** Empty but in an Error. */
  readonly errorMessage: string;
  /** How many bytes of the body the fields take; what follows is ignored. */
  readonly endAt: number;
};

/** What a sender states. Absent and empty are the same on the wire; the error fields are written only for command Error. */
export type MessageFields = {
  readonly command: number;
  readonly id: string;
  readonly queue?: string;
  readonly payload?: Buffer;
  readonly headers?: Headers;
  readonly errorCode?: string;
  readonly errorMessage?: string;
};
