// Compares secrets in a time that says nothing about them: digests of the same length, byte by byte to the end. Implements AUTH-010.

import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether both texts are the same. */
export function isSameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digestOf(one), digestOf(other));
}

function digestOf(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
