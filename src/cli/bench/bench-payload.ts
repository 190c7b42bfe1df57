// The payloads of a bench: JSON of an exact size that carries the number of its message. Pure.

const HEAD = '{"n":';
const MIDDLE = ',"pad":"';
const TAIL = '"}';

/** Bytes that every payload needs: for a number of ten digits, and an empty padding. */
export const MIN_PAYLOAD_BYTES = HEAD.length + 10 + MIDDLE.length + TAIL.length;

/** `sizeBytes`: at least `MIN_PAYLOAD_BYTES`. */
export function benchPayload(number: number, sizeBytes: number): Buffer {
  const head = `${HEAD}${number}${MIDDLE}`;
  return Buffer.from(`${head}${'x'.repeat(sizeBytes - head.length - TAIL.length)}${TAIL}`);
}

/** The number of the message; undefined: the payload is not of a bench. */
export function benchNumber(payload: Buffer): number | undefined {
  const text = /^\{"n":(\d{1,10}),/.exec(payload.toString('latin1', 0, HEAD.length + 11))?.[1];
  return text === undefined ? undefined : Number(text);
}
