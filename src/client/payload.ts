// The payload of a message from a value. Pure.

import { noPayload } from '../protocol/message.ts';
import { kindOf } from './option-checks.ts';

/** @throws TypeError for a value that has no JSON form, and for one whose JSON would be without its content */
export function toPayload(value: unknown): Buffer {
  if (Buffer.isBuffer(value)) return value;
  if (value instanceof Uint8Array) return Buffer.from(value);
  if (value === undefined) return noPayload;
  if (isWithoutJson(value)) throw withoutJson(className(value));
  const text: unknown = JSON.stringify(value);
  if (typeof text !== 'string') throw withoutJson(kindOf(value));
  return Buffer.from(text);
}

/** A promise that nobody has awaited would be sent as `{}`, and so would bytes that are not in a Uint8Array. */
function isWithoutJson(value: unknown): value is object {
  return value instanceof Promise || value instanceof ArrayBuffer || ArrayBuffer.isView(value);
}

function className(value: object): string {
  const { name } = value.constructor;
  return `${/^[AEIOU]/.test(name) ? 'an' : 'a'} ${name}`;
}

function withoutJson(what: string): TypeError {
  const allowed = 'a value of JSON, a Buffer or another Uint8Array, or undefined for no payload';
  return new TypeError(`value: came ${what}, which has no JSON form; allowed is ${allowed}`);
}
