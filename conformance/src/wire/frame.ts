// What a frame holds, seen from the runner: the fields to send, and the fields that were read. A received frame also
// says when and how it came, because that is what the checks judge. No bytes are read or written here. Areas: FRAME, BODY.

export type HeaderPairs = readonly (readonly [key: string, value: string])[];

/** A frame to send. What is left out is absent on the wire; `version` is 1 unless a check wants another. */
export type FrameFields = {
  readonly command: number;
  readonly id: string;
  readonly queue?: string;
  /** Text is sent as UTF-8; bytes as they are. Length 0 is "no payload". */
  readonly payload?: string | Buffer;
  /** A map, or pairs where order or repeated keys matter. */
  readonly headers?: Readonly<Record<string, string>> | HeaderPairs;
  readonly version?: number;
  /** Written for command Error only. */
  readonly errorCode?: string;
  readonly errorMessage?: string;
};

/** The fields of a body as they were read, nothing dropped and nothing merged. */
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

/** One frame from the broker. `header` takes the last value where a key occurs twice. */
export type ReceivedFrame = DecodedBody & {
  /** Milliseconds since the run's start, on the monotonic clock, at which the last byte was read. */
  readonly atMs: number;
  /** 0 for the first frame of its connection, then 1, 2, .. */
  readonly sequence: number;
  /** The compression flags byte: 0 none, 1 gzip, 2 brotli. */
  readonly flags: number;
  /** The length field: bytes of the body as sent. */
  readonly bodyLengthBytes: number;
  header(name: string): string | undefined;
  /** The payload as text. */
  text(): string;
  /** The payload parsed as JSON; an expectation failure when it is none, `undefined` when there is no payload. */
  json(): unknown;
};

/** The headers as pairs, whichever way they were given. */
export function headerPairs(headers: FrameFields['headers']): HeaderPairs {
  if (headers === undefined) return [];
  return isPairs(headers) ? headers : Object.entries(headers);
}

function isPairs(headers: NonNullable<FrameFields['headers']>): headers is HeaderPairs {
  return Array.isArray(headers);
}
