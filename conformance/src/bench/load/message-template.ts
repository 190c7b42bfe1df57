// The frames that the load consists of, built once: a Publish whose id carries a number and whose payload carries the moment at
// which it fell due, and the Ack for its delivery. Sending one is a copy and sixteen bytes. The payload is one JSON
// text of exactly the wanted length, made of small records, so that a broker which looks at payloads pays what it would pay
// for real ones. Areas: FRAME, BODY.
import { Command } from '../../wire/command.ts';
import { encodeFrame } from '../../wire/encode.ts';
import type { FrameView } from '../../wire/frame-view.ts';

const digitCount = 8;
const prefixBytes = 24;
export const idBytes = prefixBytes + digitCount;
/** Where in a payload the stamp stands: after `{"t":"`. */
const stampAt = 6;
const idInFrameAt = 9;
export const minPayloadBytes = 16;

export class MessageTemplate {
  readonly #publish: Buffer;
  readonly #ack: Buffer;
  readonly #payloadAt: number;

  /** `tag` tells this pass from others of the same target: at most 24 letters and digits. */
  constructor(options: {
    readonly queue: string;
    readonly tag: string;
    readonly payloadBytes: number;
    readonly headers?: Readonly<Record<string, string>>;
  }) {
    const id = options.tag.padStart(prefixBytes, '0').slice(-prefixBytes) + '0'.repeat(digitCount);
    const payload = jsonOfLength(options.payloadBytes);
    const plain = encodeFrame({ command: Command.Publish, id, queue: options.queue, payload });
    const headers = { ...options.headers };
    this.#publish = encodeFrame({ command: Command.Publish, id, queue: options.queue, payload, headers });
    this.#ack = encodeFrame({ command: Command.Ack, id });
    // Headers come after the payload.
    this.#payloadAt = plain.length - 2 - payload.length;
  }

  get publishBytes(): number {
    return this.#publish.length;
  }

  get ackBytes(): number {
    return this.#ack.length;
  }

  /** Writes a whole Publish frame. `sequence` and `stampUs` are whole numbers below 2^32. */
  writePublish(bytes: Buffer, at: number, sequence: number, stampUs: number): void {
    this.#publish.copy(bytes, at);
    writeDigits(bytes, at + idInFrameAt + prefixBytes, sequence);
    writeDigits(bytes, at + this.#payloadAt + stampAt, stampUs);
  }

  writeAck(bytes: Buffer, at: number, sequence: number): void {
    this.#ack.copy(bytes, at);
    writeDigits(bytes, at + idInFrameAt + prefixBytes, sequence);
  }

  /** Writes the Ack for a delivery of any template. */
  writeAckFor(bytes: Buffer, at: number, id: Uint8Array): void {
    this.#ack.copy(bytes, at);
    bytes.set(id, at + idInFrameAt);
  }

  /** The number in the frame's id, or -1 when the frame is not of this pass. */
  sequenceOf({ bytes, idAt, idBytes: byteCount }: FrameView): number {
    if (byteCount !== idBytes) return -1;
    // The tag's last letters differ from pass to pass; comparing all 24 would cost more than it finds.
    const ownAt = idInFrameAt + prefixBytes - 4;
    if (bytes.readInt32BE(idAt + prefixBytes - 4) !== this.#ack.readInt32BE(ownAt)) return -1;
    return readDigits(bytes, idAt + prefixBytes);
  }
}

/** The stamp of a delivered message, in microseconds. */
export function stampOf({ bytes, payloadAt }: FrameView): number {
  return readDigits(bytes, payloadAt + stampAt);
}

/** One JSON text of exactly `byteCount` bytes, 16 or more. */
export function jsonOfLength(byteCount: number): string {
  const open = `{"t":"${'0'.repeat(digitCount)}"`;
  const record = '{"id":10451,"item":"lamp","price":12.5,"tags":["new","blue"],"sent":false}';
  const frame = `${open},"d":[],"p":""}`.length;
  const recordCount = Math.floor((byteCount - frame) / (record.length + 1));
  if (recordCount < 1) return byteCount < open.length + 8 ? padded(open, byteCount) : filled(open, byteCount);
  return filled(`${open},"d":[${Array.from({ length: recordCount }, () => record).join(',')}]`, byteCount);
}

function filled(start: string, byteCount: number): string {
  return `${start},"p":"${'x'.repeat(byteCount - start.length - 8)}"}`;
}

function padded(start: string, byteCount: number): string {
  return `${start}${' '.repeat(byteCount - start.length - 1)}}`;
}

const digits = Buffer.from('0123456789abcdef');
const values = Uint8Array.from({ length: 128 }, (_, code) => Math.max(0, digits.indexOf(code)));

function writeDigits(bytes: Buffer, at: number, value: number): void {
  for (let shift = 28, index = at; shift >= 0; shift -= 4, index += 1) {
    bytes[index] = digits[(value >>> shift) & 15] ?? 0;
  }
}

function readDigits(bytes: Buffer, at: number): number {
  let value = 0;
  for (let index = at; index < at + digitCount; index += 1) {
    value = (value << 4) | (values[(bytes[index] ?? 0) & 127] ?? 0);
  }
  return value >>> 0;
}
