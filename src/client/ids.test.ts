// The ids that a client gives to messages and commands.

import { describe, expect, it } from 'vitest';
import { sequentialIds } from './ids.ts';

describe('ids', () => {
  it('are different, of one client and of two', () => {
    const [one, two] = [sequentialIds(), sequentialIds()];
    expect(new Set([one(), one(), two(), two()]).size).toBe(4);
  });

  it('do not begin with a dash, which would make them an option of a command', () => {
    // The first six bits of which are 62.
    const next = sequentialIds(() => Buffer.alloc(16, 0xfb));
    expect([next(), next()]).toEqual(['__v7-_v7-_v7-_v7-_v7-w-1', '__v7-_v7-_v7-_v7-_v7-w-2']);
  });
});
