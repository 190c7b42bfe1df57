// The payload of a message from a value. Pure.

import { noPayload } from '../protocol/message.ts';
import { kindOf } from './option-checks.ts';

/** @throws TypeError for a value that has no JSON form */
export function toPayload(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (value === undefined) return noPayload;
  const text: unknown = JSON.stringify(value);
  if (typeof text !== 'string')
    throw new TypeError(
      `value: came ${kindOf(value)}, which has no JSON form; allowed is a value of JSON, a Buffer, or undefined for no payload`,
    );
  return Buffer.from(text);
}
