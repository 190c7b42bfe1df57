// The types of frames: the fields to send, and the fields of a received frame with its arrival time and its form on the wire. Encoding and
// decoding are in encode.ts and decode.ts. Areas: FRAME, BODY.

export type HeaderPairs = readonly (readonly [key: string, value: string])[];

/** A frame to send. Omitted fields are empty on the wire; `version` is 1 unless given. */
export type FrameFields = {
  readonly command: number;
  readonly id: string;
  readonly queue?: string;
  /** A text is sent as UTF-8, bytes are sent unchanged. Length 0 means no payload. */
  readonly payload?: string | Buffer;
  /** A map, or pairs if the order or repeated keys matter. */
  readonly headers?: Readonly<Record<string, string>> | HeaderPairs;
  readonly version?: number;
  /** Sent only with command Error. */
  readonly errorCode?: string;
  readonly errorMessage?: string;
};

/** All fields of a body, unchanged. */
export type DecodedBody = {
  readonly version: number;
  readonly command: number;
  readonly commandName: string;
  readonly id: string;
  readonly queue: string;
  readonly payload: Buffer;
  readonly headers: HeaderPairs;
  readonly errorCode: string;
  readonly errorMessage: string;
  /** Bytes after the last field; readers ignore them. */
  readonly trailingByteCount: number;
};

export type CompressionFlag = 0 | 1 | 2;

/** One frame from the broker. `header` returns the last value if a key occurs several times. */
export type ReceivedFrame = DecodedBody & {
  /** When its last byte was read: milliseconds since the start of the run, on the monotonic clock. */
  readonly atMs: number;
  /** 0 for the first frame of its connection, then 1, 2, .. */
  readonly sequence: number;
  /** The compression flags byte: 0 none, 1 gzip, 2 brotli. */
  readonly flags: number;
  /** The length field: the size of the body as sent. */
  readonly bodyLengthBytes: number;
  header(name: string): string | undefined;
  /** The payload as text. */
  text(): string;
  /** The payload parsed as JSON; undefined if there is no payload. Throws an ExpectationFailure if it is not JSON. */
  json(): unknown;
};

/** The headers as pairs. */
export function headerPairs(headers: FrameFields['headers']): HeaderPairs {
  if (headers === undefined) return [];
  return isPairs(headers) ? headers : Object.entries(headers);
}

function isPairs(headers: NonNullable<FrameFields['headers']>): headers is HeaderPairs {
  return Array.isArray(headers);
}
