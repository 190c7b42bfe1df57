// Tests compare buffers as Node does: vitest compares them byte by byte as properties of an object, which takes a hundred times as long.
import { expect } from 'vitest';

expect.addEqualityTesters([
  (a: unknown, b: unknown) => (Buffer.isBuffer(a) && Buffer.isBuffer(b) ? a.equals(b) : undefined),
]);
