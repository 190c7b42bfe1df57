// A second, simpler splitter of streams, to compare the fast one with, and to know what becomes of a connection that sends a stream. Must
// not share code with src/protocol. Implements FRAME-001 and FRAME-004 to FRAME-006.

export type NaiveFrame = { readonly flags: number; readonly body: Buffer };

export type NaiveSplit = {
  readonly frames: readonly NaiveFrame[];
  /** What follows the last frame: nothing, the beginning of another frame, or a header that ends the connection with this code. */
  readonly end: 'nothing' | 'part of a frame' | 'INVALID_MESSAGE' | 'MESSAGE_TOO_LARGE';
};

const HEADER_BYTES = 5;

export function splitNaively(stream: Buffer, maxMessageSizeBytes: number): NaiveSplit {
  const frames: NaiveFrame[] = [];
  let rest = stream;
  while (rest.length >= HEADER_BYTES) {
    const length = rest.readUInt32BE(0);
    const flags = rest.readUInt8(4);
    if (length > maxMessageSizeBytes) return { frames, end: 'MESSAGE_TOO_LARGE' };
    if (length < 2 || flags > 2) return { frames, end: 'INVALID_MESSAGE' };
    if (rest.length < HEADER_BYTES + length) return { frames, end: 'part of a frame' };
    frames.push({ flags, body: rest.subarray(HEADER_BYTES, HEADER_BYTES + length) });
    rest = rest.subarray(HEADER_BYTES + length);
  }
  return { frames, end: rest.length === 0 ? 'nothing' : 'part of a frame' };
}
