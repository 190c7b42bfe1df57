// The payloads of a bench: JSON of an exact size that carries the number of its message. Pure.

import { defaultLimits } from '../../protocol/limits.ts';

const HEAD = '{"n":';
const MIDDLE = ',"pad":"';
const TAIL = '"}';

/** Bytes that every payload needs: for a number of ten digits, and an empty padding. */
export const MIN_PAYLOAD_BYTES = HEAD.length + 10 + MIDDLE.length + TAIL.length;

/** Room in a frame for what a message has beside its payload, also when it is delivered: names, ids and headers. */
const FRAME_ROOM_BYTES = 576;

/** What a client takes in one frame, whatever the broker would. */
export const MAX_PAYLOAD_BYTES = defaultLimits.maxMessageSizeBytes - FRAME_ROOM_BYTES;

/** `sizeBytes`: from `MIN_PAYLOAD_BYTES` to `MAX_PAYLOAD_BYTES`. */
export function benchPayload(number: number, sizeBytes: number): Buffer {
  const head = `${HEAD}${number}${MIDDLE}`;
  return Buffer.from(`${head}${'x'.repeat(sizeBytes - head.length - TAIL.length)}${TAIL}`);
}

/** The number of the message; undefined: the payload is not of a bench. */
export function benchNumber(payload: Buffer): number | undefined {
  const text = /^\{"n":(\d{1,10}),/.exec(payload.toString('latin1', 0, HEAD.length + 11))?.[1];
  return text === undefined ? undefined : Number(text);
}
