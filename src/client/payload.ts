// The payload of a message from a value. Pure.

import { noPayload } from '../protocol/message.ts';

/** @throws TypeError for a value that has no JSON form */
export function toPayload(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (value === undefined) return noPayload;
  const text: unknown = JSON.stringify(value);
  if (typeof text !== 'string') throw new TypeError(`a ${typeof value} cannot be sent as JSON`);
  return Buffer.from(text);
}
