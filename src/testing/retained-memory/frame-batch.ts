// The frames that a client of the retained-memory judge sends in one write, in a buffer of their own. Does not use Node's buffer pool: that
// is shared with the broker in this process, and small contents of the broker would then share blocks with the client's frames.

export type SentFrame = {
  readonly command: number;
  /** ASCII. */
  readonly id: string;
  readonly queue?: string;
  readonly payloadBytes?: number;
  /** ASCII; replaces `payloadBytes`. */
  readonly json?: string;
  readonly headers?: readonly (readonly [string, string])[];
};

const FRAME_HEADER_BYTES = 5;
const FIXED_BODY_BYTES = 2 + 2 + 2 + 4 + 2;

export function frameBatch(frames: readonly SentFrame[]): Buffer {
  const total = frames.reduce((sum, frame) => sum + FRAME_HEADER_BYTES + bodyLengthOf(frame), 0);
  const bytes = Buffer.from(new ArrayBuffer(total));
  let at = 0;
  for (const frame of frames) at = writeFrame(frame, bytes, at);
  return bytes;
}

/** The bytes that the broker keeps of a Publish: its body. */
export function bodyLengthOf({ id, queue = '', payloadBytes = 0, json, headers = [] }: SentFrame): number {
  const headerBytes = headers.reduce((sum, [key, value]) => sum + 4 + key.length + value.length, 0);
  return FIXED_BODY_BYTES + id.length + queue.length + (json?.length ?? payloadBytes) + headerBytes;
}

function writeFrame(frame: SentFrame, bytes: Buffer, start: number): number {
  let at = bytes.writeUInt32BE(bodyLengthOf(frame), start);
  at = bytes.writeUInt8(0, at);
  at = bytes.writeUInt8(1, at);
  at = bytes.writeUInt8(frame.command, at);
  at = writeText(frame.id, bytes, at);
  at = writeText(frame.queue ?? '', bytes, at);
  at = writePayload(frame, bytes, at);
  at = bytes.writeUInt16BE(frame.headers?.length ?? 0, at);
  for (const [key, value] of frame.headers ?? []) at = writeText(value, bytes, writeText(key, bytes, at));
  return at;
}

function writeText(text: string, bytes: Buffer, at: number): number {
  return bytes.writeUInt16BE(text.length, at) + bytes.write(text, at + 2, 'latin1');
}

/** A payload that is no JSON would be refused: it is a JSON text of digits. */
function writePayload({ json, payloadBytes = 0 }: SentFrame, bytes: Buffer, start: number): number {
  const length = json?.length ?? payloadBytes;
  const at = bytes.writeUInt32BE(length, start);
  if (json === undefined) bytes.fill('1', at, at + length, 'latin1');
  else bytes.write(json, at, 'latin1');
  return at + length;
}
